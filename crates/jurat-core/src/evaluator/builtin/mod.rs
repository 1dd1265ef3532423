//! Evaluators that need no code.
