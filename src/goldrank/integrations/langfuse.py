"""Values of queries to Langfuse: a score for each measure at the trace of its query."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from goldrank.base.errors import of_type
from goldrank.data.scores import Scores
from goldrank.integrations import need


def push(scores: Scores, traces: Mapping[str, str], *, client: Any = None) -> int:  # a client of langfuse
    """Send the values of queries whose trace is known, and return how many; the signature is the comment.

    `traces` has the id of a trace by query. Without a client, `langfuse.get_client()` is asked, which reads its keys
    from the environment.
    """
    of_type(scores, Scores, "scores", "Scores")
    if client is None:
        client = need("langfuse").get_client()

    sent = 0
    for measure, values in scores.per_query.items():
        comment = None
        if scores.signatures:
            comment = scores.signature(measure)
        for query, value in values.items():
            if query in traces and math.isfinite(value):
                client.create_score(
                    name=measure, value=value, trace_id=traces[query], data_type="NUMERIC", comment=comment
                )
                sent += 1
    client.flush()
    return sent
