"""What every result with rows can become: data frames, JSON, a file, a table in a notebook."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldrank import ids
from goldrank.data.scores import format_value, utf8, without_nan
from goldrank.errors import GoldrankError

if TYPE_CHECKING:
    import pandas
    import polars

MOST_HTML_ROWS = 100


class Tabular(ABC):
    """A result that says what it holds by `rows` and `to_dict`, and in its first line of text what it is about."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Flat records, all with the same keys. Their values are plain: text, numbers, None."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain Python values."""

    def to_json(self) -> str:
        """`to_dict` as JSON; NaN becomes null."""
        return json.dumps(without_nan(self.to_dict()), ensure_ascii=True, indent=1)

    def save(self, path: str | Path) -> None:
        """Write `to_json` to a file."""
        try:
            Path(path).write_text(self.to_json() + "\n", encoding="ascii")
        except OSError as error:
            raise GoldrankError(f"cannot be written: {error.strerror}", where=str(path)) from None

    def to_polars(self) -> polars.DataFrame:
        """`rows` as a data frame."""
        import polars

        return polars.DataFrame(self._frame_rows(), infer_schema_length=None)

    def to_pandas(self) -> pandas.DataFrame:
        """`rows` as a data frame."""
        import pandas

        return pandas.DataFrame(self._frame_rows())

    def _frame_rows(self) -> list[dict[str, Any]]:
        return [
            {key: utf8(value) if isinstance(value, str) else value for key, value in row.items()} for row in self.rows()
        ]

    def _repr_html_(self) -> str:
        from html import escape

        rows = self.rows()
        title = escape(ids.show(repr(self).partition("\n")[0], 500))
        head = "".join(f"<th>{escape(key)}</th>" for key in (rows[0] if rows else ()))
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row.values()) + "</tr>"
            for row in rows[:MOST_HTML_ROWS]
        )
        more = f"<p>and {len(rows) - MOST_HTML_ROWS:,} more rows</p>" if len(rows) > MOST_HTML_ROWS else ""
        return f"<p>{title}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return format_value(value)
    return "" if value is None else ids.show(str(value), 200)
