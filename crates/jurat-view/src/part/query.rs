//! Queries as pages show them: their terms, what is wrong with one, and what one can say.

use jurat_engine::view::query::QueryProblem;
use maud::{Markup, html};

use super::text::{excerpt, line, sentence};
use crate::route::Route;

/// An example, and what it is about.
pub(crate) type Example = (&'static str, &'static str);

/// The terms that must all hold, each a link to the query without it.
pub(crate) fn terms(terms: &[(String, String)], at: impl Fn(String) -> Route) -> Markup {
    html! {
        p.chips {
            @for (term, rest) in terms {
                a.chip.term href=(at(rest.clone())) title="Remove this term" {
                    code { (line(term)) } span aria-hidden="true" { "×" } span.hidden { "remove" }
                }
            }
        }
    }
}

/// What is wrong with a query, and the query that may be meant.
pub(crate) fn problem(problem: &QueryProblem, corrected: Option<Route>, examples: &[Example]) -> Markup {
    let (before, rest) = problem.query.split_at(problem.at.start);
    let (marked, after) = rest.split_at(problem.at.len().min(rest.len()));
    html! {
        section.message.query-problem role="alert" {
            h2 { "The query cannot be read" }
            pre { (excerpt(before, usize::MAX)) mark { @if marked.is_empty() { " " } @else { (line(marked)) } } (excerpt(after, usize::MAX)) }
            p { (sentence(&problem.message)) }
            @if let (Some(route), Some(text)) = (corrected, problem.corrected()) {
                p { "Is this meant? " a href=(route) { code { (line(&text)) } } }
            }
            (language(examples))
        }
    }
}

/// What can be written, in short.
pub(crate) fn language(examples: &[Example]) -> Markup {
    html! {
        details.language {
            summary { "What a query can say" }
            table.rows {
                tbody {
                    @for (example, words) in examples {
                        tr { td { code { (example) } } td { (words) } }
                    }
                }
            }
        }
    }
}
