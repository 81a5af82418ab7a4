"""Tables through polars: Parquet, Arrow, data frames of any kind, and frames of Spark."""
