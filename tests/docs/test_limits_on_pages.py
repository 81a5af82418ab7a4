"""Limits and defaults that pages give as numbers are those of the code; what they do is tested beside the code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import places
import pytest

import goldrank
from goldrank.base.ids import MAX_ID_BYTES
from goldrank.base.waiting import AT_A_TIME
from goldrank.clicks.judgements import MIN_VIEWS
from goldrank.comparison import build, flips, holes, intervals, resampling, slice_table
from goldrank.comparison.unjudged import MOST_BOUNDED
from goldrank.engine import counts
from goldrank.engine import spark_engine as spark
from goldrank.evaluation import executors, text_notes
from goldrank.explorer import first_documents as heads
from goldrank.explorer import history_page, query_page, serving, session, sides
from goldrank.gating import rules
from goldrank.gating import top_documents as documents
from goldrank.history import history_file
from goldrank.io import sources
from goldrank.io.by_id import text_index
from goldrank.io.tables import spark_frames as spark_input
from goldrank.io.tables.polars_tables import MOST_SLICED
from goldrank.judging import endpoint, ppi, strata
from goldrank.judging.pool_and_calls import Calls
from goldrank.match import chance, evidence, semantic
from goldrank.match.seeds import LENGTH
from goldrank.rag import causes, sweep
from goldrank.rag import coverage_curves as coverage
from goldrank.report import comparison_page

NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 8: "eight", 10: "ten"}


def word(number: int) -> str:
    return NUMBERS[number]


def percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def default(function: Callable[..., Any], name: str) -> Any:
    return inspect.signature(function).parameters[name].default


OFTEN, AGAIN = (default(goldrank.run_retriever, name) for name in ("concurrency", "retries"))
PLAIN = goldrank.Rules("AP: -1%")
SET = PLAIN.statistics
SAID = [
    ("docs/statistics.md", f"It is exact where at most {flips.EXACT_UP_TO} queries differ"),
    ("docs/comparing.md", f"Below {intervals.FEWEST_CLUSTERS} clusters there is no verdict"),
    ("docs/comparing.md", f"below {intervals.FEW_CLUSTERS} a warning"),
    ("docs/statistics.md", f"From {MOST_BOUNDED:,} rows times queries on, extreme judgements are not tried"),
    ("docs/comparing.md", f"What does not fit into {comparison_page.MOST_BYTES / 1e6:.0f} MB is left out"),
    ("docs/interleaving.md", f"With fewer than {word(intervals.FEWEST_CLUSTERS)} users there is no verdict"),
    ("docs/gate.md", f"up to {holes.ALL_WAYS_UP_TO} unjudged documents a query"),
    ("docs/gate.md", f"down to the deepest cut-off ({documents.WITHOUT_CUTOFF} where a measure has none)"),
    ("docs/gate.md", f"`correction` ({', '.join(f'`{name}`' for name in rules.CORRECTIONS)})"),
    ("docs/gate.md", f"`test` ({', '.join(f'`{name}`' for name in rules.TESTS)})"),
    (
        "docs/gate.md",
        f"`alpha` ({SET.alpha}), `power` ({SET.power}), `samples` ({SET.draws()}), `seed` ({SET.seed}), `strict`",
    ),
    ("docs/gate.md", f"`strict` ({str(PLAIN.strict).lower()})"),
    ("docs/gate.md", f"`unjudged` (`{SET.unjudged}`, `ignore`)"),
    ("docs/gate.md", f"`worst` ({PLAIN.worst})"),
    ("docs/history.md", f"each waits for the other, up to {history_file.LOCK_TIMEOUT:.0f} seconds"),
    ("docs/judges.md", f"more than {percent(ppi.GUARD - 1)} wider than from people alone"),
    ("docs/judges.md", f"(Success@k) has fewer than {ppi.LEAST_BINARY} judged queries"),
    ("docs/judges.md", f"**Fewer than {ppi.LEAST_UNITS} judged queries**"),
    ("docs/judges.md", f"below {ppi.LEAST_RHO}, less than a tenth"),
    ("docs/judges.md", f"Draw within {word(strata.COUNT)} groups of these"),
    ("docs/judges.md", f"Each group gets {word(strata.LEAST_EACH)} queries"),
    ("docs/judges.md", f"are tried {word(Calls().attempts)} times in all"),
    ("docs/judges.md", f"a wait of more than {word(round(endpoint._LONGEST_PAUSE / 60))} minutes ends the job"),
    ("docs/texts.md", f"whose texts differ {build.LENGTHS_DIFFER}-fold in length"),
    ("docs/texts.md", f"with {word(coverage.POINTS)} budgets from the median text"),
    ("docs/texts.md", f"is within {causes.NEAR} of the threshold"),
    ("docs/texts.md", f"tries {', '.join(map(str, sweep.KS[:-1]))} and {sweep.KS[-1]} texts"),
    ("docs/texts.md", f"With more than {sweep.MOST_UNSPLIT} settings the best is chosen on half"),
    ("docs/texts.md", f"in what share of {resampling.SAMPLES:,} resamples"),
    ("docs/texts.md", "If less than a tenth of them can be found, that is an error"),
    ("docs/matching.md", f"With {chance.LEAST_QUESTIONS} or more questions the result says how many references"),
    ("docs/matching.md", f"Above {percent(text_notes.CHANCE)}, or a quarter"),
    ("docs/matching.md", f"{AT_A_TIME} calls then run at a time"),
    ("docs/matching.md", f"Text without an end of a sentence for {semantic.LONGEST:,} characters"),
    (
        "docs/texts_inputs.md",
        f"{word(OFTEN).title()} questions are asked at a time",
    ),
    ("docs/texts_inputs.md", f"up to {word(AGAIN + 1)} times (`retries={AGAIN}`)"),
    ("docs/how_it_works.md", f"by hashes of {LENGTH} letters"),
    ("docs/getting_in_and_out.md", f"An id has 1 to {MAX_ID_BYTES:,} bytes"),
    ("docs/scale.md", f"more than {sources.MAX_RATIO} times their size and more than {sources.FREE >> 20} MB"),
    ("docs/scale.md", f"row groups of more than {MOST_SLICED // 1_000_000} million rows"),
    ("docs/spark.md", f"up to {spark_input.MOST_JUDGEMENTS // 1_000_000} million | to the driver, once"),
    ("docs/spark.md", f"goldrank looks at {spark_input.SAMPLED:,} rows"),
    ("docs/spark.md", f"no query has more than {spark.MOST_JUDGED} judged documents"),
    ("docs/spark.md", f"of which no more than {spark.MOST_COUNTED} were retrieved"),
    ("docs/spark.md", f"deals the queries into {executors.BUCKETS:,} buckets"),
    ("docs/spark.md", f"at most {64 * counts.MOST_EXAMPLES} of their ids as examples"),  # of each of 64 parts
    ("docs/explorer.md", f"**Why** has at most {word(query_page.MOST)} sentences"),
    ("docs/explorer.md", f"The first {heads.DEPTH} documents of each query are shown"),
    ("docs/explorer.md", f"With more than {session.FEW} queries the first page comes early"),
    ("docs/explorer.md", f"more than {sides.MOST_HOLES} documents are unjudged"),
    ("docs/explorer.md", f"documents of the first {session.LEAST_REACH} to {heads.DEPTH} ranks"),
    ("docs/explorer.md", f"at most {text_index.CACHE_LIMIT // 10**9} GB"),
    ("docs/explorer.md", f"the newest {history_page.MOST_GATED} records of each line"),
    ("docs/explorer.md", f"ssh -L {serving.PORT}:127.0.0.1:{serving.PORT} host"),
]


@pytest.mark.parametrize(("page", "words"), SAID, ids=[f"{page} {words[:40]}" for page, words in SAID])
def test_a_number_is_that_of_the_code(page: str, words: str) -> None:
    assert words in re.sub(r"\s+", " ", (places.ROOT / page).read_text(encoding="utf-8"))


def test_shares_that_have_no_digits() -> None:
    assert evidence.LEAST_PLACED == 0.1  # "a tenth"
    assert slice_table.SMALL == 10
    assert MIN_VIEWS == 10


def test_spark_counts_examples_in_64_parts() -> None:
    assert "pmod(hash(query), 64)" in inspect.getsource(spark.count_unjudged)
