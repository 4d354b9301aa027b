"""The engine: pure stages `batch -> batch` over Parquet shards, run in processes here or by Ray Data on a cluster."""
