"""Stand-ins for the worker's side of a conversation."""
