"""What is known of each id: queries, documents, and where texts stand in large files."""
