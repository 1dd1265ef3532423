"""Records: what was asked and answered, to be judged.

>>> from jurat.queue import GenAIEvalRecord
>>> record = GenAIEvalRecord(context={"question": "Why?", "answer": "Because."}, id="r1")
>>> record.context["answer"]
'Because.'
"""

from __future__ import annotations

import time
import uuid
from datetime import datetime, timezone
from typing import Any

__all__ = ["EvalRecord", "GenAIEvalRecord"]


class GenAIEvalRecord:
    """One thing to judge. Its context is a dict, a dataclass or a pydantic model; tasks read it when the record is evaluated."""

    __slots__ = ("_created", "_session_id", "_uid", "context", "record_id", "tags", "trace_id")

    def __init__(
        self, context: Any = None, id: str | None = None, session_id: str | None = None, trace_id: str | None = None
    ) -> None:
        self.context: Any = {} if context is None else context
        self.record_id: str = "" if id is None else str(id)
        self.trace_id: str | None = trace_id
        self.tags: list[str] = []
        self._session_id = session_id
        self._uid: str | None = None
        self._created = time.time()

    @property
    def uid(self) -> str:
        """An id that no other record has."""
        if self._uid is None:
            self._uid = str(uuid.uuid4())
        return self._uid

    @property
    def session_id(self) -> str:
        """The session that it belongs to; default: one of its own."""
        if self._session_id is None:
            self._session_id = str(uuid.uuid4())
        return self._session_id

    @property
    def created_at(self) -> datetime:
        """When it was made."""
        return datetime.fromtimestamp(self._created, tz=timezone.utc)

    def add_tag(self, key: str, value: str) -> None:
        """Adds a tag `key=value`."""
        self.tags.append(f"{key}={value}")

    def update_context_field(self, key: str, value: Any) -> None:
        """Replaces one member of the context, which must be a dict."""
        if not isinstance(self.context, dict):
            from jurat.errors import UsageError

            raise UsageError(f"the context is a `{type(self.context).__name__}`; only members of a dict can be replaced")
        self.context[key] = value

    def model_dump_json(self) -> str:
        """The record as JSON."""
        from jurat._jurat import to_json

        shown = {"record_id": self.record_id, "uid": self.uid, "session_id": self.session_id, "tags": self.tags}
        return to_json({**shown, "context": self.context})

    def __repr__(self) -> str:
        shown = self.record_id or "without id"
        names = ", ".join(map(str, self.context)) if isinstance(self.context, dict) else type(self.context).__name__
        return f"<{type(self).__name__} {shown}: {names}>"


#: The same under the name that later releases of its origin have.
EvalRecord = GenAIEvalRecord
