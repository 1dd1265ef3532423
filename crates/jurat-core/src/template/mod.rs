//! Answer templates and rubrics: what is read from an answer, what it must be, and how it is rated.

/// What is read from an answer, and what it must be.
#[derive(Debug, Clone, PartialEq)]
pub struct Template;

/// Something that an answer is rated by.
#[derive(Debug, Clone, PartialEq)]
pub struct Trait;
