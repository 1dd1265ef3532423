"""Suites over batches of Arrow, without a run: for engines that distribute rows.

`Suite.evaluator` makes an `Evaluator`. `jurat.ray`, `jurat.spark`, `jurat.daft` and `jurat.dask` are the few lines that each engine needs around it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from jurat import _jurat
from jurat._called import Caller
from jurat.errors import UsageError
from jurat.rows import given

if TYPE_CHECKING:
    from jurat.suite import Suite

__all__ = ["Evaluator", "Keep", "Layout"]

#: What a row of the results is: a case, or a task of a case.
Layout: TypeAlias = Literal["cases", "tasks"]

#: Of which tasks results say what was expected and what was found.
Keep: TypeAlias = Literal["failed", "all", "none"]

#: How many rows are judged at a time where nothing is asked.
_ROWS = 4096


class Evaluator:
    """A suite over batches: Arrow in, Arrow out, and nothing stored. `Suite.evaluator` makes one.

    It goes to other processes as what it was made from, and opens connections there when it is first used. Rows are known by their own id or by their
    content, however they are cut into batches, so equal rows have equal ids.

    Args:
        suite: The suite.
        options: How models are asked.
        wanted: What the results are.
        carried: The types of the columns that are carried, where they are known.

    Example:
        >>> import jurat, pickle, pyarrow
        >>> suite = jurat.Suite({"tasks": [{"id": "paid", "field_path": "status", "operator": "equals", "expected_value": "paid"}]})
        >>> evaluator = suite.evaluator(carry=["customer"])
        >>> rows = pyarrow.table({"id": ["r1", "r2"], "status": ["paid", "due"], "customer": ["Ada", "Bo"]})
        >>> for row in evaluator(rows).select(["case", "verdict", "customer"]).to_pylist():
        ...     print(row)
        {'case': 'r1', 'verdict': 'passed', 'customer': 'Ada'}
        {'case': 'r2', 'verdict': 'failed', 'customer': 'Bo'}
        >>> pickle.loads(pickle.dumps(evaluator))(rows).num_rows
        2
    """

    def __init__(self, suite: Suite, options: Mapping[str, Any], wanted: Mapping[str, Any], carried: Any = None) -> None:
        self._suite = suite
        self._options: dict[str, Any] = {key: dict(it) if isinstance(it, Mapping) else it for key, it in options.items() if it is not None}
        self._wanted = dict(wanted)
        self._carried = carried
        self._engines: dict[int, _jurat.BatchEvaluator] = {}
        self._asks = self._engine().asks

    @property
    def asks(self) -> bool:
        """Whether the suite makes requests: to models, to code of evaluators, to tools."""
        return self._asks

    @property
    def batch_rows(self) -> int:
        """How many rows a batch should have: enough to use the endpoint fully where something is asked, and few enough that memory stays small."""
        return max(256, 8 * (self._options.get("concurrency") or 16)) if self._asks else _ROWS

    @property
    def schema(self) -> Any:
        """The columns of the results, known before any row is.

        Returns:
            A `pyarrow.Schema`.

        Raises:
            UsageError: `carry` has names only, so that the types of those columns are known with the first batch; a `pyarrow.Schema` says them.
        """
        if self._wanted["carry"] and self._carried is None:
            raise UsageError("the types of the columns that `carry` names are known with the first batch; give `carry` as a `pyarrow.schema` to know them before")
        return self._schema(self._carried)

    def _schema(self, rows: Any) -> Any:
        return self._engine().schema(rows)

    def open(self) -> None:
        """Makes ready what the suite asks, so that what is missing in this process is known before the first row.

        Raises:
            ModelError: A model cannot be asked; the message names the variable that is not set.
            SuiteError: Something else is missing.
        """
        self._engine().open()

    def __call__(self, batch: Any) -> Any:
        """Judges a batch.

        Args:
            batch: A batch or a table of Arrow, a data frame, or columns by name.

        Returns:
            The results, in the order of the rows: a `pyarrow.RecordBatch`.

        Raises:
            UsageError: A column that is needed is not there, or holds what JSON has no form for.
            ModelError: A model cannot be asked.
            RunError: The batch could not be judged to its end.
        """
        results = self._engine().evaluate(_batch(batch))
        if self._carried is not None and results.schema != self.schema:
            results = results.cast(self.schema)
        return results

    def iterate(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Judges batches as they come; for Spark's `mapInArrow`.

        Args:
            batches: Batches of Arrow. Large ones are judged in parts.

        Returns:
            An iterator over the results, each a `pyarrow.RecordBatch`.

        Raises:
            UsageError: As for a single batch.
            ModelError: As for a single batch.
            RunError: As for a single batch.
        """
        for batch in batches:
            batch = _batch(batch)
            for start in range(0, batch.num_rows, self.batch_rows):
                yield self(batch.slice(start, self.batch_rows))

    def read(self, reader: Any) -> Any:
        """Judges a stream of Arrow while it is read, a part at a time, so that memory does not grow with it. Closing the result ends it.

        Args:
            reader: A reader, a table, a data set's scanner, or anything else with a stream of Arrow.

        Returns:
            A `pyarrow.RecordBatchReader` of the results.

        Raises:
            UsageError: `reader` is no stream of Arrow.
        """
        import pyarrow

        if hasattr(reader, "to_reader"):
            reader = reader.to_reader()
        if not hasattr(reader, "__arrow_c_stream__"):
            raise UsageError(f"a reader, a table or another stream of Arrow is read, not a `{type(reader).__name__}`")
        reader = reader if isinstance(reader, pyarrow.RecordBatchReader) else pyarrow.RecordBatchReader.from_stream(reader)
        schema = self._schema(reader.schema) if self._carried is None else self.schema
        return pyarrow.RecordBatchReader.from_batches(schema, self.iterate(reader))

    def _engine(self) -> _jurat.BatchEvaluator:
        # A process that was forked has none of the threads of the one before it.
        process = os.getpid()
        engine = self._engines.get(process)
        if engine is None:
            made = _jurat.BatchEvaluator(self._suite._suite, self._options, self._wanted, Caller())
            engine = self._engines.setdefault(process, made)
        return engine

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        if self._options.get("variables"):
            raise UsageError("an evaluator with `variables` cannot be pickled, because they may be keys; set them in the environment of the workers")
        made = (_jurat.__version__, self._suite._suite.digest, tuple(sys.version_info[:2]))
        return _made, (made, self._suite, self._options, self._wanted, self._carried)

    def __repr__(self) -> str:
        return f"<Evaluator of {self._suite.name}: {self._wanted['layout']}>"


