//! Moments. Pages hold them in universal time; a script shows them in the reader's.

use jurat_report::{instant, to_the_second};
use maud::{Markup, html};

/// A moment, in milliseconds since 1970.
pub(crate) fn moment(at_ms: u64) -> Markup {
    let shown = to_the_second(at_ms).replace('T', " ").replace('Z', " UTC");
    html! { time datetime=(instant(at_ms)) { (shown) } }
}
