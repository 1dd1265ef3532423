//! What every page has: head, way back, sections of a run, and the list of keys.

use jurat_report::visible_line;
use maud::{DOCTYPE, Markup, html};

use crate::assets;
use crate::part::text::line;
use crate::route::{Address, Cases, Flaky, Label, Route, RunPage, Runs, Slices};

/// What a page is called and where it stands.
#[derive(Debug)]
pub(crate) struct Shell<'s> {
    pub(crate) title: String,
    /// The run that it is about.
    pub(crate) run: Option<RunLinks<'s>>,
    /// Steps below the run, or below the list of runs: each with where it leads, apart from the last.
    pub(crate) steps: Vec<(String, Option<Route>)>,
    /// Where its data is.
    pub(crate) data: Option<Address>,
}

/// A run in the head of a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunLinks<'s> {
    pub(crate) id: &'s str,
    pub(crate) suite: &'s str,
    pub(crate) section: Section,
}

/// Which of the pages of a run one belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    Overview,
    Cases,
    Graph,
    Slices,
    Flaky,
    Cost,
    Label,
}

impl Section {
    const ALL: [(Section, &'static str); 7] = [
        (Section::Overview, "Overview"),
        (Section::Cases, "Cases"),
        (Section::Graph, "Graph"),
        (Section::Slices, "Slices"),
        (Section::Flaky, "Flaky"),
        (Section::Cost, "Cost"),
        (Section::Label, "Label"),
    ];

    fn route(self, run: &str) -> Route {
        let page = match self {
            Section::Overview => RunPage::Overview,
            Section::Cases => RunPage::Cases(Cases::default()),
            Section::Graph => RunPage::Graph,
            Section::Slices => RunPage::Slices(Slices::default()),
            Section::Flaky => RunPage::Flaky(Flaky::default()),
            Section::Cost => RunPage::Cost,
            Section::Label => RunPage::Label(Label { blind: true, ..Label::default() }),
        };
        Route::Run { run: run.to_owned(), page }
    }
}

/// The last part of an id, by which people tell runs of a suite apart.
pub(crate) fn short_id(id: &str) -> &str {
    id.rsplit('_').next().unwrap_or(id)
}

impl Shell<'_> {
    /// A whole page with this content.
    pub(crate) fn page(&self, content: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (visible_line(&self.title)) " · jurat" }
                    link rel="icon" href=(assets::ICON.route());
                    link rel="stylesheet" href=(assets::STYLE.route());
                    script src=(assets::THEME.route()) {}
                    script type="module" src=(assets::APP.route()) {}
                }
                body {
                    a.skip href="#content" { "Skip to content" }
                    (self.head())
                    main id="content" tabindex="-1" { (content) }
                    (self.foot())
                }
            }
        }
    }

    fn head(&self) -> Markup {
        html! {
            header.top {
                nav.crumbs aria-label="Where you are" {
                    a.brand href=(Route::Runs(Runs::default())) { "jurat" }
                    @if let Some(run) = &self.run {
                        span.step {
                            a href=(Route::overview(run.id)) { (line(run.suite)) " " span.id { (line(short_id(run.id))) } }
                        }
                    }
                    @for (name, route) in &self.steps {
                        span.step {
                            @match route {
                                Some(route) => a href=(route) { (line(name)) },
                                None => span aria-current="page" { (line(name)) },
                            }
                        }
                    }
                }
                @if let Some(run) = &self.run {
                    form.search role="search" action=(Route::cases(run.id, "")) method="get" {
                        input type="search" name="q" placeholder="Search cases" aria-label="Search the cases of this run" autocomplete="off" spellcheck="false";
                    }
                }
                div.tools {
                    button.icon type="button" data-action="theme" hidden title="Theme: system, light, dark (t)" aria-label="Change the theme" { "◐" }
                    button.icon type="button" data-action="keys" hidden title="All keys (?)" aria-label="Show all keys" { "?" }
                }
            }
            @if let Some(run) = &self.run {
                nav.sections aria-label="Pages of this run" {
                    @for (section, name) in Section::ALL {
                        a href=(section.route(run.id)) aria-current=[(section == run.section).then_some("page")] { (name) }
                    }
                }
            }
        }
    }

    fn foot(&self) -> Markup {
        html! {
            footer.foot {
                @if let Some(data) = &self.data {
                    a href=(data) { "This page as JSON" }
                }
            }
        }
    }
}

impl maud::Render for Route {
    fn render_to(&self, buffer: &mut String) {
        self.to_string().as_str().render_to(buffer);
    }
}

impl maud::Render for Address {
    fn render_to(&self, buffer: &mut String) {
        self.to_string().as_str().render_to(buffer);
    }
}

/// The cases of a run that a query finds, for links.
pub(crate) fn cases(run: &str, q: &str) -> Route {
    let page = RunPage::Cases(Cases { q: q.to_owned(), ..Cases::default() });
    Route::Run { run: run.to_owned(), page }
}
