"""The list of all public learners: every common check runs over it, and a test asserts that it is complete."""

import worthwhile as ww

LEARNERS = [
    ww.C45Classifier,
    ww.EG2Classifier,
    ww.IDXClassifier,
    ww.CSID3Classifier,
    ww.DTMCClassifier,
    ww.ICETClassifier,
]
