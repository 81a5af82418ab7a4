"""Systems on many collections: macro means, and which ranks hold for these collections and for others like them."""

PUBLIC = {
    "compare_collections": "goldrank.suites.collections",
    "CollectionComparison": "goldrank.suites.result",
    "CollectionPair": "goldrank.suites.result",
    "CollectionStanding": "goldrank.suites.result",
    "borda_ranks": "goldrank.suites.borda",
}
PROVIDES = {"collections": "goldrank.suites.collections_command:compared"}
READERS = {"mteb": ("goldrank.suites.mteb", "MTEB's files of predictions", ())}
COLUMNS = {"(ndcg|map|recall|precision|mrr|hit_rate)_at_[0-9]+": True}
