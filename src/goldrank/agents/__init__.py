"""Agents that search several times for one question: what they find, how soon, and which searches add nothing."""

PUBLIC = {
    "score_searches": "goldrank.agents.searches",
    "SearchScores": "goldrank.agents.searches",
    "QuestionSearches": "goldrank.agents.question",
    "browsecomp_scores": "goldrank.agents.browsecomp",
    "BrowseCompScores": "goldrank.agents.browsecomp",
}
