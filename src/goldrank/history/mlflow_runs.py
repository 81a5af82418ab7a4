"""A record as a run of MLflow, under names that MLflow accepts. The package is imported only when it is used."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from goldrank.base.errors import StoreError
from goldrank.base.packages import needed
from goldrank.data.json_values import utf8
from goldrank.data.scores import Scores
from goldrank.history.record import Record

DATABASES = ("sqlite:", "postgresql", "mysql", "mssql")
"""How addresses of stores begin that are databases."""


def names(measures: Iterable[str]) -> dict[str, str]:
    """By measure, its name in MLflow, which refuses @, ( and =.

    >>> names(["nDCG@10", 'nDCG(gain="exp2")@20', "P(rel=2)@5"])
    {'nDCG@10': 'ndcg_at_10', 'nDCG(gain="exp2")@20': 'ndcg_gain_exp2_at_20', 'P(rel=2)@5': 'p_rel_2_at_5'}
    """
    name_of: dict[str, str] = {}
    for measure in measures:
        base = re.sub(r"[^a-z0-9.-]+", "_", measure.lower().replace("@", "_at_")).strip("_") or "measure"
        name, number = base, 2
        while name in name_of.values():
            name, number = f"{base}_{number}", number + 1
        name_of[measure] = name
    return name_of


def need() -> None:
    """An error that says what to install, unless MLflow is there with what its store needs.

    Its default store is a database, sqlite:///mlflow.db, which the small package mlflow-skinny cannot open.
    """
    with needed("mlflow", instead="leave out --mlflow"):
        import mlflow

    store = str(mlflow.get_tracking_uri())
    if store.startswith(DATABASES) and find_spec("sqlalchemy") is None:
        raise StoreError(
            f"MLflow is to log to {store}, and mlflow-skinny alone cannot open a database",
            hint="pip install mlflow, or name a server in MLFLOW_TRACKING_URI, such as http://localhost:5000.",
        )


def log(scores: Scores, record: Record) -> str:
    """Log a record to where MLflow is set to log, and return the id of MLflow's run."""
    need()
    with needed("mlflow"):
        import mlflow

    name_of = names(scores.columns)
    tags = {
        "goldrank.record": str(record.id),
        "goldrank.digest": record.digest,
        "goldrank.label": record.label,
        "goldrank.note": record.note,
        "goldrank.signature": record.signature,
        "mlflow.source.git.commit": record.commit,
        "mlflow.source.git.branch": record.branch,
        **{f"goldrank.tag.{i}": tag for i, tag in enumerate(record.tags)},
    }
    parameters: dict[str, Any] = {
        "qrels_sha256": record.qrels_sha256,
        "run_sha256": record.run_sha256,
        "convention": record.convention,
        "criteria": record.criteria,
        "queries": record.queries,
        **{f"measure.{name}": measure for measure, name in name_of.items()},
    }
    try:
        with mlflow.start_run(run_name=utf8(record.label or record.run)) as run:
            mlflow.set_tags({key: utf8(value) for key, value in tags.items() if value})
            mlflow.log_params({key: utf8(str(value)) for key, value in parameters.items() if value != ""})
            mlflow.log_metrics({name_of[name]: value for name, value in scores.mean.items() if math.isfinite(value)})
            return str(run.info.run_id)
    except Exception as error:  # whatever its stores, servers and plugins raise
        raise StoreError(
            f"record {record.id} is in the history, but MLflow did not take it: {type(error).__name__}: {error}",
            hint="Is MLFLOW_TRACKING_URI right, and the server up?",
        ) from error
