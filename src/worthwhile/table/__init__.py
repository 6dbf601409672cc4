"""What users hand in becomes the core's table: columns, schema, hierarchies, targets; CSV and Parquet files."""
