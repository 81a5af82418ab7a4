"""A thousand mutations in CI, and the fuzzer itself: it finds every sort of fault that is planted.

More by hand: `make fuzz N=1000000`; one again: `make fuzz REPLAY=readers:1234`.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections import Counter

import pytest

from goldrank.io import formats
from tests.fuzz import cannot_say, kinds, planted, readers, written
from tests.fuzz.__main__ import replay
from tests.fuzz.outcomes import drawn
from tests.fuzz.running import ROOT, Findings, run
from tests.lanes import many

MUTATIONS = 1_000


@pytest.mark.slow
def test_nothing_is_found(tmp_path):
    findings = Findings(tmp_path)
    count = many(MUTATIONS)
    assert run(count, findings, workers=min(2, os.cpu_count() or 1)) == count
    assert not findings.kept, f"make fuzz REPLAY=<kind:number> tries one again\n{findings}"


@pytest.mark.slow
def test_planted_faults_are_found(tmp_path, monkeypatch):
    monkeypatch.setenv("GOLDRANK_FUZZ_KIND", kinds.PLANTED)
    made = [kinds.make(kinds.PLANTED, 0)["fault"]]
    while len(set(made)) < len(planted.FAULTS):
        made.append(kinds.make(kinds.PLANTED, len(made))["fault"])
    wanted = Counter(fault for fault in made if fault not in ("none", "refused"))
    findings = Findings(tmp_path)
    run(len(made), findings, workers=2, longest=2)  # of CPU: one that sleeps is waited for longer
    found: Counter[str] = Counter()
    for key, count in findings.counts.items():
        found[key.split(":")[0]] += count
    assert found == wanted, str(findings)


@pytest.mark.parametrize("fault", ["exception", "difference", "memory", "none"])
def test_a_finding_is_tried_again(fault, tmp_path, capsys):
    number = next(number for number in range(100) if kinds.make(kinds.PLANTED, number)["fault"] == fault)
    Findings(tmp_path).add({"kind": kinds.PLANTED, "number": number, "sort": fault, "line": "x", "text": "x"})
    (file,) = tmp_path.iterdir()
    for given in (str(file), f"{kinds.PLANTED}:{number}"):
        assert replay(given) == (fault != "none")
        assert (fault if fault != "none" else "nothing is wrong") in capsys.readouterr().out


def test_mutations_are_the_same_everywhere():
    for kind in kinds.SHARES:
        specs = [kinds.make(kind, number) for number in range(20)]
        assert specs == [kinds.from_json(kinds.to_json(spec)) for spec in specs]
        assert len({kinds.to_json(spec) for spec in specs}) > 15


@pytest.mark.slow
def test_mutations_are_the_same_in_other_processes():
    program = (
        "import hashlib; from tests.fuzz import kinds\n"
        "made = [kinds.to_json(kinds.make(kind, n)) for kind in kinds.SHARES for n in range(20)]\n"
        "print(hashlib.sha256(''.join(made).encode()).hexdigest())"
    )
    made = [kinds.to_json(kinds.make(kind, n)) for kind in kinds.SHARES for n in range(20)]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONHASHSEED": "7"}
    said = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == hashlib.sha256("".join(made).encode()).hexdigest()


def test_every_format_has_seeds():
    """A new format of the registry must be fuzzed too."""
    pairs = [(name, thing) for name, entry in formats.FORMATS.items() for thing in entry.holds if thing != "records"]
    assert pairs
    for name, thing in pairs:
        assert readers.seeds(name, thing), (name, thing)


def test_every_format_that_is_written_is_read_back():
    """A new writer must be fuzzed too."""
    assert set(written.FILES.values()) == {name for name, entry in formats.FORMATS.items() if entry.writes}
    assert set(written.KEEP_JUDGES) == {name for name, e in formats.FORMATS.items() if e.keeps_judges == "all"}


def test_seeds_are_sound(tmp_path):
    """Files that are not changed are read on all routes."""
    for format, thing in set(readers.PAIRS) - {("beir", "qrels")}:
        for data in readers.seeds(format, thing):
            path = tmp_path / "fuzzed"
            path.write_bytes(data)
            named = None if format in ("json", "jsonl") else format
            assert readers.READ[thing](path, named)


def test_exceptions_say_why():
    for entries in cannot_say.REASONS.values():
        assert all(len(reason) > 20 for reason, _ in entries)


def test_routes_are_drawn_by_the_mutation(monkeypatch):
    """With fewer routes for each mutation each is still tried, and the same ones when it is tried again."""
    routes = list(range(12))
    assert drawn(routes, 7) == routes
    monkeypatch.setenv("GOLDRANK_FUZZ_ROUTES", "2")
    assert drawn(routes, 7) == drawn(routes, 7)
    assert {len(drawn(routes, seed)) for seed in range(50)} == {2}
    assert {route for seed in range(200) for route in drawn(routes, seed)} == set(routes)
