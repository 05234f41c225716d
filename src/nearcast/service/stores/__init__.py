"""What the service remembers, in SQLite files of the data folder.  Any thread may use a store."""
