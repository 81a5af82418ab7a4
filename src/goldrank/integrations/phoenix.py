"""Values of queries to Phoenix: an annotation for each measure at the span of its query."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from goldrank.base.errors import of_type
from goldrank.data.scores import Scores
from goldrank.integrations import need


def push(scores: Scores, spans: Mapping[str, str], *, client: Any = None) -> int:  # a client of phoenix
    """Send the values of queries whose span is known, and return how many; the signature is in the metadata.

    `spans` has the id of a retriever's span by query. Without a client, `phoenix.client.Client()` is made, which reads
    its address from the environment.
    """
    of_type(scores, Scores, "scores", "Scores")
    if client is None:
        client = need("phoenix.client", "arize-phoenix-client").Client()

    annotations: list[dict[str, Any]] = []
    for measure, values in scores.per_query.items():
        metadata = {}
        if scores.signatures:
            metadata["signature"] = scores.signature(measure)
        for query, value in values.items():
            if query in spans and math.isfinite(value):
                annotation = {"span_id": spans[query], "name": measure, "annotator_kind": "CODE"}
                annotations.append({**annotation, "result": {"score": value}, "metadata": metadata})
    if annotations:
        client.spans.log_span_annotations(span_annotations=annotations)
    return len(annotations)
