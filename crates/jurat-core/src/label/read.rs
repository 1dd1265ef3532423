//! The lines of a file of labels.

use std::ops::Range;

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems, listed};
use jurat_format::value::{Node, SourceId, Span, Spanned, Val, Value, json_node, parse_json};

use super::csv::{Cell, OpenQuote, rows};
use super::line::{JudgeSaid, Label, State};

/// Members that a line may have and that mean something here.
const KNOWN: [&str; 19] = [
    "case",
    "prompt",
    "subject",
    "replicate",
    "task",
    "label",
    "score",
    "annotator",
    "stratum",
    "weight",
    "note",
    "evidence",
    "at",
    "suite",
    "state",
    "blind",
    "run",
    "judge",
    "version",
];

/// Reads the lines of a file: JSON lines when it begins with `{`, else CSV with a header. Lines that cannot be read are problems, and the others are
/// returned with their places.
///
/// ```
/// use jurat_core::label::read_labels;
/// use jurat_format::problem::Problems;
/// use jurat_format::value::SourceId;
///
/// let mut problems = Problems::default();
/// let labels = read_labels("case,label,annotator\nr1,pass,ada\nr2,fail,ada\n", SourceId(0), &mut problems);
/// assert_eq!((labels.len(), labels[1].value.label.as_deref(), problems.n_errors()), (2, Some("fail"), 0));
/// ```
pub fn read_labels(text: &str, source: SourceId, problems: &mut Problems) -> Vec<Spanned<Label>> {
    match text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        true => json_lines(text, source, problems),
        false => sheet(text, source, problems),
    }
}

fn json_lines(text: &str, source: SourceId, problems: &mut Problems) -> Vec<Spanned<Label>> {
    let (mut labels, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_end().trim_start_matches('\u{feff}');
        if content.trim().is_empty() {
            continue;
        }
        // What stands before the line in its file, so that places inside of it are places of the file.
        let place = Place { source, start: start + line.find(content).unwrap_or(0), length: content.len() };
        labels.extend(json_line(content, place, problems).map(|it| Spanned::new(it, place.whole())));
    }
    labels
}

/// Where a line stands in its file.
#[derive(Clone, Copy)]
struct Place {
    source: SourceId,
    start: usize,
    length: usize,
}

impl Place {
    fn whole(self) -> Span {
        self.part(0..self.length)
    }

    fn part(self, within: Range<usize>) -> Span {
        Span::new(self.source, self.start + within.start..self.start + within.end)
    }

    fn of(self, node: &Node<'_>) -> Span {
        self.part(node.span.range())
    }
}

fn json_line(line: &str, place: Place, problems: &mut Problems) -> Option<Label> {
    let node = match json_node(line, place.source) {
        Ok((node, _)) => node,
        Err(error) => {
            let at = (error.column - 1).min(line.len());
            problems.push(bad(place.part(at..at), format!("the line is not JSON: {}", error.message)).help(LINES));
            return None;
        }
    };
    let Some(entries) = node.entries() else {
        problems.push(bad(place.whole(), "a line of labels is an object").help(LINES));
        return None;
    };
    let mut members = Members { label: Label::default(), problems, is_whole: true };
    for entry in entries {
        members.add(&entry.key, Given::Json(&entry.value), place.of(&entry.value));
    }
    let Members { label, is_whole, .. } = members;
    if label.case.is_empty() {
        problems.push(no_case(place.whole()));
        return None;
    }
    if label.state == State::Given && !label.is_given() && is_whole {
        problems.push(
            bad(place.whole(), "the line has neither `label` nor `score`")
                .help("write one of them, or `\"state\": \"unsure\"`"),
        );
        return None;
    }
    is_whole.then_some(label)
}

const LINES: &str = "write one object a line, such as `{\"case\": \"r1\", \"task\": \"tone\", \"label\": \"pass\", \"annotator\": \"ada\"}`";
const SHEET: &str = "begin with the names of the columns, such as `case,task,label,annotator`";

