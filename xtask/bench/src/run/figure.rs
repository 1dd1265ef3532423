//! What was measured: figures with their targets and references, as a table and as JSON.

use serde_json::{Value, json};

/// From here on a reference differed so much from round to round that its figure should be measured again.
const NOISY: f64 = 1.3;

/// One line of the report.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    Figure(Figure),
    /// What could not be measured, and why.
    NotMeasured {
        name: String,
        reason: String,
    },
}

/// One thing that was measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    pub(super) name: String,
    pub(super) reached: f64,
    pub(super) unit: Unit,
    /// All of them are to be met; none when the figure is for information.
    pub(super) targets: Vec<Target>,
    pub(super) reference: Option<Reference>,
    /// What a reader of the figure should know.
    pub(super) note: Option<String>,
}

/// What a figure is to reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    AtMost(f64),
    Exactly(f64),
    /// The ratio to the reference is at most this.
    Ratio(f64),
}

/// What a figure is compared with: the same unit, from the same minutes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reference {
    pub(super) name: String,
    pub(super) value: f64,
    /// Where rounds come in pairs, the median of their ratios.
    pub(super) ratio: f64,
    /// The most that the reference took in any round, over the least.
    pub(super) noise: Option<f64>,
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Unit {
    Microseconds,
    Milliseconds,
    Seconds,
    Megabytes,
    Requests,
    Connections,
}

impl Unit {
    /// As it stands behind a number.
    fn symbol(self) -> &'static str {
        match self {
            Unit::Microseconds => " µs",
            Unit::Milliseconds => " ms",
            Unit::Seconds => " s",
            Unit::Megabytes => " MB",
            Unit::Requests | Unit::Connections => "",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Unit::Microseconds => "us",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::Megabytes => "MB",
            Unit::Requests => "requests",
            Unit::Connections => "connections",
        }
    }

    fn shown(self, value: f64) -> String {
        format!("{}{}", three_digits(value), self.symbol())
    }
}

impl Figure {
    pub(super) fn new(name: impl Into<String>, reached: f64, unit: Unit) -> Figure {
        Figure { name: name.into(), reached, unit, targets: Vec::new(), reference: None, note: None }
    }

    pub(super) fn target(mut self, target: Target) -> Figure {
        self.targets.push(target);
        self
    }

    pub(super) fn reference(mut self, reference: Reference) -> Figure {
        self.reference = Some(reference);
        self
    }

    pub(super) fn note(mut self, note: impl Into<String>) -> Figure {
        self.note = Some(note.into());
        self
    }

    /// Whether all targets are met; nothing when there are none.
    fn is_met(&self) -> Option<bool> {
        let is_met = |it: &Target| match it {
            Target::AtMost(most) => self.reached <= *most,
            Target::Exactly(value) => self.reached == *value,
            Target::Ratio(most) => self.reference.as_ref().is_some_and(|it| it.ratio <= *most),
        };
        (!self.targets.is_empty()).then(|| self.targets.iter().all(is_met))
    }

    fn cells(&self) -> [String; 7] {
        let target = |it: &Target| match it {
            Target::AtMost(most) => format!("≤ {}", self.unit.shown(*most)),
            Target::Exactly(value) => format!("= {}", self.unit.shown(*value)),
            Target::Ratio(most) => format!("≤ {most} ×"),
        };
        let targets: Vec<String> = self.targets.iter().map(target).collect();
        let met = self.is_met().map_or("", |it| if it { "met" } else { "missed" });
        let reference = self.reference.as_ref();
        let noise = reference
            .and_then(|it| it.noise)
            .map_or(String::new(), |it| format!("{}{}", three_digits(it), if it > NOISY { " noisy" } else { "" }));
        [
            self.name.clone(),
            self.unit.shown(self.reached),
            targets.join(", "),
            met.to_owned(),
            reference.map_or(String::new(), |it| format!("{} {}", it.name, self.unit.shown(it.value))),
            reference.map_or(String::new(), |it| three_digits(it.ratio)),
            noise,
        ]
    }

    fn to_json(&self) -> Value {
        let target = |it: &Target| match it {
            Target::AtMost(most) => json!({ "at_most": most }),
            Target::Exactly(value) => json!({ "exactly": value }),
            Target::Ratio(most) => json!({ "ratio_at_most": most }),
        };
        let reference =
            |it: &Reference| json!({ "name": it.name, "value": it.value, "ratio": it.ratio, "noise": it.noise });
        json!({
            "name": self.name,
            "reached": self.reached,
            "unit": self.unit.name(),
            "targets": self.targets.iter().map(target).collect::<Vec<_>>(),
            "met": self.is_met(),
            "reference": self.reference.as_ref().map(reference),
            "note": self.note,
        })
    }
}

impl Line {
    /// As a member of a list for programs.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Line::Figure(figure) => figure.to_json(),
            Line::NotMeasured { name, reason } => json!({ "name": name, "not_measured": reason }),
        }
    }
}

const HEADINGS: [&str; 7] = ["figure", "reached", "target", "", "reference", "ratio", "noise"];

