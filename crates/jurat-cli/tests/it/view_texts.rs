//! Pages of the viewer as text: what a reader finds on them, line by line, in `tests/pages`.
//!
//! What differs from run to run (names of runs, moments, durations) is replaced. `JURAT_BLESS=1` writes the expected texts anew.

use std::fmt::Write as _;
use std::fs;

use crate::command::root;
use crate::view_pages::example;
use crate::viewer::Viewer;

/// The pages of an example, by the name of their file.
const PAGES: [(&str, &str); 7] = [
    ("runs", ""),
    ("cases", "/runs/RUN/cases?q=verdict:failed&sort=id"),
    ("case", "/runs/RUN/cases/oven-smoke?task=kitchen_expert"),
    ("graph", "/runs/RUN/graph"),
    ("slices", "/runs/RUN/slices"),
    ("flaky", "/runs/RUN/flaky"),
    ("label", "/runs/RUN/label?task=kitchen_expert&n=2&blind=1"),
];

#[test]
fn pages_say_what_they_said() {
    let folder = example("appliances");
    let viewer = Viewer::start(&folder, &["--as", "ada"]);
    let id = viewer.data("/.json")["runs"][0]["run_id"].as_str().expect("there is a run").to_owned();
    let bless = std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1");
    let mut wrong = String::new();
    for (name, path) in PAGES {
        let path = if path.is_empty() { "/".to_owned() } else { path.replace("RUN", &id) };
        let said = plain(&viewer.page(&path), &id);
        let file = root().join("tests/pages").join(format!("{name}.txt"));
        let expected = fs::read_to_string(&file).unwrap_or_default();
        if said != expected && bless {
            fs::create_dir_all(root().join("tests/pages")).expect("folders can be made");
            fs::write(file, said).expect("snapshots can be written");
        } else if said != expected {
            let first = said.lines().zip(expected.lines()).find(|(one, other)| one != other);
            let _ =
                writeln!(wrong, "{name}: {first:?}, {} lines for {}", said.lines().count(), expected.lines().count());
        }
    }
    assert!(wrong.is_empty(), "{wrong}JURAT_BLESS=1 accepts what is said now");
}

/// The text of a page, a line for each block, without what differs from run to run.
fn plain(page: &str, id: &str) -> String {
    let body = page.split_once("<body>").map_or(page, |it| it.1);
    let mut lines: Vec<String> = vec![String::new()];
    for part in body.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or((part, ""));
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
        if !INLINE.contains(&name) {
            lines.push(String::new());
        }
        if let Some(label) = tag.split_once("role=\"img\" aria-label=\"").and_then(|it| it.1.split('"').next()) {
            lines.push(format!("[{label}]"));
        }
        if let Some(value) = tag.strip_prefix("input").and_then(|it| it.split_once(" value=\"")) {
            lines.push(format!("input {}", value.1.split('"').next().unwrap_or_default()));
        }
        // Of a link that has a name for screen readers, both are there.
        if let Some(label) = tag.strip_prefix("a ").and_then(|it| it.split_once("aria-label=\"")) {
            let name = label.1.split('"').next().unwrap_or_default();
            let _ = write!(lines.last_mut().expect("there is a line"), "[{name}] ");
        }
        let text = if tag.starts_with("time ") { "MOMENT" } else { text };
        lines.last_mut().expect("there is a line").push_str(text);
    }
    let short = id.rsplit('_').next().unwrap_or(id);
    let lines = lines.iter().map(|it| cleaned(it).replace(id, "RUN").replace(short, "RUN"));
    lines.filter(|it| !it.is_empty()).fold(String::new(), |all, it| all + &it + "\n")
}

const INLINE: [&str; 14] =
    ["a", "b", "bdi", "span", "strong", "em", "code", "kbd", "time", "del", "ins", "mark", "small", "s"];

/// One space between words, entities as characters, and durations as a word.
fn cleaned(line: &str) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    let text = entities.iter().fold(line.to_owned(), |text, (from, to)| text.replace(from, to));
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_number = |it: &str| it.trim_start_matches('(').parse::<f64>().is_ok();
    let is_unit = |it: &str| {
        matches!(it.trim_end_matches([',', '.', ')']), "ms" | "µs" | "s" | "days" | "day" | "h" | "min" | "hours")
    };
    let mut clean: Vec<&str> = Vec::new();
    for (ix, word) in words.iter().enumerate() {
        let is_duration = is_number(word) && words.get(ix + 1).is_some_and(|it| is_unit(it));
        let is_its_unit = ix > 0 && is_unit(word) && is_number(words[ix - 1]);
        if is_duration {
            clean.push("TIME");
        } else if !is_its_unit {
            clean.push(word);
        }
    }
    clean.join(" ")
}
