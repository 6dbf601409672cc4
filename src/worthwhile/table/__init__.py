"""User input to the core's table: columns, schema, hierarchies, targets; CSV and Parquet files."""
