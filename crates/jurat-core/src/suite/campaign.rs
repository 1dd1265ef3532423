//! `campaign`: a suite with its cases and profiles, in the files of another program.

use jurat_format::reader::Reading;
use jurat_format::value::Spanned;

use super::{Suite, cases};
use crate::ask::SUBJECT;
use crate::compat::personal_agent_eval::{self as campaign, Part};
use crate::model::role::Role;
use crate::section::At;

/// Reads the section: each part of the campaign becomes what the same would be in a suite.
pub(super) fn read(reading: &mut Reading<'_>, suite: &mut Suite, at: &At<'_, '_>) {
    let n_before = reading.n_errors();
    campaign::read(reading, at.node, &mut |reading, part| match part {
        Part::Title { name, description, head } => {
            (suite.name, suite.description, suite.head) = (name, description, Some(head));
        }
        Part::Repeat(repeat) => suite.repeat = repeat,
        Part::Models(at, models) => {
            suite.models.push(Role { name: Spanned::new(SUBJECT.to_owned(), at), models });
        }
        Part::Cases(node) => cases::agent_cases(reading, suite, &At { node, key_span: node.span, is_main: true }),
        Part::Evaluation(node, key_span) => cases::evaluation(reading, suite, &At { node, key_span, is_main: true }),
    });
    if reading.n_errors() > n_before {
        suite.lost.add_file();
    }
}
