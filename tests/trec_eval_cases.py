"""Random command lines for trec_eval, with the files that they name: odd numbers, ids, lines and options."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

QUERIES = ["1", "2", "10", "301", "q", "Q", "q.1", "é", "x#1", "a" * 60, "-7", "0"]
DOCUMENTS = [
    "d1",
    "d2",
    "d10",
    "D1",
    "FT911-3",
    "é",
    "x#y",
    "0",
    "00",
    "-",
    "z" * 90,
    "msmarco_v2.1_doc_00_0#1",
    "~",
    "!",
]
LONG = {
    "-q": "--query_eval_wanted", "-c": "--complete_rel_info_wanted", "-n": "--nosummary", "-J": "--Judged_docs_only",
    "-l": "--level_for_rel", "-M": "--Max_retrieved_per_topic", "-N": "--Number_docs_in_coll", "-m": "--measure",
    "-R": "--Rel_info_format", "-Z": "--Zscore", "-D": "--Debug_level", "-T": "--Results_format",
}  # fmt: skip
SHORTEST = {"-M": 4, "-m": 3, "-R": 6, "-T": 6, "-h": 3}
"""How many letters a long option needs at least, with its dashes; 3 where none is said."""

CUT = ["P", "recall", "ndcg_cut", "map_cut", "relative_P", "success", "unj"]
PLAIN = [
    "runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "infAP",
    "gm_bpref", "binG", "set_P", "set_relative_P", "set_recall", "set_map", "num_nonrel_judged_ret", "yaap",
]  # fmt: skip
GAIN = ["G", "dcg", "ideal_dcg", "ndcg", "ndcg_rel", "Rndcg"]


@dataclass(frozen=True)
class Case:
    """A command line: `QRELS`, `RUN` and `Z` in it stand for the files."""

    arguments: Sequence[str]
    files: dict[str, bytes]
    odd: frozenset[str] = field(default_factory=frozenset)
    """What is special about it, by the names of rows of docs/trec_eval.md."""


class Maker:
    """Makes one case out of a seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.odd: set[str] = set()

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def case(self) -> Case:
        rng = self.rng
        kind = rng.choices(["qrels", "prefs", "qrels_prefs", "qrels_jg"], [70, 10, 10, 10])[0]
        queries = rng.sample(QUERIES, rng.randint(1, 5))
        pool = [*rng.sample(DOCUMENTS, rng.randint(1, 8)), *(f"d{i}" for i in range(20, 20 + rng.randint(0, 25)))]
        complete = self.chance(0.5)
        judged, returned = list(queries), list(queries)
        if self.chance(0.3):
            returned = rng.sample(queries, rng.randint(1, len(queries)))
        if self.chance(0.3):
            judged = rng.sample(queries, rng.randint(1, len(queries)))
        if not complete and set(judged) - set(returned):
            self.odd.add("missing")
        if not set(judged) & set(returned):
            self.odd.add("nothing in common")
        files = {"QRELS": self.qrels(kind, judged, pool), "RUN": self.run(returned, pool)}
        arguments = ["-c"] if complete else []
        arguments += self.options(kind, judged, files)
        if kind != "qrels":
            arguments += ["-R", kind]
        arguments = self.spelled(arguments)
        where = rng.choice([0, len(arguments)]) if "-" not in arguments else len(arguments)
        arguments[where:where] = ["QRELS", "RUN"]
        return Case(arguments, files, frozenset(self.odd))

    def options(self, kind: str, judged: list[str], files: dict[str, bytes]) -> list[str]:
        rng = self.rng
        found: list[str] = []
        for flag, share in (("-q", 0.7), ("-n", 0.1), ("-J", 0.2), ("-o", 0.03)):
            found += [flag] if self.chance(share) else []
        if self.chance(0.3):
            found += ["-l", rng.choice(["1", "2", "3", "0", "2x", "+2", " 1", "7"])]
        if self.chance(0.3):
            found += ["-M", rng.choice(["1", "3", "5", "10", "1000", "100000000000"])]
        if self.chance(0.1):
            found += ["-N", rng.choice(["0", "10", "1000", "100000000"])]
        if self.chance(0.05):
            found += ["-T", "trec_results"]
        if self.chance(0.05):
            found += ["-D", f"0.{rng.choice(judged)}"]
            self.odd.add("one query")
        if self.chance(0.1):
            found += ["-Z", "Z"]
            files["Z"] = self.zscores(judged)
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3, 4])):
            found += ["-m", self.measure(kind)]
        if kind != "qrels" and "-m" not in found:
            found += ["-m", "qrels_jg" if kind == "qrels_jg" else "all_prefs"]
        return found

    def measure(self, kind: str) -> str:
        rng = self.rng
        if kind == "qrels_jg":
            return rng.choice(["qrels_jg", "map_avgjg", "P_avgjg", "P_avgjg.1,3", "Rprec_mult_avgjg", "num_q"])
        if kind != "qrels":
            return rng.choice(["prefs", "all_prefs", "prefs_simp", "prefs_avgjg_Rnonrel", "prefs_num_prefs_ful"])
        pick = rng.random()
        if pick < 0.4:
            return rng.choice(["official", "all_trec", "all_trec", "set"])
        if pick < 0.6:
            name = rng.choice(CUT)
            if self.chance(0.3):
                return name
            cuts = [str(k) for k in rng.sample([1, 2, 3, 4, 5, 7, 10, 20, 50, 1000], rng.randint(1, 4))]
            return f"{name}.{','.join(cuts)}"
        if pick < 0.7:
            return rng.choice(PLAIN)
        if pick < 0.8:
            name = rng.choice(GAIN[:1] + GAIN[3:])
            pairs = [f"{grade}={rng.choice(['0', '1', '3', '9', '27.0'])}" for grade in rng.sample(range(5), 2)]
            return name if self.chance(0.5) else f"{name}.{','.join(pairs)}"
        return rng.choice(
            ["iprec_at_recall.0.1,0.55,1", "iprec_at_recall..5", "Rprec_mult.0.5,1.5,3", "utility.1,-1,0.5,0",
             "11pt_avg.0.25,0.5,0.75", "set_F.0.25", "set_F.2", "rbp_resid", "rbp_resid.p=0.5", "relstring",
             "relstring.4", "relstring.30", "dcg", "ideal_dcg", "G", "Rndcg", "ndcg_rel"]
        )  # fmt: skip

    def spelled(self, arguments: list[str]) -> list[str]:
        """The same arguments in one of the ways in which they can be written."""
        rng = self.rng
        found: list[str] = []
        values = {"-l", "-M", "-N", "-R", "-T", "-D", "-Z", "-m"}
        i = 0
        while i < len(arguments):
            name = arguments[i]
            value = arguments[i + 1] if name in values else None
            i += 1 if value is None else 2
            if name in LONG and self.chance(0.2):
                long = (
                    LONG[name][: rng.randint(SHORTEST.get(name, 3), len(LONG[name]))]
                    if self.chance(0.5)
                    else LONG[name]
                )
                found += [long] if value is None else [f"{long}={value}"] if self.chance(0.5) else [long, value]
            elif value is not None and self.chance(0.4):
                found += [name + value]
            else:
                found += [name] if value is None else [name, value]
        return found

    def qrels(self, kind: str, queries: list[str], pool: list[str]) -> bytes:
        rng = self.rng
        grades = rng.choice([[0, 1], [0, 1, 2], [0, 1, 2, 3, 4], [-1, 0, 1], [-2, -1, 0, 1, 2], [1], [0], [0, 12]])
        if kind != "qrels":
            grades = [grade for grade in grades if grade >= 0]
        lines = []
        for query in queries:
            judges = ["0"] if kind == "qrels" else rng.sample(["0", "1", "2", "j"], rng.randint(1, 3))
            for judge in judges:
                docs = rng.sample(pool, rng.randint(1, len(pool)))
                given = [rng.choice(grades) for _ in docs]
                if max(given) < 0:
                    given[0] = rng.choice([0, 1])
                levels = [f"{grade}" if not self.chance(0.1) else f"{grade}.0" for grade in given]
                if kind == "prefs" and self.chance(0.5):
                    levels = [str(rng.choice([0.5, 1.5, 1, 2, 3.25, 0])) for _ in docs]
                for doc, level in zip(docs, levels, strict=True):
                    lines.append([query, judge, *(["0"] if kind == "prefs" else []), doc, level])
        if self.chance(0.5):
            rng.shuffle(lines)
        return self.text(lines)

    def run(self, queries: list[str], pool: list[str]) -> bytes:
        rng = self.rng
        lines = []
        style = rng.choice(["plain", "tied", "near", "exponents", "signs", "infinite", "large"])
        for query in queries:
            docs = rng.sample(pool, rng.randint(1, len(pool)))
            docs += [f"u{i}" for i in range(rng.choice([0, 0, 3, 10]))]
            rng.shuffle(docs)
            for rank, doc in enumerate(docs, 1):
                lines.append([query, "Q0", doc, str(rank), self.score(style), rng.choice(["tag", "other", "t-1"])])
        if self.chance(0.5):
            rng.shuffle(lines)
        if self.chance(0.1):
            lines = [[*line, "more"] if self.chance(0.5) else line for line in lines]
        return self.text(lines, blank=True)

    def score(self, style: str) -> str:
        rng = self.rng
        match style:
            case "plain":
                return f"{rng.uniform(-5, 50):.6f}"
            case "tied":
                return str(rng.randint(0, 3))
            case "near":
                return repr(1 + rng.randint(0, 5) * 1e-16 * rng.choice([1, 2, 1e8]))
            case "exponents":
                return rng.choice(
                    ["1e-3", "1E5", "-2.5e+10", "1e-320", "4.9e-324", "1e308", "1e400", ".5", "5.", "1e-400"]
                )
            case "signs":
                return rng.choice(["+1.5", "-0.0", "0", "0.0", "-1", "+0", "-.5"])
            case "infinite":
                return rng.choice(["inf", "-inf", "Infinity", "1", "2", "INF"])
        return rng.choice(
            ["12345678901234567890", "9007199254740993", "9007199254740992", "0.1234567890123456789", "1" * 40]
        )

    def text(self, lines: list[list[str]], blank: bool = False) -> bytes:
        rng = self.rng
        space = rng.choice([" ", "\t", "  ", " \t "])
        end = rng.choice(["\n", "\n", "\r\n", " \n"])
        rows = [space.join(line) + end for line in lines]
        if self.chance(0.15):
            rows.insert(rng.randint(0, len(rows) - 1), "# a comment\n")
        if blank and self.chance(0.15):
            rows.insert(rng.randint(0, len(rows)), rng.choice(["\n", "  \n", "\r\n"]))
        if self.chance(0.1):
            rows[0] = " " + rows[0] if not rows[0].startswith("#") else rows[0]
        text = "".join(rows)
        return (text.rstrip() if self.chance(0.15) else text).encode()

    def zscores(self, queries: list[str]) -> bytes:
        rng = self.rng
        names = ["map", "P_5", "P_10", "num_rel", "num_ret", "ndcg", "recip_rank", "gm_map", "Rprec", "num_q"]
        rows = [
            f"{query} {name} {rng.uniform(0, 1):.4f} {rng.choice(['0.1', '0.25', '1', '0.0'])}\n"
            for query in queries for name in names if self.chance(0.8)
        ]  # fmt: skip
        # trec_eval looks one place too far for what comes after all that is there: each list has a last entry.
        rows += [f"{query} ~ 0 1\n" for query in [*queries, "\xff\xff"]]
        return "".join(rows).encode("latin-1" if "é" not in queries else "utf-8")
