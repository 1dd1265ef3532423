"""The target of an edge that ends a conversation."""

from jurat.scenario.end import END

__all__ = ["END"]
