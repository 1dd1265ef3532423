//! `.env` files: variables for people who do not want to set them each time.
//!
//! ```text
//! # a comment
//! OPENAI_API_KEY=sk-…
//! export GREETING="two words\nand a line"   # another comment
//! LITERAL='nothing $is \special here'
//! ```
//!
//! Nothing is substituted, and a line that is no assignment is passed over: such files are shared with programs that understand more. The
//! environment of the process wins; [`Environment`] sees to that.

/// The variables of a `.env` text, in order. A name that comes twice has its last value last.
pub fn dotenv(text: &str) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    while !rest.is_empty() {
        let line_end = rest.find('\n').map_or(rest.len(), |it| it + 1);
        let Some((name, after)) = name(rest, line_end) else {
            rest = &rest[line_end..];
            continue;
        };
        let (value, after) = value(after);
        variables.push((name.to_owned(), value));
        rest = after.find('\n').map_or("", |it| &after[it + 1..]);
    }
    variables
}

/// Where variables come from: the process first, a `.env` file after it.
#[derive(Clone, Default)]
pub struct Environment {
    process: Vec<(String, String)>,
    file: Vec<(String, String)>,
}

impl Environment {
    /// An environment of the process's variables and those of a `.env` text.
    pub fn new(process: impl IntoIterator<Item = (String, String)>, file: &str) -> Environment {
        Environment { process: process.into_iter().collect(), file: dotenv(file) }
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        let found = |variables: &[(String, String)]| {
            variables.iter().rev().find(|(it, _)| it == name).map(|(_, value)| value.clone())
        };
        found(&self.process).or_else(|| found(&self.file))
    }
}

/// Values may be secrets, so only names are shown.
impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |variables: &[(String, String)]| variables.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        f.debug_struct("Environment").field("process", &names(&self.process)).field("file", &names(&self.file)).finish()
    }
}

/// The name that a line gives a value, and what stands after the `=`.
fn name(text: &str, line_end: usize) -> Option<(&str, &str)> {
    let at = text[..line_end].find('=')?;
    let name = text[..at].trim();
    let name = name.strip_prefix("export").filter(|it| it.starts_with([' ', '\t'])).map_or(name, str::trim);
    let is_name = |it: &str| {
        !it.starts_with(|it: char| it.is_ascii_digit())
            && it.chars().all(|it| it.is_ascii_alphanumeric() || "_.-".contains(it))
    };
    (!name.is_empty() && is_name(name)).then_some((name, &text[at + 1..]))
}

/// A value and what stands after it. Quoted values may go over several lines.
fn value(text: &str) -> (String, &str) {
    let start = text.trim_start_matches([' ', '\t']);
    match start.chars().next() {
        Some('\'') => {
            if let Some(end) = start[1..].find('\'') {
                return (start[1..=end].to_owned(), &start[end + 2..]);
            }
        }
        Some('"') => {
            if let Some(quoted) = double_quoted(&start[1..]) {
                return quoted;
            }
        }
        _ => {}
    }
    let end = start.find(['\n', '\r']).unwrap_or(start.len());
    let line = &start[..end];
    let comment = line.char_indices().find(|(at, it)| *it == '#' && line[..*at].ends_with([' ', '\t']));
    let value = comment.map_or(line, |(at, _)| &line[..at]);
    let value = if line.starts_with('#') { "" } else { value };
    (value.trim_end().to_owned(), &start[end..])
}

fn double_quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, it)) = characters.next() {
        match it {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match characters.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                other @ ('\\' | '"' | '$') => value.push(other),
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(text: &str, variables: &[(&str, &str)]) {
        let expected: Vec<_> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        assert_eq!(dotenv(text), expected);
    }

    #[test]
    fn lines_are_assignments() {
        reads("A=1\nB = two words \r\n\n# C=3\nexport D=4", &[("A", "1"), ("B", "two words"), ("D", "4")]);
        reads("A=x # not this\nB=x#this\nC=#\nD=", &[("A", "x"), ("B", "x#this"), ("C", ""), ("D", "")]);
        reads("A='#1 $x \\n' # c\nB=\"#2 \\\"q\\\" \\n\\z\"", &[("A", "#1 $x \\n"), ("B", "#2 \"q\" \n\\z")]);
        reads("A=\"first\nsecond\"\nB=1", &[("A", "first\nsecond"), ("B", "1")]);
        reads("A=\"never closed\nB='nor this\nC=1", &[("A", "\"never closed"), ("B", "'nor this"), ("C", "1")]);
        reads("\u{feff}exported=1\nno assignment\n=x\n1A=2\na b=3\nexport=4", &[("exported", "1"), ("export", "4")]);
        reads("A=ä=b", &[("A", "ä=b")]);
    }

    #[test]
    fn the_process_wins() {
        let process = [("A".to_owned(), "process".to_owned())];
        let environment = Environment::new(process, "A=file\nB=file\nB=later");
        assert_eq!(environment.get("A").as_deref(), Some("process"));
        assert_eq!(environment.get("B").as_deref(), Some("later"));
        assert_eq!(environment.get("C"), None);
        assert!(!format!("{environment:?}").contains("process\""), "{environment:?}");
    }
}
