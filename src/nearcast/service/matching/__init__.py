"""The pipeline in a process of its own, watched and started again by the service."""
