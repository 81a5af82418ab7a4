"""Agents that search several times for one question: what they find, how soon, and which searches add nothing."""

PUBLIC = {
    "score_searches": "goldrank.agents.searches",
    "SearchScores": "goldrank.agents.searches",
    "QuestionSearches": "goldrank.agents.question",
    "browsecomp_scores": "goldrank.agents.browsecomp",
    "BrowseCompScores": "goldrank.agents.browsecomp",
}
READERS = {
    "searches": (
        "goldrank.agents.files",
        "records with several searches for each question",
        ("searches|tool_call_counts|openinference.span.kind",),
    ),
    "browsecomp-plus": ("goldrank.agents.files", "run files of BrowseComp-Plus", ()),
}
COLUMNS = {
    "(Union|Last|Best)Recall": True,
    "1/SearchesTo(First|Cover)": True,
    "NewPerSearch": True,
    "WastedShare": False,
    "citation (precision|recall)": True,
}
