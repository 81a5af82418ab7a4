"""Lines of text: TREC files, CSV and TSV, judgements in plain lines."""
