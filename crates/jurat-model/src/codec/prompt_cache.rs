//! The places up to which a provider may cache a prompt, for those that want them marked. Others find out by themselves what they have read before.

use jurat_core::effect::{Message, ModelRequest};

use super::Unsupported;

/// How many marks a request may have.
const MOST_MARKS: usize = 4;

/// The messages of a request that end what may be cached.
pub(super) struct PromptCache<'r>(Vec<&'r Message>);

impl<'r> PromptCache<'r> {
    pub(super) fn of(request: &'r ModelRequest, provider: &str) -> Result<PromptCache<'r>, Unsupported> {
        let marked = request.prompt_cache.iter().filter_map(|it| request.messages.get(*it as usize)).collect();
        match request.prompt_cache.len() > MOST_MARKS {
            true => Err(Unsupported(format!("{provider} takes at most {MOST_MARKS} messages with `prompt_cache`"))),
            false => Ok(PromptCache(marked)),
        }
    }

    /// Whether what may be cached ends with this message of the request.
    pub(super) fn ends_with(&self, message: &Message) -> bool {
        self.0.iter().any(|it| std::ptr::eq(*it, message))
    }
}
