"""What the package says while it works, through Python's own `logging`, under the name `jurat`."""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import dataclass
from enum import Enum

__all__ = ["LogLevel", "LoggingConfig", "RustyLogger", "WriteLevel"]


class LogLevel(Enum):
    """How much is said."""

    Trace = 5
    Debug = logging.DEBUG
    Info = logging.INFO
    Warn = logging.WARNING
    Error = logging.ERROR


class WriteLevel(Enum):
    """Where it is said."""

    Stdout = "stdout"
    Stderr = "stderr"


@dataclass(frozen=True)
class LoggingConfig:
    """How much is said, where, and how."""

    show_threads: bool = True
    log_level: LogLevel = LogLevel.Info
    write_level: WriteLevel = WriteLevel.Stdout
    use_json: bool = False


class RustyLogger:
    """A logger with levels by these names.

    >>> from jurat.logging import LogLevel, LoggingConfig, RustyLogger
    >>> logger = RustyLogger.get_logger(LoggingConfig(show_threads=False, log_level=LogLevel.Info))
    >>> logger.info("{} records are ready", 3)
    INFO jurat: 3 records are ready
    """

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger

    @staticmethod
    def setup_logging(config: LoggingConfig | None = None) -> None:
        """Says from now on what the configuration says."""
        RustyLogger.get_logger(config)

    @staticmethod
    def get_logger(config: LoggingConfig | None = None) -> RustyLogger:
        """The logger of the package, set up in this way."""
        config = config or LoggingConfig()
        logger = logging.getLogger("jurat")
        logger.setLevel(config.log_level.value)
        handler = logging.StreamHandler(sys.stdout if config.write_level is WriteLevel.Stdout else sys.stderr)
        thread = " [%(threadName)s]" if config.show_threads else ""
        plain = logging.Formatter(f"%(levelname)s %(name)s{thread}: %(message)s")
        handler.setFormatter(_Json() if config.use_json else plain)
        logger.handlers[:] = [handler]
        logger.propagate = False
        return RustyLogger(logger)

    def trace(self, message: str, *args: object) -> None:
        """Says the least important."""
        self._say(LogLevel.Trace, message, args)

    def debug(self, message: str, *args: object) -> None:
        """Says what helps to find mistakes."""
        self._say(LogLevel.Debug, message, args)

    def info(self, message: str, *args: object) -> None:
        """Says what is good to know."""
        self._say(LogLevel.Info, message, args)

    def warn(self, message: str, *args: object) -> None:
        """Says what is odd."""
        self._say(LogLevel.Warn, message, args)

    def error(self, message: str, *args: object) -> None:
        """Says what went wrong."""
        self._say(LogLevel.Error, message, args)

    def _say(self, level: LogLevel, message: str, args: tuple[object, ...]) -> None:
        self._logger.log(level.value, message.format(*args) if args else message)


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        said = {"level": record.levelname, "logger": record.name, "thread": record.threadName}
        return json.dumps({**said, "message": record.getMessage()})
