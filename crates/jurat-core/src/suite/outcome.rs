//! Criteria over a scenario, as they are written.

#![allow(dead_code)]

use super::codes;
use super::form::Form;
use super::problem::Problem;
use super::reader::Reading;
use crate::outcome::Check;
use crate::value::Node;

pub(super) const FORM: Form = Form::Any;

/// Reads a criterion.
pub(super) fn read(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Check> {
    let problem = Problem::new(&codes::NOT_SUPPORTED, format!("{what} is not supported by this version"));
    reading.problem(problem.at(node.span, "here"));
    None
}
