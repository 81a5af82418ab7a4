#!/usr/bin/env bash
# Fails the job if it should, after all reports were written.
set -euo pipefail

code="${GOLDRANK_EXIT_CODE:-2}"
case "$GOLDRANK_FAIL_ON:$code" in
  *:2) exit 2 ;;
  never:*) exit 0 ;;
  fail:4) exit 0 ;;
  *) exit "$code" ;;
esac
