"""One budget and one set of limits for evaluators and shards in many processes."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any

from jurat import _jurat

__all__ = ["Coordinator"]

#: The variable in which processes find the token.
_TOKEN = "JURAT_COORDINATOR_TOKEN"


class Coordinator:
    """Leases a budget, requests in flight and rates to all processes that are given its address: evaluators of batches (`coordinator=` of `Suite.evaluator`), and shards (`--coordinator`).

    What is spent and what is leased never exceed the budget together, also when processes die. It answers until it is closed, or the block that it is used in ends.

    Args:
        budget_usd: What all of them may spend, in US dollars.
        budget_tokens: How many tokens they may use, input and output together.
        budget_calls: How many requests they may make.
        concurrency: How many requests they may have in flight.
        rpm: How many requests they may make a minute.
        tpm: How many tokens they may use a minute.
        listen: The address to listen on. Another than loopback is reached by other machines: the network must be one that you trust.
        file: Where it writes down what it leases, so that another one can continue; default: a file that is removed at its end.
        token: What processes must have in their environment; default: that of this process, else a random one.

    Raises:
        UsageError: A limit or the address is none.
        RunError: The address is taken, or the file is used by another one.

    Example:
        >>> import jurat
        >>> with jurat.Coordinator(budget_calls=1000, concurrency=64) as coordinator:
        ...     coordinator.state()["limits"]["calls"]
        1000
    """

    def __init__(
        self,
        *,
        budget_usd: float | None = None,
        budget_tokens: int | None = None,
        budget_calls: int | None = None,
        concurrency: int | None = None,
        rpm: int | None = None,
        tpm: int | None = None,
        listen: str = "127.0.0.1:0",
        file: str | os.PathLike[str] | None = None,
        token: str | None = None,
    ) -> None:
        # Those who import the package need none of these.
        import secrets
        import tempfile

        #: What processes must have in their environment.
        self.token: str = token or os.environ.get(_TOKEN) or secrets.token_hex(16)
        self._scratch = tempfile.TemporaryDirectory(prefix="jurat-coordinator-") if file is None else None
        limits = {
            "budget_usd": budget_usd,
            "budget_tokens": budget_tokens,
            "budget_calls": budget_calls,
            "concurrency": concurrency,
            "rpm": rpm,
            "tpm": tpm,
        }
        books = file if self._scratch is None else os.path.join(self._scratch.name, "coordinator.jsonl")
        assert books is not None
        self._coordinator = _jurat.Coordinator(limits, listen, books, self.token)
        #: Where processes reach it.
        self.url: str = self._coordinator.url()

    @property
    def environment(self) -> dict[str, str]:
        """What processes need in their environment: `runtime_env={"env_vars": coordinator.environment}` for Ray, `spark.executorEnv.…` for Spark, `os.environ` for this one."""
        return {_TOKEN: self.token}

    def state(self) -> dict[str, Any]:
        """What was spent, what is leased to whom, and how far shards are.

        Returns:
            The members of `GET /state`.

        Raises:
            UsageError: It is closed.
        """
        import json

        state: dict[str, Any] = json.loads(self._coordinator.state())
        return state

    def stop(self) -> None:
        """Leases nothing more: processes finish what is in flight, and the cases after it are `not_run`.

        Raises:
            UsageError: It is closed.
        """
        self._coordinator.stop()

    def close(self) -> None:
        """Ends it. Doing so again changes nothing."""
        self._coordinator.close()
        if self._scratch is not None:
            self._scratch.cleanup()

    def __enter__(self) -> Coordinator:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Coordinator at {self.url}>"
