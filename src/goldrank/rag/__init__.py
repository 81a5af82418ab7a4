"""Why something is missing in the context, which chunking and retriever to take, and when to answer at all."""

PUBLIC = {
    "find_causes": "goldrank.rag.causes",
    "Causes": "goldrank.rag.causes",
    "Needed": "goldrank.rag.causes",
    "sweep": "goldrank.rag.sweep",
    "Sweep": "goldrank.rag.sweep",
    "SweepRow": "goldrank.rag.sweep",
    "Outcomes": "goldrank.rag.outcomes",
    "abstention_curve": "goldrank.rag.abstention_curve",
    "AbstentionCurve": "goldrank.rag.abstention_curve",
    "matcher_agreement": "goldrank.rag.matcher_agreement",
    "MatcherAgreements": "goldrank.rag.matcher_agreement",
}
COMMANDS = {
    "texts": (
        "score",
        "goldrank.rag.texts_command",
        "Score retrieved texts against the texts that they should cover.",
    ),
    "causes": (
        "rag",
        "goldrank.rag.causes_command",
        "Say why what an answer needs is not in the context, question by question.",
    ),
    "sweep": (
        "rag",
        "goldrank.rag.sweep_command",
        "Compare chunkings, retrievers, numbers of texts and budgets: recall against cost.",
    ),
}
READERS = {"autorag": ("goldrank.rag.autorag", "records of AutoRAG", ())}
COLUMNS = {"precision|recall|f1|ndcg|mrr|map": True}
