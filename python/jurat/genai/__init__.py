"""Prompts, and models that are asked one directly.

>>> from jurat.genai import Prompt
>>> prompt = Prompt("Translate into ${language}: ${text}", model="gpt-5-mini", provider="openai")
>>> prompt.parameters
['language', 'text']
>>> prompt.bind(language="French").parameters
['text']
"""

from jurat.genai.agent import Agent, AgentResponse
from jurat.genai.prompt import Prompt, Score
from jurat.genai.provider import Provider

__all__ = ["Agent", "AgentResponse", "Prompt", "Provider", "Score"]
