#!/usr/bin/env bash
# Writes records for `goldrank eval records.jsonl`: one line for each question. jq does the quoting.
set -euo pipefail

record() { # id, retrieved ids with spaces between them, expected ids
  jq -nc --arg id "$1" --arg retrieved "$2" --arg expected "$3" \
    '{id: $id, retrieved_ids: ($retrieved / " "), expected_ids: ($expected / " ")}'
}

{
  record q1 "d3 d1" "d1"
  record q2 "d7" "d2"
} > records.jsonl
