//! Links of pages, in a file: what is in the file is linked by its fragment, and other links lose their target.

use crate::route::{Address, Route, RunPage};

/// What the script of the file knows of the parameters of cases.
const KNOWN: [&str; 3] = ["q=", "sort=", "dir="];

const HREF: &str = " href=\"";

/// Markup whose links lead to places of the same file. Templates quote attributes and escape what stands in them, so that looking for quotes is enough.
pub(super) fn offline(markup: &str) -> String {
    each_link(markup, target)
}

/// Markup with other targets of its links; those without one are no links any more.
fn each_link(markup: &str, target: impl Fn(&str) -> Option<String>) -> String {
    let mut done = String::with_capacity(markup.len());
    let mut rest = markup;
    while let Some(at) = rest.find(HREF) {
        let value = &rest[at + HREF.len()..];
        let Some(end) = value.find('"') else { break };
        done.push_str(&rest[..at]);
        if let Some(target) = target(&value[..end]) {
            done.push_str(&format!("{HREF}{target}\""));
        }
        rest = &value[end + 1..];
    }
    done.push_str(rest);
    done
}

/// The markup of one case, whose places are known by names that begin with `prefix`: each case of a file has the same ones.
pub(super) fn in_case(markup: &str, prefix: &str) -> String {
    let markup = NAMES.iter().fold(markup.to_owned(), |it, name| it.replace(name, &format!("{name}{prefix}")));
    let linked = each_link(&markup, |link| match link.strip_prefix('#') {
        Some(place) => Some(format!("#{prefix}{place}")),
        None if link.starts_with("http://") || link.starts_with("https://") => Some(link.to_owned()),
        None => turn(link).map(|turn| format!("#{prefix}turn-{turn}")),
    });
    linked.replace("<a>Show it whole</a>", "The rest is in the run.")
}

/// Attributes that name a place of the page.
const NAMES: [&str; 2] = [" id=\"", " aria-labelledby=\""];

/// The turn of a conversation that a link leads to.
fn turn(link: &str) -> Option<u32> {
    match route(link)? {
        Route::Run { page: RunPage::Case(case), .. } => case.turn,
        _ => None,
    }
}

/// Where a link leads in the file.
fn target(link: &str) -> Option<String> {
    if link.starts_with('#') || link.starts_with("http://") || link.starts_with("https://") {
        return Some(link.to_owned());
    }
    match route(link)? {
        Route::Run { page: RunPage::Cases(_), .. } => {
            // As they are written, query and order stay readable in the address.
            let query = link.split_once('?').map_or("", |it| it.1).replace("&amp;", "&");
            let is_known = |it: &&str| KNOWN.iter().any(|key| it.starts_with(key));
            let known: Vec<&str> = query.split('#').next().unwrap_or_default().split('&').filter(is_known).collect();
            Some(if known.is_empty() { "#cases".to_owned() } else { format!("#cases?{}", known.join("&amp;")) })
        }
        _ => None,
    }
}

fn route(link: &str) -> Option<Route> {
    let address = link.split('#').next().unwrap_or_default().replace("&amp;", "&");
    let (path, query) = address.split_once('?').map_or((address.as_str(), None), |it| (it.0, Some(it.1)));
    Some(Address::parse(path, query).ok()?.route)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_in_the_file() {
        let markup = r##"<a href="/runs/r1/cases?q=verdict:failed&amp;n=50">4</a> <a class="x" href="/runs/r1">run</a> <a href="#top">top</a>"##;
        let offline = offline(markup);
        assert_eq!(offline, r##"<a href="#cases?q=verdict:failed">4</a> <a class="x">run</a> <a href="#top">top</a>"##);
        let case = r##"<li id="turn-2"><a href="/runs/r1/cases/a?turn=2">2</a> <a href="#agent">it</a> <a href="/runs/r1/cases/a/text?part=row">Show it whole</a></li>"##;
        let expected = r##"<li id="case-7-turn-2"><a href="#case-7-turn-2">2</a> <a href="#case-7-agent">it</a> The rest is in the run.</li>"##;
        assert_eq!(in_case(case, "case-7-"), expected);
        let ordered = super::offline(r#"<a href="/runs/r1/cases?sort=took&amp;dir=desc">slowest</a>"#);
        assert_eq!(ordered, r##"<a href="#cases?sort=took&amp;dir=desc">slowest</a>"##);
    }
}
