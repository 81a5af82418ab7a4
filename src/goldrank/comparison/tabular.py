"""What every result with rows can become: data frames, JSON, a file, a table in a notebook."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from goldrank.data.json_values import utf8, without_nan, write_json
from goldrank.data.table import Part, notebook_html, plain
from goldrank.forking import check_polars
from goldrank.packages import needed

if TYPE_CHECKING:
    import pandas
    import polars


class Shown:
    """A result that people can look at."""

    drawn_by: ClassVar[str]
    """The module of `report/` whose `parts` are shown, by `print` and in notebooks."""

    def __str__(self) -> str:
        return plain(self._parts())

    def _repr_html_(self) -> str:
        return notebook_html(self._parts())

    def _parts(self) -> list[Part]:
        parts: list[Part] = import_module(f"goldrank.report.{self.drawn_by}").parts(self)
        return parts


class Tabular(Shown, ABC):
    """One that says what it holds by `rows` and `to_dict`."""

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
        write_json(path, self.to_dict())

    def to_polars(self) -> polars.DataFrame:
        """`rows` as a data frame."""
        with needed("polars"):
            import polars

        check_polars()
        return polars.DataFrame([with_utf8(row) for row in self.rows()], infer_schema_length=None)

    def to_pandas(self) -> pandas.DataFrame:
        """`rows` as a data frame."""
        with needed("pandas"):
            import pandas

        return pandas.DataFrame([with_utf8(row) for row in self.rows()])


def attributes(result: object, names: str) -> dict[str, Any]:
    """The named attributes, in this order."""
    return {name: getattr(result, name) for name in names.split()}


def with_utf8(row: dict[str, Any]) -> dict[str, Any]:
    """A record whose texts data frames can hold."""
    return {key: utf8(value) if isinstance(value, str) else value for key, value in row.items()}
