"""The learners: estimators that grow trees and forests. One folder per family that needs several files."""
