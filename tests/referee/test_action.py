"""The action, the template, the hook and the image, without GitHub, GitLab or Docker: files in place of them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import places
import pytest

import goldrank
from goldrank.cli import group

yaml = pytest.importorskip("yaml")
ROOT = places.ROOT
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("bash", "jq", "iconv", "sha256sum"))), reason="the tools of a runner are not here"
)

RECORDS = [
    {"id": "q1", "retrieved": [{"id": "x", "score": 2}, {"id": "d1", "score": 1}], "expected": [{"id": "d1"}]},
    {"id": "q2", "retrieved_ids": ["d7", "d2"], "expected_ids": ["d7"]},
]
FAKE_GH = f"""#!{sys.executable} -S
import json, os, pathlib, subprocess, sys
words, folder = sys.argv[1:], pathlib.Path(os.environ["FAKE_COMMENTS"])
if os.environ.get("FAKE_FAILS"):
    sys.exit("HTTP 403: Resource not accessible by integration")
files = sorted(folder.glob("*.json"))
if "--paginate" in words:
    listed = json.dumps([json.loads(file.read_text()) for file in files])
    sys.exit(subprocess.run(["jq", "-r", words[words.index("--jq") + 1]], input=listed, text=True).returncode)
body = json.loads(pathlib.Path(words[words.index("--input") + 1]).read_text())["body"]
path = words[words.index("--method") + 2]
number = int(path.rsplit("/", 1)[1]) if "PATCH" in words else len(files) + 100
assert path == ("repos/me/it/issues/7/comments" if "POST" in words else f"repos/me/it/issues/comments/{{number}}")
(folder / f"{{number}}.json").write_text(json.dumps({{"id": number, "user": {{"type": "Bot"}}, "body": body}}))
"""


@dataclass
class Runner:
    """A runner of GitHub, in a folder."""

    folder: Path
    inputs: dict[str, str] = field(default_factory=dict)
    event: dict[str, object] = field(default_factory=lambda: {"pull_request": {"number": 7}})
    fails: bool = False

    def __post_init__(self) -> None:
        for name in ("bin", "comments", "temp", "repository"):
            (self.folder / name).mkdir()
        gh = self.folder / "bin" / "gh"
        gh.write_text(FAKE_GH)
        gh.chmod(0o755)
        (self.repository / "my.records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))

    @property
    def repository(self) -> Path:
        """Where the job runs."""
        return self.folder / "repository"

    def step(self, number: int, **more: str) -> subprocess.CompletedProcess[str]:
        """One step of the action, with its inputs in the environment as action.yml says."""
        step = ACTION["runs"]["steps"][number]
        (self.folder / "event.json").write_text(json.dumps(self.event))
        defaults = {name: str(given["default"]) for name, given in ACTION["inputs"].items()}
        values = defaults | self.inputs
        environment = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda matched: values[matched[1]], text)
            for name, text in step["env"].items()
        }
        environment |= {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PYTHONPATH": str(Path(goldrank.__file__).parent.parent),
            "GOLDRANK_PYTHON": sys.executable,
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_REPOSITORY": "me/it",
            "RUNNER_TEMP": str(self.folder / "temp"),
            "FAKE_COMMENTS": str(self.folder / "comments"),
            "FAKE_FAILS": "1" if self.fails else "",
            **more,
        }
        return subprocess.run(
            ["bash", "-c", step["run"]],
            env=environment,
            cwd=self.repository,
            capture_output=True,
            text=True,
            check=False,
        )

    def push(self) -> int:
        """All steps but the installation; the code that the job ends with."""
        (self.folder / "output").write_text("")
        gated = self.step(1)
        assert gated.returncode == 0, gated.stderr
        self.said = gated.stdout + gated.stderr
        outputs = self.outputs
        if self.inputs.get("comment") == "true":
            commented = self.step(2)
            assert commented.returncode == 0, commented.stderr
            self.said += commented.stdout
        return self.step(3, GOLDRANK_EXIT_CODE=outputs["exit-code"]).returncode

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of the step, as GitHub reads them."""
        text = (self.folder / "output").read_text()
        return {
            name: value
            for name, _, value in re.findall(r"^([\w-]+)<<(\S+)\n(.*?)\n\2$", text, re.MULTILINE | re.DOTALL)
        }

    @property
    def comments(self) -> list[str]:
        """The comments on the pull request."""
        return [json.loads(file.read_text())["body"] for file in sorted((self.folder / "comments").glob("*.json"))]


