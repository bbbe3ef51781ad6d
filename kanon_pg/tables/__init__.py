"""Tables in and out: CSV files into PostgreSQL, releases into CSV and Parquet files."""
