//! Jinja templates: loops, conditions, filters and defaults, beside `${path}`.
//!
//! A template sees the context and nothing else: it loads no other template, calls no code, and stops after a number of steps. A name that is
//! not there is an error, never an empty text: what was asked must follow from what was written. Text goes in as it is, every other value as JSON,
//! as it does for `${path}`.
//!
//! This is the only place that knows the library.

mod reads;
mod value;

use std::fmt;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use jurat_format::value::{Context, FieldPath, Step};
use minijinja::machinery::{Span, parse};
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::Hole;

/// How many steps a template may take: about as many as a loop over a hundred thousand items.
const FUEL: u64 = 5_000_000;

/// The most bytes that a template may write.
const MOST_BYTES: usize = 16 << 20;

/// The name of the one template that an environment has.
const NAME: &str = "template";

/// A template that was compiled.
#[derive(Clone)]
pub struct Template(Arc<Environment<'static>>);

/// What is wrong with a template, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    pub message: String,
    /// The bytes of the template that it is about.
    pub range: Range<usize>,
}

impl Template {
    /// Compiles a template, and finds what it reads of its context.
    pub fn parse(text: &str) -> Result<(Template, Vec<Hole>), Flaw> {
        let tree = parse(text, NAME, SyntaxConfig::default()).map_err(|error| flaw_of(text, &error))?;
        let mut environment = environment();
        let found = reads::of(&tree, &environment);
        if let Some((message, span)) = found.flaws.into_iter().next() {
            return Err(Flaw { message, range: range(text, span) });
        }
        environment.add_template_owned(NAME, text.to_owned()).map_err(|error| flaw_of(text, &error))?;
        let hole =
            |it: reads::VariableRead| Hole { path: it.path, range: range(text, it.span), is_optional: it.is_optional };
        Ok((Template(Arc::new(environment)), found.reads.into_iter().map(hole).collect()))
    }

    /// The template with the values of its context, or in words why there is none.
    pub fn render(&self, context: Context<'_>, holes: &[Hole]) -> Result<String, String> {
        let mut roots: Vec<&str> = holes.iter().filter_map(|it| it.path.root()).collect();
        roots.sort_unstable();
        roots.dedup();
        let member = |root: &&str| {
            let found = context.find(&FieldPath::of([Step::Key((*root).into())])).ok()?;
            Some(((*root).to_owned(), value::of(&found)))
        };
        let values = Value::from_pairs(roots.iter().filter_map(member));
        let mut written = Bounded(Vec::new());
        let template = self.0.get_template(NAME).map_err(|error| error.to_string())?;
        match template.render_captured_to(values, &mut written) {
            Ok(_) => String::from_utf8(written.0).map_err(|error| error.to_string()),
            Err(error) => Err(failure(&error, context, holes)),
        }
    }
}

/// What a template that could not be rendered is an error for. What is missing is said as it is for `${path}`.
fn failure(error: &Error, context: Context<'_>, holes: &[Hole]) -> String {
    let line = error.line().map(|it| format!(" in line {it}")).unwrap_or_default();
    if error.kind() == ErrorKind::UndefinedError {
        let needed = holes.iter().filter(|it| !it.is_optional);
        let missing = needed.filter_map(|it| Some((it, context.find(&it.path).err()?))).next();
        if let Some((hole, missing)) = missing {
            return format!("the template needs `{}`{line}: {}", hole.path, missing.explain(&hole.path));
        }
        return format!("the template reads something{line} that is not there");
    }
    if error.kind() == ErrorKind::OutOfFuel {
        return format!("the template takes more than {FUEL} steps");
    }
    let source = std::error::Error::source(error).map(|it| format!(": {it}")).unwrap_or_default();
    let words = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    format!("the template cannot be rendered{line}: {words}{source}")
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    // A prompt is no page.
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(|out, _, value| value::write(out, value));
    environment.add_filter("tojson", value::to_json);
    environment.remove_global("debug");
    environment
}

fn flaw_of(text: &str, error: &Error) -> Flaw {
    let words = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    let line = error.line().unwrap_or(1).saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let rest = text.get(start..).unwrap_or_default();
    let first = rest.lines().next().unwrap_or_default();
    let indent = first.len() - first.trim_start().len();
    Flaw { message: words, range: start + indent..start + first.trim_end().len().max(indent) }
}

fn range(text: &str, span: Span) -> Range<usize> {
    let at = |offset: u32| {
        let offset = (offset as usize).min(text.len());
        (0..=offset).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0)
    };
    at(span.start_offset)..at(span.end_offset)
}

/// What a template writes, up to a bound.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_BYTES {
            return Err(std::io::Error::other(format!("it writes more than {MOST_BYTES} bytes")));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The text is compared where it is held.
impl PartialEq for Template {
    fn eq(&self, _: &Template) -> bool {
        true
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Template")
    }
}
