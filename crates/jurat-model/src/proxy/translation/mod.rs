//! The other way round: an agent's request as a question to any model, and the model's answer in the form that the agent speaks.
//!
//! With it a script, a program or a function can be the model of any agent. What these models understand is text, tools, calls and results; a request with anything else, an
//! image for example, is refused in words. Tools that a provider would run itself are not offered.

mod answer;
mod question;

pub(super) use answer::answer;
pub(super) use question::question;

#[cfg(test)]
mod tests;
