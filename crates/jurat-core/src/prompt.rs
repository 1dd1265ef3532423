//! Prompts with holes: `${name}` and `${name.path}` are filled from the context, in one pass.
//!
//! Text goes in as it is, every other value as JSON. What a value holds is never looked at again, so an answer that
//! contains `${secret}` stays an answer. `${}`, `$5` and `${` around something that is not a path are text.

use std::ops::Range;

use jurat_format::value::{Context, FieldPath, Missing, Val};

#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    text: String,
    holes: Vec<Hole>,
    /// `${…}` that is not a path: it stays text, and the author is warned.
    literals: Vec<Range<usize>>,
}

/// A place in a prompt that the context fills.
#[derive(Debug, Clone, PartialEq)]
pub struct Hole {
    pub path: FieldPath,
    /// The bytes of the prompt that it replaces, `${` and `}` included.
    pub range: Range<usize>,
}

impl Prompt {
    /// Finds the holes of a text.
    pub fn parse(text: impl Into<String>) -> Prompt {
        let text = text.into();
        let (mut holes, mut literals) = (Vec::new(), Vec::new());
        let (mut from, mut end) = (0, 0);
        while let Some(start) = text[from..].find("${").map(|it| from + it) {
            let inside = start + 2;
            // Many may start before the same end, which is then looked for once.
            if end < inside {
                let Some(next) = text[inside..].find('}').map(|it| inside + it) else { break };
                end = next;
            }
            match FieldPath::parse(&text[inside..end]) {
                Ok(path) => {
                    holes.push(Hole { path, range: start..end + 1 });
                    from = end + 1;
                }
                Err(_) => {
                    // A hole may start inside what looked like one: `${a ${b}`.
                    let is_innermost = !text[inside..end].contains("${");
                    if end > inside && is_innermost {
                        literals.push(start..end + 1);
                    }
                    from = inside;
                }
            }
        }
        Prompt { text, holes, literals }
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The holes in the order they stand.
    pub fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// What looks like a hole and is not one.
    pub fn literals(&self) -> &[Range<usize>] {
        &self.literals
    }

    /// The prompt with its holes filled, or in words what the context cannot supply.
    pub fn bound(&self, context: Context<'_>) -> Result<String, String> {
        self.bind(context)
            .map_err(|(hole, missing)| format!("the prompt needs `{}`: {}", hole.path, missing.explain(&hole.path)))
    }

    /// The prompt with its holes filled, or the first one that the context cannot fill.
    pub fn bind(&self, context: Context<'_>) -> Result<String, (&Hole, Missing)> {
        let mut bound = String::with_capacity(self.text.len() * 2);
        let mut from = 0;
        for hole in &self.holes {
            bound.push_str(&self.text[from..hole.range.start]);
            match &*context.find(&hole.path).map_err(|missing| (hole, missing))? {
                Val::Str(text) => bound.push_str(text),
                other => bound.push_str(&other.to_json()),
            }
            from = hole.range.end;
        }
        bound.push_str(&self.text[from..]);
        Ok(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jurat_format::value::parse_json;

    #[track_caller]
    fn bound(prompt: &str, expected: &str) {
        let context = parse_json(r#"{"q": "say \"hi\"", "n": 5, "o": {"k": [1, "x"]}, "evil": "${q}"}"#).unwrap().value;
        let prompt = Prompt::parse(prompt);
        let answer = prompt.bind(Context::of(&context));
        let answer = answer.unwrap_or_else(|(hole, missing)| missing.explain(&hole.path));
        assert_eq!(answer, expected);
    }

    #[test]
    fn holes_are_filled_in_one_pass() {
        bound("Judge ${q}!", "Judge say \"hi\"!");
        bound("${n} ${o.k[1]} ${o}", "5 x {\"k\":[1,\"x\"]}");
        bound("${evil}", "${q}");
        bound("$5 ${} ${ q } {q} $q ${", "$5 ${} ${ q } {q} $q ${");
        bound("${a ${q}", "${a say \"hi\"");
        bound("${nope}", "the context has no `nope`; it has q, n, o, evil");
    }
}
