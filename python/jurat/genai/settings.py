"""How a model is asked, as suites have it."""

from __future__ import annotations

import json
from typing import Any

from jurat.genai.prompt import Prompt

__all__ = ["Roles", "model_of"]

_KNOWN = ("temperature", "top_p", "max_tokens", "seed", "base_url", "api_key_env", "api_key_command", "headers", "price", "structured", "reasoning", "timeout", "rpm", "tpm", "shared", "extra")


def model_of(prompt: Prompt) -> str | dict[str, Any]:
    """The model of a prompt, with its settings when it has any."""
    name = prompt.provider.specification(prompt.model)
    if prompt.model_settings is None:
        return name
    from jurat._jurat import to_json

    settings = {key: it for key, it in json.loads(to_json(prompt.model_settings)).items() if it is not None}
    model: dict[str, Any] = {"model": name, **{key: settings.pop(key) for key in _KNOWN if key in settings}}
    if settings:
        # What suites have no name for goes to the provider as it is.
        model["extra"] = {**model.get("extra", {}), **settings}
    return model


class Roles:
    """Names for the models of prompts; prompts with the same model share one."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.models: dict[str, str | dict[str, Any]] = {}

    def role(self, prompt: Prompt) -> str:
        """The role of a prompt's model."""
        model = model_of(prompt)
        for role, known in self.models.items():
            if known == model:
                return role
        role = self._prefix if not self.models else f"{self._prefix}_{len(self.models) + 1}"
        self.models[role] = model
        return role
