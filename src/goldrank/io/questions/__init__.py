"""Questions with retrieved texts, references and evidence: `Items` and what reads them."""
