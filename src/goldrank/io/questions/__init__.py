"""Questions with retrieved texts, references and evidence: `Items` and their readers."""
