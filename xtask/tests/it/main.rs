//! Rules about the source that the compiler does not know.
//!
//! * [`layers`]: which crate may depend on which.
//! * [`modules`]: which module of a crate may depend on which.
//! * [`purity`]: what the core may not touch.
//! * [`unsafety`]: where `unsafe` may stand.
//! * [`file_names`]: what a file may not be called.
//! * [`products`]: what other products store is known in one place.
//! * [`words`]: what names are made of.
//! * [`features`]: what must have the features of the whole workspace.
//!
//! Each rule is a function from text to complaints, tried on small snippets and then on this repository. [`tokens`] reads
//! Rust as far as they need it, and [`repository`] finds the files.

mod features;
mod file_names;
mod layers;
mod modules;
mod products;
mod purity;
mod repository;
mod tokens;
mod unsafety;
mod words;
