#!/usr/bin/env bash
# Writes one comment on the pull request, or changes the one that it wrote before. Without the right to, it says so.
set -euo pipefail

number="$(jq -r '.pull_request.number // empty' "$GITHUB_EVENT_PATH")"
if ! [[ "$number" =~ ^[0-9]+$ ]]; then
  echo "::notice::this is no pull request: there is nothing to comment on"
  exit 0
fi
if ! [[ "$GITHUB_REPOSITORY" =~ ^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$ ]]; then
  echo "::notice::the name of the repository is strange: no comment was written"
  exit 0
fi

report="$RUNNER_TEMP/goldrank-report"
hash="$(printf '%s' "$GOLDRANK_TITLE" | sha256sum | cut -c1-16)"
mark="<!-- goldrank:$hash -->"
{
  printf '%s\n' "$mark"
  head -c 60000 "$report/report.md" | iconv -f utf-8 -t utf-8 -c
} > "$report/comment.md"
jq -n --rawfile body "$report/comment.md" '{body: ($body[0:60000])}' > "$report/comment.json"

comments="repos/$GITHUB_REPOSITORY/issues/$number/comments"
mine='.[] | select(.user.type == "Bot") | select(.body | startswith($ENV.GOLDRANK_MARK)) | .id'
if ! found="$(GOLDRANK_MARK="$mark" gh api --paginate "$comments" --jq "$mine")"; then
  echo "::notice::comments cannot be read: the token may lack pull-requests: write, as on pull requests from forks"
  exit 0
fi
id="$(printf '%s\n' "$found" | head -n 1)"
if [[ "$id" =~ ^[0-9]+$ ]]; then
  target=(--method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id")
else
  target=(--method POST "$comments")
fi
if ! gh api "${target[@]}" --input "$report/comment.json" > /dev/null; then
  echo "::notice::no comment was written: the token may lack pull-requests: write, as on pull requests from forks"
fi
