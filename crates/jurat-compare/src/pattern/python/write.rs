//! The tree, written in the syntax that `regex` and `fancy-regex` share.
//!
//! Characters that could mean something are written as `\x{..}`, so that nothing depends on
//! which of them an engine treats as special, inside a class or outside.

use std::fmt::Write;

use super::{Alphabet, Category, CategoryKind, Dialect, Empties, EngineKind, Greed, Node, Parsed, Script, Set};

/// Writes a pattern in one dialect.
pub(super) fn script(pattern: &Parsed, dialect: Dialect) -> Script {
    let engine = match dialect {
        Dialect::Linear => EngineKind::Linear,
        Dialect::Backtracking | Dialect::Exact => EngineKind::Backtracking,
    };
    let empties = if pattern.width.least > 0 {
        Empties::Never
    } else if pattern.width.most > 0 && pattern.traits.prefers_less {
        let dialect = match dialect {
            Dialect::Linear | Dialect::Backtracking => Dialect::Backtracking,
            Dialect::Exact => Dialect::Exact,
        };
        Empties::Hiding { backtracking: written(pattern, dialect) }
    } else {
        Empties::LastResort
    };
    Script { text: written(pattern, dialect), engine, empties }
}

fn written(pattern: &Parsed, dialect: Dialect) -> String {
    let mut writer = Writer { out: String::new(), dialect, referenced: &pattern.referenced };
    writer.node(&pattern.node);
    writer.out
}

struct Writer<'p> {
    out: String,
    dialect: Dialect,
    referenced: &'p [usize],
}

