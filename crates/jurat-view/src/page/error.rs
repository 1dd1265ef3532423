//! What is shown in place of a page.

use maud::{Markup, html};

use super::Shell;
use crate::part::text::{line, sentence};
use crate::route::{Route, Runs};

/// Without the key, nothing of the project is named.
pub(crate) fn no_key() -> Markup {
    plain(
        "A key is needed",
        &html! {
            p { "This page shows runs to their owner alone. The address that opens it holds a key." }
            p { "Run " code { "jurat view" } " in the directory of the project, and open the address that it prints." }
        },
    )
}

pub(crate) fn not_found(reason: &str, meant: &[(String, Route)]) -> Markup {
    plain(
        "Not found",
        &html! {
            p { (sentence(reason)) }
            @if !meant.is_empty() {
                p { "Is one of these meant?" }
                ul { @for (name, route) in meant { li { a href=(route) { (line(name)) } } } }
            }
        },
    )
}

pub(crate) fn bad(reason: &str) -> Markup {
    plain("This cannot be shown", &html! { p { (sentence(reason)) } })
}

pub(crate) fn unreadable(reason: &str) -> Markup {
    plain("The run cannot be read", &html! { p { (sentence(reason)) } })
}

pub(crate) fn broken() -> Markup {
    plain(
        "Something is broken",
        &html! { p { "The page could not be rendered. The viewer still runs; its terminal has the details." } },
    )
}

fn plain(title: &str, content: &Markup) -> Markup {
    let shell = Shell { title: title.to_owned(), run: None, steps: Vec::new(), data: None };
    shell.page(&html! {
        section.message {
            h1 { (title) }
            (content)
            p { a href=(Route::Runs(Runs::default())) { "All runs" } }
        }
    })
}
