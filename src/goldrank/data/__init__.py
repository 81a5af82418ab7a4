"""The nouns: `Qrels`, `Run`, `Placements`, `Scores`. Frozen, and ignorant of files and of each other's makers."""