impl Writer<'_> {
    fn node(&mut self, node: &Node) {
        match node {
            Node::Empty => {}
            Node::Char(c) => self.point(*c),
            Node::Set(set) => self.set(set),
            Node::TextStart => self.out.push_str(r"\A"),
            Node::LineStart => self.out.push_str("(?m:^)"),
            Node::TextEnd => self.out.push_str(r"\z"),
            Node::Dollar => self.out.push_str(match self.dialect {
                Dialect::Linear => r"\z",
                Dialect::Backtracking | Dialect::Exact => r"(?=\n?\z)",
            }),
            Node::LineEnd => self.out.push_str("(?m:$)"),
            Node::Boundary { inside, alphabet } => self.boundary(*inside, *alphabet),
            Node::Group { number, inner } => {
                let captures = self.referenced.binary_search(number).is_ok();
                self.enclosed(if captures { "(" } else { "(?:" }, inner);
            }
            Node::Look { ahead, negated, inner } => {
                let open = match (ahead, negated) {
                    (true, false) => "(?=",
                    (true, true) => "(?!",
                    (false, false) => "(?<=",
                    (false, true) => "(?<!",
                };
                self.enclosed(open, inner);
            }
            Node::Atomic(inner) => self.enclosed("(?>", inner),
            Node::Repeat { inner, least, most, greed } => {
                self.repeat(inner, *least, *most, *greed);
            }
            Node::Sequence(nodes) => {
                for node in nodes {
                    match node {
                        Node::Choice(_) => self.enclosed("(?:", node),
                        _ => self.node(node),
                    }
                }
            }
            Node::Choice(branches) => {
                for (ix, branch) in branches.iter().enumerate() {
                    if ix > 0 {
                        self.out.push('|');
                    }
                    self.node(branch);
                }
            }
            Node::Reference { group, ignore_case } => {
                // Without the group a digit that follows would join the number.
                let open = if *ignore_case { "(?i:" } else { "(?:" };
                let number = self.capture_number(*group);
                self.put(format_args!(r"{open}\{number})"));
            }
            Node::Condition { group, then, otherwise } => {
                let number = self.capture_number(*group);
                self.put(format_args!("(?({number})"));
                self.branch(then);
                self.out.push('|');
                self.branch(otherwise);
                self.out.push(')');
            }
        }
    }

    fn enclosed(&mut self, open: &str, inner: &Node) {
        self.out.push_str(open);
        self.node(inner);
        self.out.push(')');
    }

    /// A branch of a condition. Two branches without text would read as a bare condition, which
    /// `fancy-regex` takes for a demand.
    fn branch(&mut self, branch: &Node) {
        match branch {
            Node::Empty => self.out.push_str("(?:|)"),
            branch => self.enclosed("(?:", branch),
        }
    }

    fn repeat(&mut self, inner: &Node, least: u32, most: Option<u32>, greed: Greed) {
        if greed == Greed::Possessive {
            self.out.push_str("(?>");
        }
        match inner {
            Node::Char(_) | Node::Set(_) | Node::Group { .. } => self.node(inner),
            _ => self.enclosed("(?:", inner),
        }
        match (least, most) {
            (0, None) => self.out.push('*'),
            (1, None) => self.out.push('+'),
            (0, Some(1)) => self.out.push('?'),
            (least, None) => self.put(format_args!("{{{least},}}")),
            (least, Some(most)) => self.put(format_args!("{{{least},{most}}}")),
        }
        match greed {
            Greed::Greedy => {}
            Greed::Lazy => self.out.push('?'),
            Greed::Possessive => self.out.push(')'),
        }
    }

    fn boundary(&mut self, inside: bool, alphabet: Alphabet) {
        let exact = match (self.dialect, alphabet) {
            (Dialect::Linear, _) => false,
            (Dialect::Backtracking, alphabet) => alphabet == Alphabet::Ascii,
            (Dialect::Exact, _) => true,
        };
        if exact {
            let word = match alphabet {
                Alphabet::Ascii => "[0-9A-Za-z_]",
                Alphabet::Unicode => r"[\p{L}\p{N}_]",
            };
            if inside {
                // The last look-around is for the empty text, where Python's `\B` fails.
                self.put(format_args!(r"(?:(?<={word})(?={word})|(?<!{word})(?!{word})(?!\A\z))"));
            } else {
                self.put(format_args!(r"(?:(?<={word})(?!{word})|(?<!{word})(?={word}))"));
            }
        } else {
            self.out.push_str(match (inside, alphabet) {
                // `regex` has no ASCII `\B` on text; the special scripts take the texts on which
                // that could be noticed.
                (true, _) => r"\B",
                (false, Alphabet::Unicode) => r"\b",
                (false, Alphabet::Ascii) => r"(?-u:\b)",
            });
        }
    }

    fn set(&mut self, set: &Set) {
        self.out.push_str(if set.negated { "[^" } else { "[" });
        for range in set.points.ranges() {
            self.point(range.start());
            if range.start() != range.end() {
                self.out.push('-');
                self.point(range.end());
            }
        }
        for category in &set.categories {
            self.out.push_str(category_text(*category));
        }
        if set.points.ranges().is_empty() && set.categories.is_empty() {
            // No character at all, which neither engine can spell as `[]`.
            self.out.push_str(r"a&&b");
        }
        self.out.push(']');
    }

    fn point(&mut self, c: char) {
        if c.is_ascii_alphanumeric() || (!c.is_ascii() && c.is_alphanumeric()) {
            self.out.push(c);
        } else {
            self.put(format_args!(r"\x{{{:X}}}", u32::from(c)));
        }
    }

    fn capture_number(&self, group: usize) -> usize {
        self.referenced.partition_point(|it| *it < group) + 1
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.out.write_fmt(text).expect("a string takes any text");
    }
}

/// The items of a class. Python's `\w` has no marks and all numbers, unlike Rust's; its `\s` has
/// the four separators below the space.
fn category_text(category: Category) -> &'static str {
    use Alphabet::{Ascii, Unicode};
    use CategoryKind::{Digit, Space, Word};
    match (category.kind, category.alphabet, category.negated) {
        (Digit, Unicode, false) => r"\p{Nd}",
        (Digit, Unicode, true) => r"\P{Nd}",
        (Digit, Ascii, false) => "0-9",
        (Digit, Ascii, true) => "[^0-9]",
        (Space, Unicode, false) => r"\s\x{1C}-\x{1F}",
        (Space, Unicode, true) => r"[^\s\x{1C}-\x{1F}]",
        (Space, Ascii, false) => r"\x{9}-\x{D}\x{20}",
        (Space, Ascii, true) => r"[^\x{9}-\x{D}\x{20}]",
        (Word, Unicode, false) => r"\p{L}\p{N}_",
        (Word, Unicode, true) => r"[^\p{L}\p{N}_]",
        (Word, Ascii, false) => "0-9A-Za-z_",
        (Word, Ascii, true) => "[^0-9A-Za-z_]",
    }
}
