"""Readers of data by id: queries, documents, and an index of the texts in large files."""
