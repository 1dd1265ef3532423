"""Code of the caller's, as the engine calls it: plain functions and coroutines alike."""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    import inspect
    from typing import TypeAlias

    #: Takes the result of a coroutine, or what it raised.
    Settle: TypeAlias = "Callable[[Any, BaseException | None], None]"

__all__ = [
    "Caller",
    "begin",
    "compiled",
    "is_awaitable",
    "is_known_elsewhere",
    "n_positional",
    "parameters",
    "settled",
    "source_of",
    "then",
]

_lock = threading.Lock()
_loop: tuple[int, asyncio.AbstractEventLoop] | None = None
#: Event loops hold their tasks weakly.
_tasks: set[asyncio.Task[None]] = set()


class Caller:
    """Who runs a suite: the event loop that coroutines are awaited on, and the context variables that code sees.

    Without a loop coroutines are awaited on one that the package has for itself, in a thread of its own.
    """

    __slots__ = ("_context", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop
        self._context: Context = copy_context()

    def call(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """Calls a function with the context variables of the caller. Each call has a copy, because calls run at the same time."""
        return self._context.copy().run(function, argument)

    def begin(self, awaitable: Awaitable[Any], settle: Settle) -> None:
        """Has it awaited, and hands over its result."""
        loop = _event_loop() if self._loop is None else self._loop
        try:
            loop.call_soon_threadsafe(_begin, loop, awaitable, settle, context=self._context.copy())
        except RuntimeError as error:
            # The loop is closed: without this Python warns of a coroutine that was never awaited.
            if hasattr(awaitable, "close"):
                awaitable.close()
            settle(None, error)


def then(returned: Any, finish: Callable[[Any], Any]) -> Any:
    """What `finish` makes of the result of a call: now, or once a coroutine is through."""
    return _then(returned, finish) if is_awaitable(returned) else finish(returned)


async def _then(awaitable: Awaitable[Any], finish: Callable[[Any], Any]) -> Any:
    return finish(await awaitable)


def is_awaitable(returned: Any) -> bool:
    """Whether it has a result only later."""
    return hasattr(returned, "__await__")


def begin(awaitable: Awaitable[Any], settle: Settle) -> None:
    """Has it awaited where no caller is known, and hands over its result."""
    Caller().begin(awaitable, settle)


def _begin(loop: asyncio.AbstractEventLoop, awaitable: Awaitable[Any], settle: Settle) -> None:
    task = loop.create_task(_awaited(awaitable, settle))
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


async def _awaited(awaitable: Awaitable[Any], settle: Settle) -> None:
    try:
        value = await awaitable
    except BaseException as error:
        settle(None, error)
    else:
        settle(value, None)


def settled(returned: Any) -> Any:
    """The result of a call, waited for where it was called."""
    if is_awaitable(returned):
        # It takes longer to import than everything else together, and most code is plain.
        import asyncio

        return asyncio.run_coroutine_threadsafe(_then(returned, lambda it: it), _event_loop()).result()
    return returned


def _event_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        # A process that was forked has the loop but not its thread.
        if _loop is None or _loop[0] != os.getpid():
            import asyncio
            import atexit

            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_run, args=(loop,), name="jurat-asyncio", daemon=True)
            thread.start()
            atexit.register(_end, os.getpid(), loop, thread)
            _loop = (os.getpid(), loop)
        return _loop[1]


def _run(loop: asyncio.AbstractEventLoop) -> None:
    import asyncio

    loop.run_forever()
    # No caller waits any more: what is left is cancelled, and may clean up.
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left))
    loop.close()


def _end(process: int, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    if process == os.getpid():
        loop.call_soon_threadsafe(loop.stop)
        thread.join(1)


def parameters(function: Callable[..., Any]) -> list[inspect.Parameter] | None:
    """The parameters of a function; `None` when it does not say."""
    import inspect

    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def n_positional(function: Callable[..., Any]) -> int:
    """How many arguments a function takes by their place; one that does not say takes one."""
    found = parameters(function)
    if found is None:
        return 1
    if any(it.kind is it.VAR_POSITIONAL for it in found):
        return 2
    return sum(it.kind in (it.POSITIONAL_ONLY, it.POSITIONAL_OR_KEYWORD) for it in found)


def is_known_elsewhere(code: Any) -> bool:
    """Whether another process finds it: functions go there by their names, so lambdas and inner functions do not arrive."""
    import pickle

    try:
        pickle.dumps(code)
    except Exception:
        return _sends_functions_as_they_are()
    return True


#: Picklers that write the code of a function instead of its name; joblib, Ray and Spark have copies of the first under names of their own.
_WRITE_CODE = ("cloudpickle", "dill")


def _sends_functions_as_they_are() -> bool:
    """Whether one of those picklers is at work. That it is loaded says nothing: pickle itself may have been called."""
    import sys

    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if any(it in frame.f_globals.get("__name__", "").split(".") for it in _WRITE_CODE):
            return True
    return False


def source_of(code: Callable[..., Any]) -> str:
    """The text of a function, for people to know it by, or of a class."""
    import inspect
    import textwrap

    try:
        lines = textwrap.dedent(inspect.getsource(code)).strip()
    except (OSError, TypeError):
        return getattr(code, "__qualname__", repr(code))
    return lines if len(lines) <= 2000 or isinstance(code, type) else f"{lines[:2000]} …"


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
