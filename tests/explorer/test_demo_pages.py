"""`goldrank serve --demo`: the first page has the verdict, and one question shows what an unjudged document does."""

import re

from goldrank.explorer.app import Explorer
from goldrank.explorer.start import demo_session


def text_of(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page).split()).replace("−", "-")


def test_the_first_page_decides():
    page = text_of(Explorer(demo_session(), wait=None).overview({}))
    assert "overlap is worse than bm25: -0.2490 nDCG@10" in page
    assert "Judging more documents cannot change this." in page
    assert "All 60 queries: 40 worse, 8 equal, 12 better" in page


def test_the_page_of_the_story_says_what_a_judgement_would_give():
    """bm25 has the only relevant document at rank 2, 1 / log2(3) = 0.6309; with grade 2 for its first document 1."""
    page = text_of(Explorer(demo_session(), wait=None).query({"id": "q46"}))
    assert "bm25 0.6309 overlap 1.0000" in page
    assert "A fridge without power" in page
    assert "+0.3691 if 2" in page
