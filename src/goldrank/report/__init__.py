"""Anything -> what a person reads.

A file per thing that is shown makes parts (`goldrank.data.table`) of it; a file per form writes a result:
`plain_text`, `markdown`, `separated` (CSV, TSV), `latex`, `json_form`, `result_page` (HTML), `svg`, `parquet`. `show`
has the one table of forms.
"""

WIDTH = 120
"""Where sentences of plain text are wrapped."""
