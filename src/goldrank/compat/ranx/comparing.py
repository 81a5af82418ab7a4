"""ranx's `compare` and its `Report`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np

from goldrank.base.errors import one_of
from goldrank.base.packages import needed
from goldrank.comparison import flips, paired
from goldrank.comparison.correction import tukey_hsd
from goldrank.comparison.result import letters_of
from goldrank.compat.ranx.data_structures import Qrels, Run
from goldrank.compat.ranx.evaluating import evaluate, format_metrics
from goldrank.data.table import Head, Table, plain

TESTS = {
    "fisher": "Fisher's randomization test",
    "student": "paired Student's t-test",
    "tukey": "Tukey's HSD test",
}
_LABELS = {
    "hits": "Hits", "hit_rate": "Hit Rate", "precision": "P", "recall": "Recall", "f1": "F1", "r-precision": "R-Prec",
    "mrr": "MRR", "map": "MAP", "dcg": "DCG", "dcg_burges": "DCG Burges", "ndcg": "NDCG",
    "ndcg_burges": "NDCG Burges", "bpref": "BPref",
}  # fmt: skip
_RAISED = dict(zip("abcdefghijklmnopqrstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ۹ʳˢᵗᵘᵛʷˣʸᶻ", strict=True))


class FrozensetDict(MutableMapping[Any, Any]):
    """A mapping whose keys are pairs in any order."""

    def __init__(self) -> None:
        self._map: dict[frozenset[str], Any] = {}

    def __getitem__(self, key: Any) -> Any:
        return self._map[frozenset(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._map[frozenset(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._map[frozenset(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._map)

    def __len__(self) -> int:
        return len(self._map)


class Report:
    """The result of `compare`: values, p-values, wins, as a table, LaTeX, a dictionary, a data frame or JSON."""

    def __init__(
        self,
        model_names: list[str],
        results: Mapping[str, Mapping[str, float]],
        comparisons: FrozensetDict,
        metrics: list[str],
        max_p: float,
        win_tie_loss: Mapping[tuple[str, str], Mapping[str, Mapping[str, int]]],
        rounding_digits: int = 3,
        show_percentages: bool = False,
        stat_test: str = "student",
    ) -> None:
        self.model_names = model_names
        self.results = results
        self.comparisons = comparisons
        self.metrics = metrics

        self.max_p = max_p
        self.win_tie_loss = win_tie_loss
        self.rounding_digits = rounding_digits
        self.show_percentages = show_percentages
        self.stat_test = stat_test

    def format_score(self, score: float) -> str:
        """A value as it is shown."""
        if self.show_percentages:
            return f"{score:.{max(0, self.rounding_digits - 2)}%}".removesuffix("%")
        return f"{score:.{self.rounding_digits}f}"

    def get_stat_test_label(self, stat_test: str) -> str:
        return TESTS[stat_test]

    def get_metric_label(self, m: str) -> str:
        """A metric's name for the header of a table."""
        name, _, level = m.partition("-l")
        name, mark, cutoff = name.partition("@")
        label = _LABELS.get(name, name.upper())
        if level:
            return f"{label}{mark}{cutoff}-l{level}"
        return f"{label}{mark}{cutoff}"

    def _letters(self, model: str, metric: str, better: bool = True) -> str:
        """The letters of the models that this one is significantly better than; or of the others."""
        letters = ""
        for letter, second in zip(letters_of(len(self.model_names)), self.model_names, strict=True):
            if second != model and self._beats(model, second, metric) == better:
                letters += letter
        return letters

    def _beats(self, model: str, second: str, metric: str) -> bool:
        significant = bool(self.comparisons[model, second][metric]["significant"])
        return significant and self.results[model][metric] > self.results[second][metric]

    def to_table(self) -> str:
        """A table as text; raised letters name the models that one is significantly better than."""
        rows = []
        for mark, model in zip(letters_of(len(self.model_names)), self.model_names, strict=True):
            row = [mark, model]
            for metric in self.metrics:
                row.append(self.format_score(self.results[model][metric]) + _raised(self._letters(model, metric)))
            rows.append(row)
        columns = Head.names("#", "Model", *map(self.get_metric_label, self.metrics))
        return plain([Table(columns, rows)])

    def to_latex(self) -> str:
        """A LaTeX table to be pasted into a paper."""
        best = {metric: max(self.model_names, key=lambda model: self.results[model][metric]) for metric in self.metrics}
        header = "".join(f"\n& \\textbf{{{_latex(self.get_metric_label(metric))}}}" for metric in self.metrics)
        body = []
        for mark, model in zip(letters_of(len(self.model_names)), self.model_names, strict=True):
            cells = []
            for metric in self.metrics:
                cell = self.format_score(self.results[model][metric])
                if best[metric] == model:
                    cell = f"\\textbf{{{cell}}}"
                cell += _power(self._letters(model, metric))
                hidden = self._letters(model, metric, better=False)
                if hidden:
                    cell += f"\\hphantom{{{_power(hidden)}}}"
                cells.append(cell)
            body.append(f"{mark} &\n{_latex(model)} &\n" + " &\n".join(cells) + " \\\\")

        return "\n".join(
            (
                "% Add in preamble\n\\usepackage{graphicx}\n\\usepackage{booktabs}\n",
                "\\begin{table*}[ht]\n\\centering\n\\caption{\nOverall effectiveness of the models.\n"
                "The best results are highlighted in boldface.\nSuperscripts denote significant differences in "
                f"{self.get_stat_test_label(self.stat_test)} with $p \\le {self.max_p}$.\n}}",
                "\\resizebox{0.8\\textwidth}{!}{\n\\begin{tabular}{c|l" + "|c" * len(self.metrics) + "}\n\\toprule",
                f"\\textbf{{\\#}}\n& \\textbf{{Model}}{header} \\\\\n\\midrule",
                *body,
                "\\bottomrule\n\\end{tabular}\n}\n\\label{tab:results}\n\\end{table*}",
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ranx has it."""
        report: dict[str, Any] = {
            "stat_test": self.stat_test,
            "metrics": self.metrics,
            "model_names": self.model_names,
        }
        for model in self.model_names:
            p_values: dict[str, dict[str, float]] = {}
            wins: dict[str, Any] = {}
            for second in self.model_names:
                if second != model:
                    tests = self.comparisons[model, second]
                    p_values[second] = {metric: tests[metric]["p_value"] for metric in self.metrics}
                    wins[second] = self.win_tie_loss[model, second]
            report[model] = {"scores": self.results[model], "comparisons": p_values, "win_tie_loss": wins}

        return report

    def to_dataframe(self) -> Any:  # a pandas DataFrame, which is not imported here
        """A pandas DataFrame with a row for each model."""
        with needed("pandas"):
            import pandas as pd

        rows = [{"model_names": model, **self.results[model]} for model in self.model_names]
        return pd.DataFrame(rows, columns=["model_names", *self.metrics])

    def save(self, path: str) -> None:
        """Write `to_dict` as JSON."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.to_dict(), file, indent=4)

    def print_results(self) -> None:
        """Print the values as JSON."""
        print(json.dumps(self.results, indent=4))  # noqa: T201 - that is what it is for

    def __repr__(self) -> str:
        return self.to_table()


def compare(
    qrels: Qrels,
    runs: Sequence[Run],
    metrics: Sequence[str] | str,
    stat_test: str = "student",
    n_permutations: int = 1000,
    max_p: float = 0.01,
    random_seed: int = 42,
    threads: int = 0,
    rounding_digits: int = 3,
    show_percentages: bool = False,
    make_comparable: bool = False,
) -> Report:
    """Score several runs and test every pair. p-values of the randomisation test are goldrank's: never 0."""
    one_of(stat_test, TESTS, "stat_test")
    metric_names = format_metrics(metrics)
    values: dict[str, dict[str, np.ndarray]] = {}
    for number, run in enumerate(runs, 1):
        name = run.name
        if name is None:
            name = f"run_{number}"
        arrays = evaluate(qrels, run, metric_names, return_mean=False, make_comparable=make_comparable)
        if len(metric_names) < 2:
            arrays = {metric_names[0]: arrays}
        values[name] = arrays

    models = list(values)
    comparisons = FrozensetDict()
    for pair in combinations(models, 2):
        comparisons[pair] = {}
    for metric in metric_names:
        columns = {model: values[model][metric] for model in models}
        for pair, p_value in _p_values(columns, stat_test, n_permutations, random_seed).items():
            comparisons[pair][metric] = {"p_value": p_value, "significant": p_value <= max_p}

    results: dict[str, dict[str, float]] = {}
    for model in models:
        results[model] = {metric: float(np.mean(values[model][metric])) for metric in metric_names}
    wins: dict[tuple[str, str], dict[str, dict[str, int]]] = {}
    for first, second in permutations(models, 2):
        wins[first, second] = {
            metric: _counts(values[first][metric], values[second][metric]) for metric in metric_names
        }

    return Report(
        model_names=models,
        results=results,
        comparisons=comparisons,
        metrics=metric_names,
        max_p=max_p,
        win_tie_loss=wins,
        rounding_digits=rounding_digits,
        show_percentages=show_percentages,
        stat_test=stat_test,
    )


def _p_values(
    columns: Mapping[str, np.ndarray], stat_test: str, samples: int, seed: int
) -> dict[tuple[str, str], float]:
    """The p-value of each pair of models."""
    names = list(columns)
    pairs = list(combinations(names, 2))
    if stat_test == "tukey":
        table = tukey_hsd(list(columns.values()))
        return {(a, b): float(table[names.index(a), names.index(b)]) for a, b in pairs}

    p_values = {}
    for first, second in pairs:
        differences = columns[first] - columns[second]
        if stat_test == "student":
            p_values[first, second] = paired.t_test(differences)
        else:
            flipped = flips.flip(differences[None, :], samples=samples, seed=seed)
            p_values[first, second] = float(flips.raw_p(flipped, 0).value)

    return p_values


def _counts(first: np.ndarray, second: np.ndarray) -> dict[str, int]:
    return {"W": int(np.sum(first > second)), "T": int(np.sum(first == second)), "L": int(np.sum(first < second))}


def _raised(letters: str) -> str:
    return "".join(_RAISED[letter] for letter in letters)


def _power(letters: str) -> str:
    if letters:
        return f"$^{{{letters}}}$"
    return ""


def _latex(text: str) -> str:
    return text.replace("_", "\\_")
