"""The end of a conversation."""

from __future__ import annotations

from typing import Final

__all__ = ["END"]

#: The target of an edge that ends the conversation.
END: Final = "__end__"
