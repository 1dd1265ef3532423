//! The settings of an endpoint, each looked up once.

use jurat_core::effect::Endpoint;
use jurat_format::value::{Map, Val, Value};

use super::{Structured, Unsupported};

/// How much a model is to think.
#[derive(Clone, Copy)]
pub(super) enum Thinking<'e> {
    Effort(&'e str),
    /// The most tokens of it.
    Budget(&'e Value),
}

/// The settings of an endpoint. What a codec does not write it must refuse.
#[derive(Default)]
pub(super) struct Settings<'e> {
    pub(super) temperature: Option<&'e Value>,
    pub(super) top_p: Option<&'e Value>,
    pub(super) max_tokens: Option<&'e Value>,
    pub(super) seed: Option<&'e Value>,
    pub(super) extra: Option<&'e Map<'static>>,
    pub(super) reasoning: Option<Thinking<'e>>,
    /// How the endpoint is sent the schema of a reply; the codec's own way when it is absent.
    pub(super) structured: Option<Structured>,
    /// In what the provider differs from others of its codec.
    quirks: Option<&'e Map<'static>>,
}

impl<'e> Settings<'e> {
    pub(super) fn of(endpoint: &'e Endpoint) -> Result<Settings<'e>, Unsupported> {
        let mut settings = Settings::default();
        for (name, value) in &endpoint.settings {
            match (name.as_str(), value) {
                ("temperature", _) => settings.temperature = Some(value),
                ("top_p", _) => settings.top_p = Some(value),
                ("max_tokens", _) => settings.max_tokens = Some(value),
                ("seed", _) => settings.seed = Some(value),
                // Read with the request, which may ask for them too.
                ("logprobs", _) => {}
                ("reasoning", _) => settings.reasoning = Thinking::read(value),
                ("extra", Val::Map(extra)) => settings.extra = Some(extra),
                ("structured", _) => settings.structured = value.as_str().and_then(Structured::named),
                ("quirks", Val::Map(quirks)) => settings.quirks = Some(quirks),
                _ => return Err(Unsupported(format!("there is no setting `{name}`"))),
            }
        }
        Ok(settings)
    }

    /// In what the provider differs from others of its codec.
    pub(super) fn quirk(&self, name: &str) -> Option<&'e str> {
        self.quirks?.get(name)?.as_str()
    }

    /// Refuses ways to send the schema that a provider does not have.
    pub(super) fn no_structured(&self, provider: &str, without: &[Structured]) -> Result<(), Unsupported> {
        match self.structured.filter(|it| without.contains(it)) {
            None => Ok(()),
            Some(it) => Err(Unsupported(format!("{provider} has no `structured: {}`; leave it out", it.name()))),
        }
    }

    /// The effort of reasoning, for a provider that has no bound for it.
    pub(super) fn effort(&self, provider: &str) -> Result<Option<&'e str>, Unsupported> {
        match self.reasoning {
            None => Ok(None),
            Some(Thinking::Effort(effort)) => Ok(Some(effort)),
            Some(Thinking::Budget(_)) => {
                Err(Unsupported(format!("{provider} has no `budget` of reasoning; give `reasoning` an effort")))
            }
        }
    }

    pub(super) fn no_seed(&self, provider: &str) -> Result<(), Unsupported> {
        match self.seed {
            None => Ok(()),
            Some(_) => Err(Unsupported(format!("{provider} has no `seed`; leave it out"))),
        }
    }
}

impl<'e> Thinking<'e> {
    fn read(value: &'e Value) -> Option<Thinking<'e>> {
        let effort = value.as_str().or_else(|| value.get("effort")?.as_str()).map(Thinking::Effort);
        effort.or_else(|| value.get("budget").map(Thinking::Budget))
    }
}
