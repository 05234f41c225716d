"""The data pipeline on Spark, against the index in one process and against a plain SQL join."""