def evaluator(suite: Suite, wanted: dict[str, Any], carry: Sequence[str] | Any, options: Mapping[str, Any]) -> Evaluator:
    """An evaluator, with what is carried by names or with types."""
    names = getattr(carry, "names", carry)
    if isinstance(names, str):
        raise UsageError(f"`carry` is a list of columns; `[{names!r}]` carries one")
    carried = carry if hasattr(carry, "names") else None
    return Evaluator(suite, options, {**wanted, "carry": [str(it) for it in names]}, carried)


def _made(made: tuple[str, str, tuple[int, int]], suite: Suite, options: Any, wanted: Any, carried: Any) -> Evaluator:
    version, digest, python = made
    if version != _jurat.__version__:
        raise UsageError(f"the evaluator was made by jurat {version}, and this worker has {_jurat.__version__}; results would differ, so install the same version")
    if digest != suite._suite.digest:
        raise UsageError(f"the suite `{suite.name}` is another one on this worker: a file that it reads differs from the one where the evaluator was made")
    if suite._code and python != tuple(sys.version_info[:2]):
        raise UsageError(f"the suite `{suite.name}` has functions of Python {python[0]}.{python[1]}, and this worker runs {sys.version_info[0]}.{sys.version_info[1]}")
    return Evaluator(suite, options, wanted, carried)


def _batch(rows: Any) -> Any:
    """Rows as one batch."""
    import pyarrow

    if isinstance(rows, pyarrow.RecordBatch):
        return rows
    if isinstance(rows, Mapping):
        rows = pyarrow.table(dict(rows))
    elif not isinstance(rows, pyarrow.Table):
        rows, kind = given(rows)
        if kind == "rows":
            return pyarrow.RecordBatch.from_struct_array(pyarrow.array(list(rows)))
        rows = pyarrow.table(rows)
    batches = rows.combine_chunks().to_batches()
    return batches[0] if batches else pyarrow.RecordBatch.from_pylist([], schema=rows.schema)
