//! The style sheet and the scripts. Their names hold a hash of their content, so that browsers may store them for ever.

use std::sync::LazyLock;

use http::StatusCode;

use crate::answer::{Answer, Kind};
use crate::route::Route;

/// A file that pages use.
#[derive(Debug)]
pub(crate) struct Asset {
    stem: &'static str,
    ending: &'static str,
    content_type: &'static str,
    body: &'static str,
}

/// How everything looks.
pub(crate) const STYLE: &Asset =
    &Asset { stem: "app", ending: "css", content_type: "text/css; charset=utf-8", body: STYLES };

/// The same as text, for pages that are files.
pub(crate) const STYLES: &str = concat!(include_str!("app.css"), include_str!("compare.css"));

/// The script of pages that are files.
pub(crate) const FILE_SCRIPT: &str = concat!(include_str!("query.js"), include_str!("file.js"));

/// The theme that the reader chose, applied before the page is drawn.
pub(crate) const THEME: &Asset =
    &Asset { stem: "theme", ending: "js", content_type: SCRIPT, body: include_str!("theme.js") };

/// Keys, times and whatever else makes pages handier.
pub(crate) const APP: &Asset = &Asset { stem: "app", ending: "js", content_type: SCRIPT, body: SCRIPTS };

const SCRIPTS: &str = concat!(include_str!("app.js"), include_str!("live.js"), include_str!("label.js"));

/// The picture of the viewer in tabs of browsers.
pub(crate) const ICON: &Asset =
    &Asset { stem: "icon", ending: "svg", content_type: "image/svg+xml", body: include_str!("icon.svg") };

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// All of them.
const ASSETS: [&Asset; 4] = [STYLE, THEME, APP, ICON];

/// Their names, in the same order.
static NAMES: LazyLock<[String; 4]> = LazyLock::new(|| {
    ASSETS.map(|it| format!("{}-{}.{}", it.stem, &blake3::hash(it.body.as_bytes()).to_hex()[..12], it.ending))
});

impl Asset {
    /// Where it is.
    pub(crate) fn route(&self) -> Route {
        let ix = ASSETS.iter().position(|it| (it.stem, it.ending) == (self.stem, self.ending)).unwrap_or_default();
        Route::Asset(NAMES[ix].clone())
    }
}

/// What a request for an asset is answered with.
pub(crate) fn answer(name: &str) -> Answer {
    match NAMES.iter().position(|it| it == name) {
        Some(ix) => Answer::asset(ASSETS[ix].content_type, ASSETS[ix].body),
        None => Answer { kind: Kind::Text, ..Answer::text(StatusCode::NOT_FOUND, "there is no such file\n") },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_are_found_by_their_routes_and_stay_small() {
        for asset in ASSETS {
            let Route::Asset(name) = asset.route() else { panic!("an asset has a route") };
            assert_eq!(answer(&name).body, asset.body.as_bytes());
        }
        assert_eq!(answer("app.css").status, StatusCode::NOT_FOUND);
        let size = |ending: &str| ASSETS.iter().filter(|it| it.ending == ending).map(|it| it.body.len()).sum::<usize>();
        assert!(FILE_SCRIPT.len() <= 40_000, "{} of script in files", FILE_SCRIPT.len());
        assert!(size("js") <= 40_000 && size("css") <= 30_000, "{} of script, {} of style", size("js"), size("css"));
    }
}
