//! Values that must not be seen.

use jurat_format::value::{Map, Val, Value};
use secrecy::{ExposeSecret, SecretString};

use crate::codec::Reply;

/// What stands in the place of a secret.
pub(crate) const HIDDEN: &str = "[secret]";

/// From which length on a secret is looked for in evidence.
const LONG: usize = 12;

/// The secrets that go to an endpoint. Whatever comes back from there is looked through for them, since servers like to echo what they
/// were sent.
#[derive(Debug, Default)]
pub(crate) struct Secrets(Vec<SecretString>);

impl Secrets {
    pub(crate) fn add(&mut self, value: &str) {
        self.0.push(SecretString::from(value));
    }

    pub(crate) fn and(mut self, others: Secrets) -> Secrets {
        self.0.extend(others.0);
        self
    }

    /// A message without them. Messages are cut, so one of them may be there in part.
    pub(crate) fn scrubbed(&self, message: String) -> String {
        // Shorter ones are placeholders such as `none`, and hiding them would only hide words.
        const SHORT: usize = 5;
        self.long(SHORT).fold(self.hidden(message, SHORT), |message, secret| without_cut(message, secret, SHORT))
    }

    /// What a model said, without them. Only long ones are looked for: an answer is evidence, and a short key (`ollama`) may be a word in it.
    pub(crate) fn scrub_reply(&self, reply: &mut Reply) {
        let hide = |text: &mut String| *text = self.hidden(std::mem::take(text), LONG);
        hide(&mut reply.text);
        let Reply { tool_calls, used, served, reasoning, .. } = reply;
        used.iter_mut().filter_map(|it| it.output.as_mut()).for_each(hide);
        if let Some(reasoning) = reasoning {
            hide(&mut reasoning.text);
            self.scrub_value(&mut reasoning.state);
        }
        for call in tool_calls.iter_mut().chain(used.iter_mut().map(|it| &mut it.call)) {
            hide(&mut call.id);
            hide(&mut call.name);
            self.scrub_value(&mut call.arguments);
        }
        [&mut served.model, &mut served.fingerprint, &mut served.request_id].into_iter().flatten().for_each(hide);
    }

    /// What a tool returned, without them, and by the same rule.
    pub(crate) fn scrub_value(&self, value: &mut Value) {
        if self.found_in(&value.to_json(), LONG) {
            self.hide_in(value, LONG);
        }
    }

    /// The secrets that are long enough to be looked for in evidence.
    pub(crate) fn long_enough(&self) -> impl Iterator<Item = &str> {
        self.long(LONG)
    }

    fn long(&self, least: usize) -> impl Iterator<Item = &str> {
        self.0.iter().map(ExposeSecret::expose_secret).filter(move |it| it.len() >= least)
    }

    fn found_in(&self, text: &str, least: usize) -> bool {
        self.long(least).any(|it| text.contains(it))
    }

    fn hidden(&self, mut text: String, least: usize) -> String {
        for secret in self.long(least) {
            if text.contains(secret) {
                text = text.replace(secret, HIDDEN);
            }
        }
        text
    }

    fn hide_in(&self, value: &mut Value, least: usize) {
        *value = match std::mem::replace(value, Val::Null) {
            Val::Str(text) => Val::from(self.hidden(text.into_owned(), least)),
            Val::List(items) => items
                .into_iter()
                .map(|mut it| {
                    self.hide_in(&mut it, least);
                    it
                })
                .collect(),
            Val::Map(map) => {
                let member = |(key, value): (&str, &Value)| {
                    let mut value = value.clone();
                    self.hide_in(&mut value, least);
                    (self.hidden(key.to_owned(), least), value)
                };
                Val::Map(map.iter().map(member).collect::<Map<'static>>())
            }
            other => other,
        };
    }
}

/// A text without the beginning of a secret where it was cut: before an ellipsis, or at its end.
fn without_cut(text: String, secret: &str, least: usize) -> String {
    let beginnings = (least..secret.len()).rev().filter_map(|end| secret.get(..end));
    for beginning in beginnings {
        if let Some(rest) = text.strip_suffix(beginning) {
            return format!("{rest}{HIDDEN}");
        }
        let cut = format!("{beginning}…");
        if text.contains(&cut) {
            return text.replace(&cut, &format!("{HIDDEN}…"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_wherever_a_message_was_cut() {
        let mut secrets = Secrets::default();
        secrets.add("sk-0123456789");
        let message = "no sk-0123456789 for you, sk-0123456789";
        for end in 0..=message.len() {
            let (whole, marked) = (message[..end].to_owned(), format!("`{}…` (2 requests)", &message[..end]));
            for cut in [whole, marked] {
                let scrubbed = secrets.scrubbed(cut.clone());
                assert!(!scrubbed.contains("sk-01"), "{cut}: {scrubbed}");
            }
        }
        let plain = "no secrets in here, not even sk-0";
        assert_eq!(secrets.scrubbed(plain.to_owned()), plain);
    }
}
