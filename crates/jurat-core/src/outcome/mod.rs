//! Criteria over a whole scenario.

/// How a criterion is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Check;