/// All lines for people: columns, what was not measured, and notes below.
pub(super) fn table(lines: &[Line]) -> String {
    let figures = || lines.iter().filter_map(Line::as_figure);
    let mut notes: Vec<&str> = Vec::new();
    for note in figures().filter_map(|it| it.note.as_deref()) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    let cells = |figure: &Figure| {
        let mut cells = figure.cells();
        let number = notes.iter().position(|it| Some(*it) == figure.note.as_deref());
        cells[0] += &number.map_or(String::new(), |it| format!(" [{}]", it + 1));
        cells
    };
    let widths: [usize; 7] = std::array::from_fn(|column| {
        let widths = figures().map(|it| cells(it)[column].chars().count());
        widths.chain([HEADINGS[column].chars().count()]).max().unwrap_or(0)
    });
    let row = |cells: [&str; 7]| {
        let padded = cells.iter().zip(widths).map(|(it, width)| format!("{it:width$}"));
        format!("{}\n", padded.collect::<Vec<_>>().join("  ").trim_end())
    };
    let mut text = row(HEADINGS);
    for line in lines {
        text += &match line {
            Line::Figure(figure) => row(cells(figure).each_ref().map(String::as_str)),
            Line::NotMeasured { name, reason } => format!("{name}: not measured: {reason}\n"),
        };
    }
    for (number, note) in (1..).zip(notes) {
        text += &format!("{}[{number}] {note}\n", if number == 1 { "\n" } else { "" });
    }
    text
}

impl Line {
    fn as_figure(&self) -> Option<&Figure> {
        match self {
            Line::Figure(figure) => Some(figure),
            Line::NotMeasured { .. } => None,
        }
    }
}

/// `1234567` as `1,234,567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (ix, digit) in digits.chars().enumerate() {
        if ix > 0 && (digits.len() - ix).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Enough digits to tell figures apart, and none that change with every run. Whole numbers have no fraction.
fn three_digits(value: f64) -> String {
    let fraction = match value.abs() {
        it if it.fract() == 0.0 || it >= 100.0 => 0,
        it if it >= 10.0 => 1,
        it if it >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.fraction$}");
    // A target of 0.41 is not 0.410.
    if text.parse() == Ok(value) && fraction > 0 { text.trim_end_matches('0').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<Line> {
        let reference = |name: &str, value: f64, ratio: f64, noise: Option<f64>| Reference {
            name: name.to_owned(),
            value,
            ratio,
            noise,
        };
        vec![
            Line::Figure(
                Figure::new("CPU per assertion: flat", 0.3812, Unit::Microseconds)
                    .target(Target::AtMost(0.41))
                    .reference(reference("bare loop", 0.27, 1.4119, Some(1.0449)))
                    .note("nothing was kept"),
            ),
            Line::Figure(
                Figure::new("peak memory: 1,000,000 records", 70.25, Unit::Megabytes)
                    .target(Target::AtMost(64.0))
                    .target(Target::Ratio(1.1))
                    .reference(reference("10,000 records", 69.0, 1.018, None))
                    .note("nothing was kept"),
            ),
            Line::Figure(
                Figure::new("judges, 50 at once: time", 4.2, Unit::Seconds)
                    .target(Target::Ratio(1.05))
                    .reference(reference("bare load", 4.05, 1.037, Some(1.41))),
            ),
            Line::Figure(
                Figure::new("judges, 50 at once: in flight", 49.0, Unit::Requests).target(Target::Exactly(50.0)),
            ),
            Line::Figure(Figure::new("rerun: CPU per answer", 12.34, Unit::Microseconds).note("start-up is in it")),
            Line::NotMeasured { name: "show".to_owned(), reason: "there is no `show`".to_owned() },
        ]
    }

    #[test]
    fn the_table_says_what_is_met_and_what_is_not() {
        let expected = "\
figure                              reached   target                    reference             ratio  noise
CPU per assertion: flat [1]         0.381 µs  ≤ 0.41 µs         met     bare loop 0.27 µs     1.41   1.04
peak memory: 1,000,000 records [1]  70.2 MB   ≤ 64 MB, ≤ 1.1 ×  missed  10,000 records 69 MB  1.02
judges, 50 at once: time            4.2 s     ≤ 1.05 ×          met     bare load 4.05 s      1.04   1.41 noisy
judges, 50 at once: in flight       49        = 50              missed
rerun: CPU per answer [2]           12.3 µs
show: not measured: there is no `show`

[1] nothing was kept
[2] start-up is in it
";
        assert_eq!(table(&lines()), expected);
    }

    #[test]
    fn programs_get_the_same_without_rounding() {
        let json: Vec<Value> = lines().iter().map(Line::to_json).collect();
        let expected = json!({
            "name": "CPU per assertion: flat",
            "reached": 0.3812,
            "unit": "us",
            "targets": [{ "at_most": 0.41 }],
            "met": true,
            "reference": { "name": "bare loop", "value": 0.27, "ratio": 1.4119, "noise": 1.0449 },
            "note": "nothing was kept",
        });
        assert_eq!(json[0], expected);
        assert_eq!(json[1]["targets"], json!([{ "at_most": 64.0 }, { "ratio_at_most": 1.1 }]));
        assert_eq!((&json[3]["met"], &json[4]["met"]), (&json!(false), &Value::Null));
        assert_eq!(json[5], json!({ "name": "show", "not_measured": "there is no `show`" }));
    }

    #[test]
    fn numbers_have_the_digits_that_matter() {
        let shown = [0.0, 0.4149, 0.41, 1.0, 1.25, 4.056, 20.0, 23.45, 123.4, 1_000_000.0].map(three_digits);
        assert_eq!(shown, ["0", "0.415", "0.41", "1", "1.25", "4.06", "20", "23.4", "123", "1000000"]);
        assert_eq!([1, 999, 1_000, 1_234_567].map(grouped), ["1", "999", "1,000", "1,234,567"]);
    }
}
