"""Answers of search engines and vector stores, as files and as objects."""
