"""Begin: the files of a gate in a repository, written once.

| file | content |
|---|---|
| `init_command` | the questions at the prompt |
| `project` | which files there are to write, and the first baseline |
| `engines/` | engine files to begin with; those of `examples/engines` |
"""

COMMANDS = {
    "init": (
        "keep",
        "goldrank.starting.init_command",
        "Begin a gate: write rules, an engine file, a workflow for CI and a first baseline.",
    ),
}