fn sheet(text: &str, source: SourceId, problems: &mut Problems) -> Vec<Spanned<Label>> {
    let span = |range: Range<usize>| Span::new(source, range);
    let rows = match rows(text) {
        Ok(rows) => rows,
        Err(OpenQuote(at)) => {
            problems.push(
                bad(span(at..at + 1), "a quote opens and is not closed")
                    .help("write quotes inside of a cell twice, as in `\"say \"\"hi\"\"\"`"),
            );
            return Vec::new();
        }
    };
    let Some((header, rows)) = rows.split_first() else {
        problems.push(bad(span(0..0), "the sheet is empty").help(SHEET));
        return Vec::new();
    };
    let names: Vec<String> =
        header.iter().map(|it| it.text.trim().trim_start_matches('\u{feff}').to_lowercase()).collect();
    if !header_fits(header, &names, source, problems) {
        return Vec::new();
    }
    let mut labels = Vec::with_capacity(rows.len());
    for row in rows {
        let whole = span(row[0].range.start..row[row.len() - 1].range.end);
        if row.len() != names.len() {
            let message = format!("the line has {} cells, and there are {} columns", row.len(), names.len());
            problems.push(bad(whole, message).help("put cells with commas in them into quotes"));
            continue;
        }
        labels.extend(sheet_row(&names, row, source, problems).map(|it| Spanned::new(it, whole)));
    }
    labels
}

/// Whether a sheet has the columns that it needs, each once.
fn header_fits(header: &[Cell<'_>], names: &[String], source: SourceId, problems: &mut Problems) -> bool {
    let has = |name: &str| names.iter().any(|it| it == name);
    let whole = Span::new(source, header[0].range.start..header[header.len() - 1].range.end);
    let missing = match (has("case"), has("label") || has("score")) {
        (true, true) => None,
        (false, _) => Some(("case", "the sheet has no column `case`")),
        (true, false) => Some(("label", "the sheet has neither a column `label` nor `score`")),
    };
    let again = names.iter().enumerate().find(|(ix, it)| names[..*ix].contains(it) && KNOWN.contains(&it.as_str()));
    match (missing, again) {
        (Some((name, message)), _) => {
            let separators = [';', '\t'];
            let other = header.len() == 1 && header[0].text.contains(separators);
            let help = if other { "separate cells by commas" } else { SHEET };
            problems.push(bad(whole, message).did_you_mean(name, names.iter().map(String::as_str)).help(help));
        }
        (None, Some((ix, name))) => {
            let place = Span::new(source, header[ix].range.clone());
            problems.push(bad(place, format!("the column `{name}` is there twice")).help("remove one of them"));
        }
        (None, None) => return true,
    }
    false
}

fn sheet_row(names: &[String], row: &[Cell<'_>], source: SourceId, problems: &mut Problems) -> Option<Label> {
    let whole = Span::new(source, row[0].range.start..row[row.len() - 1].range.end);
    let mut members = Members { label: Label::default(), problems, is_whole: true };
    for (name, cell) in names.iter().zip(row).filter(|it| !it.1.text.trim().is_empty()) {
        members.add(name, Given::Cell(&cell.text), Span::new(source, cell.range.clone()));
    }
    let Members { label, is_whole, .. } = members;
    if label.case.is_empty() {
        problems.push(no_case(whole));
        return None;
    }
    is_whole.then_some(label)
}

fn bad(span: Span, message: impl Into<String>) -> Problem {
    Problem::new(&codes::BAD_ROWS, message).at(span, "here")
}

fn no_case(span: Span) -> Problem {
    bad(span, "the line does not say which case it labels").help("write the id of the case under `case`")
}

/// A member of a line as it is written.
#[derive(Clone, Copy)]
enum Given<'g> {
    Json(&'g Node<'g>),
    Cell(&'g str),
}

impl Given<'_> {
    fn is_null(self) -> bool {
        matches!(self, Given::Json(node) if node.is_null())
    }

    /// Text, or what a number or a yes or no looks like: labels such as `1` and `true` are often written without quotes.
    fn text(self) -> Option<String> {
        match self {
            Given::Cell(text) => Some(text.trim().to_owned()),
            Given::Json(node) => match (node.as_str(), node.as_list(), node.entries()) {
                (Some(text), ..) => Some(text.to_owned()),
                (None, None, None) => Some(node.to_val().to_string()),
                _ => None,
            },
        }
    }

    fn number(self) -> Option<f64> {
        let number = match self {
            Given::Cell(text) => text.trim().parse().ok(),
            Given::Json(node) => node.to_val().as_f64(),
        };
        number.filter(|it: &f64| it.is_finite())
    }

    fn value(self) -> Value {
        match self {
            Given::Cell(text) => Val::from(text.to_owned()),
            Given::Json(node) => node.to_val().into_owned(),
        }
    }

    fn shown(self) -> String {
        match self {
            Given::Cell(text) => format!("`{}`", text.trim()),
            Given::Json(node) => node.phrase(),
        }
    }
}

/// The members of one line, while they are read.
struct Members<'m> {
    label: Label,
    problems: &'m mut Problems,
    /// Whether every member could be read.
    is_whole: bool,
}

