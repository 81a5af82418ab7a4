#!/usr/bin/env bash
# Measures, checks the rules, and writes reports and outputs. It never fails: the last step gives the verdict.
set -euo pipefail

"${GOLDRANK_PYTHON:-$RUNNER_TEMP/goldrank/bin/python}" "$GITHUB_ACTION_PATH/action/gate.py"
