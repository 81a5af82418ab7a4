"""docs/spark.md: its code runs, on frames with the columns that it names."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import places

PAGE = (places.ROOT / "docs" / "spark.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(spark: Any) -> None:
    first, second = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    columns = {what: re.search(rf"{what} = .*# (.*)$", first, re.MULTILINE)[1].split(", ") for what in ("run", "qrels")}
    run = spark.createDataFrame([("q1", "d2", 2.0), ("q1", "d1", 1.0)], columns["run"])
    qrels = spark.createDataFrame([("q1", "d1", 1)], columns["qrels"])
    tables = SimpleNamespace(read=SimpleNamespace(parquet=lambda path: run), table=lambda name: qrels)
    names: dict[str, Any] = {"spark": tables}
    exec(first, names)
    assert names["scores"]["AP"] == 1 / 2  # at the second of two ranks
    frame = eval(second.strip().removesuffix('.write.saveAsTable("search.scores")'), names)
    assert [(row["query"], row["AP"]) for row in frame.collect()] == [("q1", 1 / 2)]