impl Members<'_> {
    fn add(&mut self, name: &str, given: Given<'_>, span: Span) {
        if given.is_null() {
            if !KNOWN.contains(&name) {
                self.label.others.push((name.to_owned(), Val::Null));
            }
            return;
        }
        match name {
            "case" => self.label.case = self.text(name, given, span).unwrap_or_default(),
            "prompt" => self.label.prompt = self.text(name, given, span),
            "subject" => self.label.subject = self.text(name, given, span),
            "task" => self.label.task = self.text(name, given, span),
            "label" => self.label.label = self.text(name, given, span).filter(|it| !it.is_empty()),
            "annotator" => self.label.annotator = self.text(name, given, span).filter(|it| !it.is_empty()),
            "stratum" => self.label.stratum = self.text(name, given, span),
            "note" => self.label.note = self.text(name, given, span).filter(|it| !it.is_empty()),
            "evidence" => self.label.evidence = self.text(name, given, span),
            "at" => self.label.at = self.text(name, given, span),
            "suite" => self.label.suite = self.text(name, given, span),
            "run" => self.label.run = self.text(name, given, span),
            "state" => self.state(given, span),
            "replicate" => self.replicate(given, span),
            "score" => self.label.score = self.number(name, given, span, "a number"),
            "weight" => self.weight(given, span),
            "blind" => self.blind(given, span),
            "judge" => self.judge(given),
            "version" => self.version(given, span),
            other => self.label.others.push((other.to_owned(), given.value())),
        }
    }

    fn wrong(&mut self, name: &str, needs: &str, given: Given<'_>, span: Span) {
        self.is_whole = false;
        let problem = bad(span, format!("`{name}` must be {needs}, not {}", given.shown()));
        self.problems.push(problem.help("correct it, or remove the line"));
    }

    fn text(&mut self, name: &str, given: Given<'_>, span: Span) -> Option<String> {
        let text = given.text();
        if text.is_none() {
            self.wrong(name, "text", given, span);
        }
        text
    }

    fn number(&mut self, name: &str, given: Given<'_>, span: Span, needs: &str) -> Option<f64> {
        let number = given.number();
        if number.is_none() {
            self.wrong(name, needs, given, span);
        }
        number
    }

    fn weight(&mut self, given: Given<'_>, span: Span) {
        match given.number().filter(|it| *it > 0.0) {
            Some(weight) => self.label.weight = Some(weight),
            None => self.wrong("weight", "a number above 0", given, span),
        }
    }

    fn replicate(&mut self, given: Given<'_>, span: Span) {
        match given.number().filter(|it| *it >= 1.0 && *it <= f64::from(u32::MAX) && it.fract() == 0.0) {
            Some(number) => self.label.replicate = Some(number as u32),
            None => self.wrong("replicate", "the number of a repetition, from 1", given, span),
        }
    }

    fn blind(&mut self, given: Given<'_>, span: Span) {
        match given.text().as_deref() {
            Some("true") => self.label.blind = Some(true),
            Some("false") => self.label.blind = Some(false),
            _ => self.wrong("blind", "`true` or `false`", given, span),
        }
    }

    fn state(&mut self, given: Given<'_>, span: Span) {
        match given.text().as_deref().and_then(State::named) {
            Some(state) => self.label.state = state,
            None => self.wrong("state", &listed(State::NAMED.map(|it| it.0)), given, span),
        }
    }

    /// What the judge had said is for readers alone, so whatever shape it has is no problem.
    fn judge(&mut self, given: Given<'_>) {
        let value = match given {
            Given::Json(node) => node.to_val().into_owned(),
            Given::Cell(text) => match parse_json(text) {
                Ok(record) => record.value.into_owned(),
                Err(_) => Val::from(text.to_owned()),
            },
        };
        let text = |name: &str| value.get(name).and_then(Val::as_str).map(str::to_owned);
        self.label.judge = Some(JudgeSaid { verdict: text("verdict"), label: text("label") });
    }

    fn version(&mut self, given: Given<'_>, span: Span) {
        if given.number() != Some(1.0) {
            self.is_whole = false;
            let message = format!("labels of version {} cannot be read", given.shown());
            self.problems.push(bad(span, message).help("this jurat reads version 1; a newer one may read it"));
        }
    }
}
