//! `campaign`: a suite with its cases and profiles, in the files of personal-agent-eval.

use jurat_format::form::Form;
use jurat_format::reader::Reading;
use jurat_format::value::{Node, Spanned};

use super::{Role, SUBJECT, Suite, agent_cases, evaluation};
use crate::compat::personal_agent_eval::{self as campaign, Part};

pub(super) const FORM: Form = campaign::FORM;

/// Reads the section: each part of the campaign becomes what the same would be in a suite.
pub(super) fn read(reading: &mut Reading<'_>, suite: &mut Suite, node: &Node<'_>) {
    let n_before = reading.n_errors();
    campaign::read(reading, node, &mut |reading, part| match part {
        Part::Title { name, description, head } => {
            (suite.name, suite.description, suite.head) = (name, description, Some(head));
        }
        Part::Repeat(repeat) => suite.repeat = repeat,
        Part::Models(at, models) => {
            suite.models.push(Role { name: Spanned::new(SUBJECT.to_owned(), at), models });
        }
        Part::Cases(list) => agent_cases::read(reading, suite, list),
        Part::Evaluation(profile, at) => evaluation::read(reading, suite, profile, at, true),
    });
    if reading.n_errors() > n_before {
        suite.lost.add_file();
    }
}
