"""The result of an evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jurat.run import Case, Run

if TYPE_CHECKING:
    import pandas
    import polars

    from jurat.queue import GenAIEvalRecord

__all__ = ["EvalResults", "GenAIEvalResults"]


class GenAIEvalResults:
    """The result of an evaluation: a case for each record, in the order of the records. `run` has everything.

    A case is found by the id of its record; where records have none, by their `uid`.
    """

    def __init__(self, run: Run, records: Sequence[GenAIEvalRecord] = ()) -> None:
        self.run = run
        #: The records without ids, in the order of their cases.
        self._records = records
        self._places: dict[str, int] = {}

    def as_table(self, show_tasks: bool = False) -> None:
        """Prints what the command prints: the cases that failed, and tasks in total; with `show_tasks` every task of every case."""
        print(self.run.table(tasks=show_tasks), end="")

    def __getitem__(self, record_id: str) -> Case:
        return self.run.case(self._case_id(record_id))

    def _case_id(self, record_id: str) -> str:
        """The id of a case, which the run gives where its record has none."""
        place = self._places.get(record_id)
        if place is None and self._records:
            # A record has a uid once it is asked for it, which may be after the last look.
            self._places = {it._uid: ix for ix, it in enumerate(self._records) if it._uid is not None}
            place = self._places.get(record_id)
        return record_id if place is None else self.run._at(place).id

    def __reduce__(self) -> tuple[Any, ...]:
        return GenAIEvalResults, (self.run, self._records)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.run)

    def __len__(self) -> int:
        return len(self.run)

    @property
    def pass_rate(self) -> float | None:
        """The share of what was judged that passed; `None` when nothing was judged."""
        return self.run.pass_rate

    @property
    def successful_count(self) -> int:
        """How many records could be judged, whatever came of it."""
        return len(self.run) - self.failed_count

    @property
    def failed_count(self) -> int:
        """How many records could not be judged."""
        return int(self.run._figures["cases"]["error"])

    @property
    def errored_tasks(self) -> list[str]:
        """The ids of the records that could not be judged."""
        return [it.id for it in self.run if it.verdict == "error"]

    def explain(self, record_id: str, task: str) -> str:
        """Everything that a verdict rests on, in words."""
        return self.run.explain(self._case_id(record_id), task)

    def to_dict(self) -> dict[str, Any]:
        """The results as an object."""
        return self.run.to_dict()

    def model_dump_json(self) -> str:
        """The results as JSON."""
        return self.run.results_json()

    def to_dataframe(self, polars: bool = False) -> Any:
        """The result of each task of each record, as a data frame of pandas, or of Polars."""
        return self.run.to_polars(details=True) if polars else self.run.to_pandas(details=True)

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a data frame of pandas."""
        return self.run.to_pandas(details=True)

    def to_polars(self) -> polars.DataFrame:
        """The same as a data frame of Polars."""
        return self.run.to_polars()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.run.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.run!r}>"

    def _repr_html_(self) -> str:
        return self.run._repr_html_()


#: The same under the name that later releases of its origin have.
EvalResults = GenAIEvalResults
