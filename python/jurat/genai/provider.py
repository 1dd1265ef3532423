"""Who is asked."""

from __future__ import annotations

from enum import Enum

from jurat.errors import UsageError

__all__ = ["Provider"]


class Provider(Enum):
    """A provider of models. Those that are not supported say so where they are used."""

    OpenAI = "openai"
    Anthropic = "anthropic"
    Gemini = "gemini"
    Google = "google"
    Vertex = "vertex"
    Ollama = "ollama"
    Undefined = "undefined"

    @classmethod
    def of(cls, provider: Provider | str) -> Provider:
        """The provider of this name, whatever its case."""
        if isinstance(provider, Provider):
            return provider
        found = next((it for it in cls if provider.lower() in (it.value, it.name.lower())), None)
        if found is None:
            names = ", ".join(it.value for it in cls if it.is_supported)
            raise UsageError(f"there is no provider `{provider}`; there are {names}")
        return found

    @property
    def is_supported(self) -> bool:
        """Whether its models can be asked."""
        return self not in (Provider.Vertex, Provider.Undefined)

    def specification(self, model: str) -> str:
        """The model as suites name it: `provider/model`."""
        self.require()
        return f"{'gemini' if self is Provider.Google else self.value}/{model}"

    def require(self) -> None:
        """Says so when it is not supported."""
        if self is Provider.Vertex:
            raise UsageError("the provider `vertex` is not supported; models of Gemini are asked with `gemini` and an API key")
        if self is Provider.Undefined:
            raise UsageError("the provider is undefined; name one of openai, anthropic, gemini, google, ollama")
