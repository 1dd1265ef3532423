//! What a model is asked about each row, where its answers are what is evaluated.

use jurat_core::value::Val;

use crate::members::Members;
use crate::{Output, Prompt};

/// What a model is asked about each row. Several prompts and several models form a matrix.
///
/// ```
/// use jurat::{Ask, Prompt};
///
/// Ask::new("Answer in one sentence: ${question}");
/// Ask::prompts([("short", "${question}"), ("careful", "Think first, then answer: ${question}")])
///     .system("You help the customers of a home store.")
///     .models(["subject", "challenger"]);
/// ```
#[derive(Debug, Clone)]
pub struct Ask {
    members: Members,
}

impl Ask {
    /// One prompt. The role `subject` is asked unless [`models`](Ask::models) says otherwise.
    pub fn new(prompt: impl Into<Prompt>) -> Ask {
        let mut members = Members::default();
        members.put("prompt", prompt.into().value());
        Ask { members }
    }

    /// Several prompts, each with a name: each row is asked with each.
    pub fn prompts<N: Into<String>, P: Into<Prompt>>(prompts: impl IntoIterator<Item = (N, P)>) -> Ask {
        let mut members = Members::default();
        let prompts = prompts.into_iter().map(|(name, prompt)| (name.into(), prompt.into().value()));
        members.put("prompts", Val::Map(prompts.collect()));
        Ask { members }
    }

    /// The same with a system message.
    pub fn system(mut self, prompt: impl Into<Prompt>) -> Ask {
        self.members.put("system", prompt.into().value());
        self
    }

    /// The same, but these roles are asked, or `provider/model`s.
    pub fn models(mut self, roles: impl IntoIterator<Item: Into<String>>) -> Ask {
        self.members.texts("model", roles);
        self
    }

    /// The same, but the answer must have these fields; tasks find them under `parsed`.
    pub fn output(mut self, output: Output) -> Ask {
        output.write(&mut self.members);
        self
    }

    /// The same with so many more requests for one answer when requests fail; 3 unless said.
    pub fn max_retries(mut self, n: u32) -> Ask {
        self.members.put("max_retries", i64::from(n));
        self
    }

    pub(crate) fn into_members(self) -> Members {
        self.members
    }
}
