"""`Result`, the base class of what every verb returns: how it is shown, saved and converted."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from goldrank.base.forking import check_polars
from goldrank.base.packages import needed
from goldrank.data.equality import same, same_fields
from goldrank.data.json_values import utf8, without_nan

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from goldrank.base.notes import Note
    from goldrank.base.types import Path
    from goldrank.data.table import Part


@dataclass(frozen=True)
class Form:
    """A form in which results are shown. The table of all forms is in `goldrank.report.show`."""

    about: str
    """A description for people."""
    writer: str
    """The module and the function that write a result, such as `goldrank.report.markdown:render`."""
    endings: tuple[str, ...] = ()
    """Endings of files of this form."""
    binary: bool = False
    """Whether its writer makes bytes, which only go into files."""


Forms: TypeAlias = Mapping[str, Form]
"""Forms by their names."""


class Result(ABC):
    """The result of a verb: tables, sentences and charts, in every form that goldrank writes.

    Results are equal if their content is; NaN equals NaN. Data classes leave that to this class: `eq=False`.
    """

    own_forms: ClassVar[Forms] = {}
    """Forms that only this kind of result has, and forms that it writes differently."""

    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """Tables, sentences and charts, as data."""

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Flat records, all with the same keys. Their values are plain: text, numbers, None."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The result as plain Python values."""

    if TYPE_CHECKING:
        # Kinds of results have fields or properties of these names.
        @property
        def words(self) -> str:
            """The result in one sentence."""

        @property
        def notes(self) -> tuple[Note, ...]:
            """Remarks and warnings."""

    @property
    def title(self) -> str:
        """The title of its page."""
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__)
        return words.capitalize()

    @property
    def signatures(self) -> tuple[str, ...]:
        """Lines that say where its numbers come from, which pages, papers and JSON show; () for most results."""
        return ()

    def show(self, form: str = "terminal") -> None:
        """Print it in one of the forms of `goldrank.show`: "terminal", "markdown", "csv", "latex", "json" ...

        Parameters
        ----------
        form : str
            The name of a form.

        Raises
        ------
        OptionError
            If there is no such form, or not of this result.
        """
        from goldrank.report.show import print_result

        print_result(self, form)

    def save(self, path: Path) -> None:
        """Write it to a file, in the form that the ending names: .json, .csv, .tsv, .md, .tex, .html, .svg, .parquet,
        .txt.

        Parameters
        ----------
        path : str or path
            The file, which is written completely or not at all.

        Raises
        ------
        OptionError
            If the ending names no form of this result.
        InputError
            If the file cannot be written.
        """
        from goldrank.report.show import save

        save(self, path)

    def to_json(self) -> str:
        """`to_dict` as JSON; NaN becomes null."""
        import json

        return json.dumps(without_nan(self.to_dict()), ensure_ascii=True, indent=1)

    def to_csv(self) -> str:
        """`rows` as CSV."""
        return self._in_form("csv")

    def to_markdown(self) -> str:
        """Tables and sentences as Markdown."""
        return self._in_form("markdown")

    def to_latex(self) -> str:
        """Tables for a paper (they need the package booktabs)."""
        return self._in_form("latex")

    def to_html(self) -> str:
        """A page for any browser, which loads nothing from other places."""
        return self._in_form("html")

    def to_svg(self) -> str:
        """The charts, one below the other; an error if there are none."""
        return self._in_form("svg")

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

    def to_arrow(self) -> pyarrow.Table:
        """`rows` as a table of Arrow."""
        with needed("pyarrow"):
            import pyarrow

        return pyarrow.Table.from_pylist([with_utf8(row) for row in self.rows()])

    def _in_form(self, form: str) -> str:
        from goldrank.report.show import render

        return render(self, form)

    def _repr_html_(self) -> str:
        from goldrank.data.table import notebook_html

        return notebook_html(self.parts())

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, Result):
            return NotImplemented
        if is_dataclass(self):
            return same_fields(self, other)
        return same(self.to_dict(), other.to_dict())

    __hash__ = None  # type: ignore[assignment]  # results hold arrays and mappings

    def __str__(self) -> str:
        return self._in_form("terminal").removesuffix("\n")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.words!r})"


def with_utf8(row: Mapping[str, Any]) -> dict[str, Any]:
    """A record for data frames: undecodable bytes in its texts become escapes."""
    record = dict(row)
    for key, value in row.items():
        if isinstance(value, str):
            record[key] = utf8(value)
    return record
