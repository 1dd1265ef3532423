"""Code of the caller's, as the engine calls it: plain functions and coroutines alike."""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

_lock = threading.Lock()
_loop: tuple[int, asyncio.AbstractEventLoop] | None = None


def settled(returned: Any) -> Any:
    """What a call came to. Coroutines run on one event loop of their own, so that many wait at the same time."""
    if inspect.isawaitable(returned):
        # It takes longer to import than everything else together, and most code is plain.
        import asyncio

        return asyncio.run_coroutine_threadsafe(_wrapped(returned), _event_loop()).result()
    return returned


async def _wrapped(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _event_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        # A process that was forked has the loop but not its thread.
        if _loop is None or _loop[0] != os.getpid():
            import asyncio

            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="jurat-asyncio", daemon=True).start()
            _loop = (os.getpid(), loop)
        return _loop[1]


def n_positional(function: Callable[..., Any]) -> int:
    """How many arguments a function takes by their place; one that does not say takes one."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    if any(it.kind is it.VAR_POSITIONAL for it in parameters):
        return 2
    return sum(it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD) for it in parameters)


def source_of(function: Callable[..., Any]) -> str:
    """The text of a function, for people to know it by."""
    try:
        lines = inspect.getsource(function).strip()
    except (OSError, TypeError):
        return getattr(function, "__qualname__", repr(function))
    return lines if len(lines) <= 2000 else f"{lines[:2000]} …"


def compiled(source: str, what: str) -> Callable[..., Any]:
    """A function from its text: an expression that is one, such as a lambda, or a `def`."""
    names: dict[str, Any] = {}
    try:
        try:
            function = eval(compile(source.strip(), f"<{what}>", "eval"), names)
        except SyntaxError:
            exec(compile(source, f"<{what}>", "exec"), names)
            functions = [it for name, it in names.items() if name != "__builtins__" and callable(it)]
            function = functions[-1] if functions else None
    except Exception as error:
        raise _not_code(what, str(error)) from error
    if not callable(function):
        raise _not_code(what, "it is no function")
    return function  # type: ignore[no-any-return]


def _not_code(what: str, reason: str) -> Exception:
    from jurat.errors import ScenarioError

    return ScenarioError(f"the source of {what} cannot be compiled: {reason}")


__all__ = ["compiled", "n_positional", "settled", "source_of"]
