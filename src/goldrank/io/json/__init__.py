"""JSON and JSON Lines: their text, their records, and the shapes that tools write."""
