//! What models are asked, before a context fills it.
//!
//! In a [`Prompt`], `${name}` and `${name.path}` are filled from the context, in one pass. Text goes in as it is, every other value as JSON. What a value holds is never looked at again, so an answer that
//! contains `${secret}` stays an answer. `${}`, `$5` and `${` around something that is not a path are text. A prompt may be a template
//! instead: [`jinja`]. Several messages are a [`Chat`](crate::chat::Chat).

mod file;
pub mod jinja;
mod placeholders;
pub(crate) mod read;
pub mod text;

pub(crate) use file::{NAMED_FILE, PROMPT_FILE, TEXT_OR_FILE, file_text};
pub(crate) use placeholders::unfilled;
pub(crate) use read::{FORM, SHAPE, TEMPLATE_FORM, filled, is_prompt};

use std::ops::Range;

use jurat_format::value::{Context, FieldPath, Missing, Val, Value};

#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    text: String,
    holes: Vec<Hole>,
    syntax: Syntax,
}

#[derive(Debug, Clone, PartialEq)]
enum Syntax {
    /// `${path}`
    Placeholders {
        /// `${…}` that is not a path: it stays text, and the author is warned.
        literals: Vec<Range<usize>>,
    },
    Jinja(jinja::Template),
}

/// A place in a prompt that the context fills.
#[derive(Debug, Clone, PartialEq)]
pub struct Hole {
    pub path: FieldPath,
    /// The bytes of the prompt that it replaces, `${` and `}` included; in a template, those that read it.
    pub range: Range<usize>,
    /// Whether a template says what happens without it.
    pub is_optional: bool,
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
                    holes.push(Hole { path, range: start..end + 1, is_optional: false });
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
        Prompt { text, holes, syntax: Syntax::Placeholders { literals } }
    }

    /// A Jinja template.
    pub fn jinja(text: impl Into<String>) -> Result<Prompt, jinja::Flaw> {
        let text = text.into();
        let (template, holes) = jinja::Template::parse(&text)?;
        Ok(Prompt { text, holes, syntax: Syntax::Jinja(template) })
    }

    /// Whether it is a Jinja template, which may say a value more than once.
    pub fn is_template(&self) -> bool {
        matches!(self.syntax, Syntax::Jinja(_))
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The prompt as an author may write it, without a file.
    pub fn written(&self) -> Value {
        match self.syntax {
            Syntax::Placeholders { .. } => Val::from(self.text.clone()),
            Syntax::Jinja(_) => Val::Map([("jinja", Val::from(self.text.clone()))].into_iter().collect()),
        }
    }

    /// The holes in the order they stand.
    pub fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// What looks like a hole and is not one.
    pub fn literals(&self) -> &[Range<usize>] {
        match &self.syntax {
            Syntax::Placeholders { literals } => literals,
            Syntax::Jinja(_) => &[],
        }
    }

    /// The prompt with its holes filled, or in words what the context cannot supply.
    pub fn bound(&self, context: Context<'_>) -> Result<String, String> {
        if let Syntax::Jinja(template) = &self.syntax {
            return template.render(context, &self.holes);
        }
        self.bind(context)
            .map_err(|(hole, missing)| format!("the prompt needs `{}`: {}", hole.path, missing.explain(&hole.path)))
    }

    /// The prompt with its holes filled, or the first one that the context cannot fill.
    fn bind(&self, context: Context<'_>) -> Result<String, (&Hole, Missing)> {
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
        filled(&Prompt::parse(prompt), expected);
    }

    #[track_caller]
    fn rendered(template: &str, expected: &str) {
        filled(&Prompt::jinja(template).unwrap(), expected);
    }

    #[track_caller]
    fn filled(prompt: &Prompt, expected: &str) {
        let context = r#"{"q": "say \"hi\"", "n": 5, "o": {"k": [1, "x"]}, "evil": "${q} {{ q }}", "none": null, "half": 0.50,
            "long": 123456789012345678901234567890123456789012345, "docs": [{"t": "a<b"}, {"t": "c"}], "yes": true}"#;
        let context = parse_json(context).unwrap().value;
        let answer = prompt.bound(Context::of(&context)).unwrap_or_else(|reason| reason);
        assert_eq!(answer, expected);
    }

    #[test]
    fn holes_are_filled_in_one_pass() {
        bound("Judge ${q}!", "Judge say \"hi\"!");
        bound("${n} ${o.k[1]} ${o}", "5 x {\"k\":[1,\"x\"]}");
        bound("${evil}", "${q} {{ q }}");
        bound("$5 ${} ${ q } {q} $q ${", "$5 ${} ${ q } {q} $q ${");
        bound("${a ${q}", "${a say \"hi\"");
        bound(
            "${nope}",
            "the prompt needs `nope`: the context has no `nope`; it has q, n, o, evil, none, half, long, docs, yes",
        );
    }

    #[test]
    fn templates_have_loops_conditions_filters_and_defaults() {
        rendered("{% for d in docs %}{{ loop.index }}. {{ d.t }}\n{% endfor %}", "1. a<b\n2. c\n");
        rendered(
            "{{ q | upper }} {{ docs | map(attribute='t') | join(', ') }} {{ docs | length }}",
            "SAY \"HI\" a<b, c 2",
        );
        rendered("{% if yes %}{{ nope | default('nothing') }}{% endif %}", "nothing");
        rendered("{% if nope is defined %}{{ nope }}{% else %}absent{% endif %}", "absent");
        rendered("{% set n = 3 %}{{ n }}{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(q) }}", "3<say \"hi\">");
    }

    #[test]
    fn values_go_into_templates_as_they_do_into_placeholders() {
        for path in ["q", "n", "o", "o.k[1]", "evil", "none", "half", "long", "yes", "docs"] {
            let plain = Prompt::parse(format!("${{{path}}}"));
            let context = parse_json(
                r#"{"q": "a\nb", "n": -5, "o": {"k": [1, "x\"y"]}, "evil": "{{ q }}", "none": null, "half": 0.50,
                "long": 123456789012345678901234567890123456789012345, "docs": [], "yes": true}"#,
            );
            let context = context.unwrap().value;
            let template = Prompt::jinja(format!("{{{{ {path} }}}}")).unwrap();
            assert_eq!(template.bound(Context::of(&context)), plain.bound(Context::of(&context)), "{path}");
        }
        rendered(
            "{{ o | tojson }} {{ docs | tojson(indent=1) }}",
            "{\"k\":[1,\"x\"]} [\n {\n  \"t\": \"a<b\"\n },\n {\n  \"t\": \"c\"\n }\n]",
        );
    }

    #[test]
    fn what_is_not_there_is_an_error_and_never_an_empty_text() {
        rendered(
            "a\n{{ nope }}",
            "the template needs `nope` in line 2: the context has no `nope`; it has q, n, o, evil, none, half, long, docs, yes",
        );
        rendered("{{ o.z }}", "the template needs `o.z` in line 1: `o` has no `z`; it has k");
        rendered(
            "{% if nope %}x{% endif %}",
            "the template needs `nope` in line 1: the context has no `nope`; it has q, n, o, evil, none, half, long, docs, yes",
        );
        rendered(
            "{% for d in docs %}{{ d.title }}{% endfor %}",
            "the template reads something in line 1 that is not there",
        );
        rendered(
            "{% for a in range(90000) %}{% for b in range(90000) %}{{ b }}{% endfor %}{% endfor %}",
            "the template takes more than 5000000 steps",
        );
    }

    #[track_caller]
    fn flawed(template: &str, message: &str, at: &str) {
        let flaw = Prompt::jinja(template).unwrap_err();
        assert_eq!((flaw.message.as_str(), &template[flaw.range]), (message, at));
    }

    #[test]
    fn what_cannot_be_rendered_is_found_before() {
        flawed("a\n  {% for x in %}\nb", "unexpected end of block", "{% for x in %}");
        flawed("{{ q | uper }}", "there is no filter `uper`; did you mean `upper`?", "uper");
        flawed("{% if q is defnied %}x{% endif %}", "there is no test `defnied`; did you mean `defined`?", "defnied");
        flawed(
            "{% include 'x' %}",
            "`include` is not available: a template is one text, without other templates",
            "include 'x'",
        );
        flawed("{{ now() }}", "there is no function `now`; a template has range, dict and namespace", "now");
    }

    #[track_caller]
    fn reads(template: &str, expected: &[&str]) {
        let prompt = Prompt::jinja(template).unwrap();
        let shown = |it: &Hole| format!("{}{}", it.path, if it.is_optional { "?" } else { "" });
        assert_eq!(prompt.holes().iter().map(shown).collect::<Vec<_>>(), expected);
        for hole in prompt.holes() {
            assert!(template[hole.range.clone()].contains(hole.path.root().unwrap()), "{hole:?}");
        }
    }

    #[test]
    fn what_a_template_reads_is_known() {
        reads("é {{ a.b[0]['c d'] }} {{ a }}", &["a.b[0][\"c d\"]", "a"]);
        reads(
            "{% for x in xs if x.ok %}{{ x.y }} {{ loop.index }} {{ z }}{% else %}{{ x }}{% endfor %}",
            &["xs", "z", "x"],
        );
        reads("{{ a | default(b) }} {{ a.c }} {{ d is defined and d }}", &["a?", "b", "a.c?", "d?", "d?"]);
        reads("{{ text.split(sep) }} {{ range(n) }}", &["text", "sep", "n"]);
        reads("{% set a = b %}{{ a }}{% with c = d %}{{ c }}{% endwith %}{{ c }}", &["b", "d", "c"]);
    }
}
