#!/usr/bin/env bash
# Installs goldrank into a place of its own: nothing of the caller's Python changes.
set -euo pipefail

python3 -m venv "$RUNNER_TEMP/goldrank"
if [ -n "$GOLDRANK_VERSION" ]; then
  if ! [[ "$GOLDRANK_VERSION" =~ ^[0-9][0-9A-Za-z.]*$ ]]; then
    echo "::error::the version is not one such as 1.0.0"
    exit 2
  fi
  "$RUNNER_TEMP/goldrank/bin/pip" install --quiet --disable-pip-version-check "goldrank==$GOLDRANK_VERSION"
else
  "$RUNNER_TEMP/goldrank/bin/pip" install --quiet --disable-pip-version-check "$GITHUB_ACTION_PATH"
fi
