//! Talking to models. This crate alone will know how providers are spoken to; so far it holds models that answer from a
//! [`script`], which is how suites are tried and tested without any provider.

pub mod script;