@pytest.fixture
def runner(tmp_path):
    runner = Runner(tmp_path, {"records": "my.records.jsonl", "rules": "rules.toml", "comment": "true"})
    (runner.repository / "rules.toml").write_text('rules = ["RR >= 0.7"]\n')
    return runner


def test_before_and_after(runner):
    """RR was 0.5 and 1, mean 0.75; now q1 has d1 first: mean 1."""
    qrels, ranked = {"q1": {"d1": 1}, "q2": {"d7": 1}}, {"q1": ["x", "d1"], "q2": ["d7", "d2"]}
    goldrank.Baseline(goldrank.evaluate(qrels, ranked, ["RR"])).save(str(runner.repository / "baseline.json"))
    changed = [RECORDS[0] | {"retrieved": [{"id": "d1", "score": 2}]}, RECORDS[1]]
    (runner.repository / "my.records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in changed))
    runner.inputs["baseline"] = "baseline.json"
    assert runner.push() == 0
    assert "| RR | 0.7500 | 1.0000 | +0.2500 |" in runner.comments[0].replace("\\", "")
    page = Path(runner.outputs["report"]) / "report.html"
    assert runner.outputs["signature"] in page.read_text()


def test_green(runner):
    """RR of q1 is 1/2, of q2 it is 1: the mean is 0.75."""
    assert runner.push() == 0
    assert runner.outputs["status"] == "pass"
    assert json.loads(runner.outputs["scores"]) == {"RR": 0.75}
    assert runner.outputs["signature"].startswith("goldrank:")
    report = Path(runner.outputs["report"])
    assert {"report.md", "report.xml", "report.json", "scores.json"} <= {file.name for file in report.iterdir()}
    assert "Ranking quality" in (runner.folder / "summary").read_text()


def test_red(runner):
    (runner.repository / "rules.toml").write_text('rules = ["RR >= 0.9"]\n')
    assert runner.push() == 1
    assert runner.outputs["status"] == "fail"
    assert "::error" in runner.said
    assert len(runner.comments) == 1
    runner.inputs["fail-on"] = "never"
    assert runner.push() == 0


@pytest.mark.parametrize(
    "inputs", [{"records": "none.jsonl"}, {"rules": "none.toml"}, {"run": "x"}, {"fail-on": "often"}]
)
def test_what_cannot_be_decided(runner, inputs):
    runner.inputs |= inputs
    assert runner.push() == 2
    assert runner.outputs["status"] == "error"


def test_without_rules_values_are_shown(runner):
    runner.inputs |= {"rules": "", "measures": "R@1,RR"}
    assert runner.push() == 0
    assert json.loads(runner.outputs["scores"]) == {"R@1": 0.5, "RR": 0.75}
    assert "0.7500" in (runner.folder / "summary").read_text()


def test_a_baseline(runner):
    scores = goldrank.evaluate({"q1": {"d1": 1}, "q2": {"d7": 1}}, {"q1": ["d1"], "q2": ["d7"]}, "RR")
    goldrank.Baseline(scores).save(runner.repository / "baseline.json")
    (runner.repository / "rules.toml").write_text('rules = ["RR: -1%"]\n')
    runner.inputs["baseline"] = "baseline.json"
    assert runner.push() in (0, 1, 4)
    assert runner.outputs["status"] in ("pass", "fail", "unclear")


def test_two_pushes_are_one_comment(runner):
    others = runner.folder / "comments" / "1.json"
    others.write_text(json.dumps({"id": 1, "user": {"type": "Bot"}, "body": "of another tool"}))
    runner.push()
    runner.push()
    assert len(runner.comments) == 2
    assert runner.comments[0].startswith("of another tool") or runner.comments[1].startswith("of another tool")
    mark = hashlib.sha256(b"Ranking quality").hexdigest()[:16]
    assert any(comment.startswith(f"<!-- goldrank:{mark} -->\n") for comment in runner.comments)
    runner.inputs["title"] = "Another"
    runner.push()
    assert len(runner.comments) == 3


def test_somebody_who_copies_the_mark_is_not_overwritten(runner):
    mark = f"<!-- goldrank:{hashlib.sha256(b'Ranking quality').hexdigest()[:16]} -->"
    mine = runner.folder / "comments" / "5.json"
    mine.write_text(json.dumps({"id": 5, "user": {"type": "User"}, "body": f"{mark} hello"}))
    runner.push()
    assert json.loads(mine.read_text())["body"] == f"{mark} hello"


def test_a_long_report_is_cut(runner):
    runner.push()
    (runner.folder / "temp" / "goldrank-report" / "report.md").write_text("ä" * 100_000)
    assert runner.step(2).returncode == 0
    assert len(runner.comments[0]) <= 60_000


def test_a_push_has_no_comment(runner):
    runner.event = {"ref": "refs/heads/main"}
    assert runner.push() == 0
    assert runner.comments == []
    assert "::notice::" in runner.said


def test_without_the_right_to_comment_there_is_a_notice(runner):
    runner.fails = True
    assert runner.push() == 0
    assert "::notice::" in runner.said


@pytest.mark.parametrize("number", ["7; touch here", "$(touch here)", -1, None, {"a": 1}])
def test_strange_numbers_of_pull_requests(runner, number):
    runner.event = {"pull_request": {"number": number}}
    assert runner.push() == 0
    assert runner.comments == []
    assert not (runner.repository / "here").exists()


def test_names_start_nothing(runner):
    name = '$(touch X);"`touch Y`".jsonl'
    (runner.repository / "my.records.jsonl").rename(runner.repository / name)
    runner.inputs |= {"records": name, "title": "$(touch Z)`touch W`\n::error::no"}
    assert runner.push() == 0
    assert not {"X", "Y", "Z", "W"} & {path.name for path in runner.folder.rglob("*")}


@pytest.mark.parametrize("name", ["records", "rules"])
def test_names_that_look_like_options_are_refused(runner, name):
    runner.inputs[name] = "--help"
    assert runner.push() == 2


@pytest.mark.parametrize("version", ["1.0 --index-url=http://x", "$(touch X)", "-r file"])
def test_versions_that_are_none_are_refused(runner, version):
    runner.inputs["version"] = version
    done = runner.step(0, PATH=f"{runner.folder / 'bin'}:{os.environ['PATH']}")
    assert done.returncode == 2


def test_no_input_is_written_into_a_script():
    """What stands in ${{ }} is put into the text of a script before a shell reads it; the environment is not."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
    for file in (ROOT / "action").iterdir():
        assert "GITHUB_ENV" not in file.read_text()
        assert "GITHUB_PATH" not in file.read_text()


def test_every_output_is_made():
    made = set(re.findall(r'output\("([\w-]+)"', (ROOT / "action" / "gate.py").read_text()))
    assert made == set(ACTION["outputs"])


# The others.


def test_the_template_for_gitlab():
    head, job = yaml.safe_load_all((ROOT / "templates" / "goldrank.yml").read_text())
    inputs = set(head["spec"]["inputs"])
    used = set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", json.dumps(job)))
    assert used == inputs
    assert all("[[" not in line for line in job["goldrank"]["script"])
    assert job["goldrank"]["artifacts"]["when"] == "always"
    assert job["goldrank"]["allow_failure"] == {"exit_codes": [4]}


def test_the_hook(tmp_path, capsys):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert re.search(hook["files"], "a/my.records.jsonl")
    _, *words = hook["entry"].split()
    good = ROOT / "examples" / "gated_repository" / "my.records.jsonl"
    assert not group.main([*words, str(good)], standalone_mode=False)
    bad = tmp_path / "bad.records.jsonl"
    bad.write_text('{"id": "q", "retreived_ids": []}\n')
    assert group.main([*words, str(good), str(bad)], standalone_mode=False) == 1
    assert "Did you mean retrieved_ids?" in capsys.readouterr().out


def test_the_miniature_repository(tmp_path):
    folder = ROOT / "examples" / "gated_repository"
    workflow = yaml.safe_load((folder / ".github" / "workflows" / "ranking.yml").read_text())
    assert workflow[True] == "pull_request"  # YAML takes `on` for true
    uses = workflow["jobs"]["ranking"]["steps"][1]["with"]
    assert set(uses) <= set(ACTION["inputs"])
    runner = Runner(tmp_path, {name: str(value) for name, value in uses.items()})
    shutil.copytree(folder, runner.repository, dirs_exist_ok=True)
    assert runner.push() == 0
    assert len(runner.comments) == 1


def test_the_image_has_no_rights_and_what_a_referee_needs():
    text = (ROOT / "Dockerfile").read_text()
    assert "USER 65532:65532" in text
    assert all(f'"{name}>=' in text for name in ("numpy", "click", "scipy"))
    assert text.rstrip().endswith('ENTRYPOINT ["goldrank"]')


def packages_in(text: str) -> set[str]:
    """The names of packages in quotation marks with a lowest version."""
    return set(re.findall(r'"([a-z0-9.]+)>=', text))


def test_the_image_has_the_versions_of_the_project():
    image = re.findall(r'"([a-z0-9]+>=[0-9.]+)"', (places.ROOT / "Dockerfile").read_text())
    project = (places.ROOT / "pyproject.toml").read_text()
    assert len(image) == 4
    assert all(f'"{package}"' in project for package in image)


@pytest.mark.parametrize(
    "words", [("eval", "records.jsonl", "-m", "RR"), ("gate", "records.jsonl", "records.jsonl", "--rule", "RR >= 0.5")]
)
def test_a_referee_needs_the_packages_of_the_image_only(tmp_path, words):
    """As in the image: what pyproject.toml names and the Dockerfile does not is not there; nothing can be written."""
    project = (places.ROOT / "pyproject.toml").read_text()
    dependencies = project.partition("dependencies = [")[2].partition("\n]")[0]
    absent = packages_in(dependencies) - packages_in((places.ROOT / "Dockerfile").read_text())
    assert {"polars", "rich", "jinja2", "rapidfuzz"} <= absent

    modules = [*sorted(absent), "pyarrow", "pandas"]
    code = f"import sys\nsys.modules.update(dict.fromkeys({modules}))\nfrom goldrank.cli import main\nmain()"
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    tmp_path.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(goldrank.__file__).parent.parent), "HOME": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    tmp_path.chmod(0o755)
    assert done.returncode == 0, done.stderr
    assert "0.7500" in done.stdout


@pytest.fixture
def open_folder():
    """A folder that other users may read, which those of pytest are not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.mark.slow
def test_the_steps_of_the_image_in_an_empty_folder(open_folder):
    """The commands of `RUN`, with folders in place of those of the image; then as a user who can write nowhere."""
    tmp_path = open_folder
    wheels = tmp_path / "w"
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        pytest.skip(f"the wheel cannot be built here: {built.stderr[-300:]}")

    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    (command,) = re.findall(r"^RUN (.*)$", text, re.MULTILINE)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    command = command.replace("python3.13", version).replace("python -m venv", f"{sys.executable} -m venv")
    command = command.replace("/w/", f"{wheels}/").replace(" /v", f" {tmp_path}/v")
    installed = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"packages cannot be installed here: {installed.stderr[-300:]}")
    assert not list((tmp_path / "v" / "bin").glob("pip*"))

    data = tmp_path / "data"
    data.mkdir()
    (data / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    (data / "other.jsonl").write_text((data / "records.jsonl").read_text().replace("d7", "d8", 1))
    as_nobody = []
    if os.geteuid() == 0 and shutil.which("setpriv"):
        as_nobody = ["setpriv", "--reuid=65532", "--regid=65532", "--clear-groups"]
    data.chmod(0o555)
    environment = {"PATH": f"{tmp_path}/v/bin:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/tmp"}
    for words, code in (
        (["eval", "records.jsonl", "-m", "RR", "--signature"], 0),
        (["gate", "records.jsonl", "--rule", "RR >= 0.9"], 1),
        (["compare", "records.jsonl", "a=records.jsonl", "b=other.jsonl", "-m", "RR"], 0),
        (["conformance", "--command", "cat", "-m", "RR"], 2),
        (["schema", "record"], 0),
    ):
        done = subprocess.run(
            [*as_nobody, "goldrank", *words], cwd=data, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, (words, done.stderr)
    data.chmod(0o755)


@pytest.mark.parametrize(("rule", "code"), [("RR >= 0.7", 0), ("RR >= 0.8", 1)])
def test_the_script_of_the_template(tmp_path, rule, code):
    """Its lines but the installation, with its variables: RR is 0.75."""
    _, job = yaml.safe_load_all((ROOT / "templates" / "goldrank.yml").read_text())
    install, *lines = job["goldrank"]["script"]
    assert install.startswith("pip install")
    (tmp_path / "my.records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    (tmp_path / "rules.toml").write_text(f'rules = ["{rule}"]\n')
    command = tmp_path / "goldrank"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m goldrank "$@"\n')
    command.chmod(0o755)
    variables = {"GOLDRANK_RECORDS": "my.records.jsonl", "GOLDRANK_RULES": "rules.toml"}
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", **variables}
    done = subprocess.run(["bash", "-e", "-c", "\n".join(lines)], cwd=tmp_path, env=environment, check=False)
    assert done.returncode == code
    assert "<testsuite" in (tmp_path / "gate.xml").read_text()
    for path in job["goldrank"]["artifacts"]["paths"]:
        assert (tmp_path / path).exists()
