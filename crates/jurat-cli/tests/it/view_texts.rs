//! Pages of the viewer as text: what a reader finds on them, line by line, in `tests/pages`.
//!
//! What differs from run to run (names of runs, moments, durations) is replaced. `JURAT_BLESS=1` writes the expected texts anew.

use std::fmt::Write as _;
use std::fs;

use crate::command::{Folder, root};
use crate::view_pages::example;
use crate::viewer::Viewer;

/// The pages of examples, by the name of their file, each with its example.
const PAGES: [(&str, &str, &str); 18] = [
    ("runs", APPLIANCES, "/"),
    ("overview", APPLIANCES, "/runs/RUN"),
    ("cases", APPLIANCES, "/runs/RUN/cases?q=verdict:failed&sort=id"),
    ("wrong-query", APPLIANCES, "/runs/RUN/cases?q=verdict:fialed"),
    ("case", APPLIANCES, "/runs/RUN/cases/oven-smoke?task=kitchen_expert"),
    ("graph", APPLIANCES, "/runs/RUN/graph"),
    ("slices", APPLIANCES, "/runs/RUN/slices"),
    ("cost", APPLIANCES, "/runs/RUN/cost"),
    ("flaky", APPLIANCES, "/runs/RUN/flaky"),
    ("label-choice", APPLIANCES, "/runs/RUN/label"),
    ("label", APPLIANCES, "/runs/RUN/label?task=kitchen_expert&n=2&blind=1"),
    ("absent", APPLIANCES, "/runs/RUN/cases/none"),
    ("choose", APPLIANCES, "/compare?base=RUN"),
    ("compare", APPLIANCES, "/compare?base=RUN&new=RUN&q=verdict:failed"),
    ("compare-case", APPLIANCES, "/compare/cases/oven-smoke?base=RUN&new=RUN"),
    ("conversation-graph", SYCOPHANCY, "/runs/RUN/graph"),
    ("conversation", SYCOPHANCY, "/runs/RUN/cases/FIRST"),
    ("agent", AGENTS, "/runs/RUN/cases/FIRST"),
];

const APPLIANCES: &str = "appliances";
const SYCOPHANCY: &str = "scenarios/sycophancy";
const AGENTS: &str = "agents";

#[test]
fn pages_say_what_they_said() {
    let bless = std::env::var_os("JURAT_BLESS").is_some_and(|it| it == "1");
    let mut wrong = String::new();
    let shown = [APPLIANCES, SYCOPHANCY, AGENTS].map(|it| (it, Shown::start(it)));
    for (name, of, path) in PAGES {
        let example = &shown.iter().find(|it| it.0 == of).expect("it is started").1;
        let said = example.said(path);
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

/// An example that was run and is looked at.
struct Shown {
    viewer: Viewer,
    /// What the viewer reads lives as long as it does.
    _folder: Folder,
    id: String,
    first: String,
}

impl Shown {
    fn start(name: &str) -> Shown {
        let folder = example(name);
        let viewer = Viewer::start(&folder, &["--as", "ada"]);
        let id = viewer.data("/.json")["runs"][0]["run_id"].as_str().expect("there is a run").to_owned();
        let cases = viewer.data(&format!("/runs/{id}/cases.json"));
        let first = cases["cases"][0]["id"].as_str().expect("there is a case").to_owned();
        Shown { viewer, _folder: folder, id, first }
    }

    /// What a page says. Which cases were slowest differs from run to run.
    fn said(&self, path: &str) -> String {
        let path = path.replace("RUN", &self.id).replace("FIRST", &self.first);
        let said = plain(&self.viewer.get(&path).body, &self.id);
        said.split_once("Slowest cases\n").map_or(said.clone(), |(before, _)| before.to_owned())
    }
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
        // A figure and its caption are beside each other by style alone.
        if tag.starts_with("span class=\"caption") {
            lines.last_mut().expect("there is a line").push(' ');
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
