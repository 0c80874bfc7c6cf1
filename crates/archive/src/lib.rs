//! The extract on disk: Parquet tables with their schemas, writer and reader.
