//! From text to tree.

use std::thread;

use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_parser::Parser;
use oxc_span::SourceType;

use crate::{Language, Refused};

/// How long a source may be, in bytes.
const MAX_SOURCE: usize = 128 << 10;

/// Stack that one byte of source can cost: some bytes open a level of their own (`!!!!x`), and every level of the tree is a level of calls.
const STACK_PER_BYTE: usize = 8 << 10;

/// Parses a source and looks at its tree, on a stack that is deep enough for any tree that the source can have. Memory that the stack does not come
/// to use is never taken.
pub(super) fn parsed<R: Send>(
    source: &str,
    language: Language,
    look: impl FnOnce(&Program<'_>) -> Result<R, Refused> + Send,
) -> Result<R, Refused> {
    if source.len() > MAX_SOURCE {
        let message = format!("the source has {} bytes; at most {MAX_SOURCE} are read", source.len());
        return Err(Refused::Source { message, line: None, column: None });
    }
    let kind = if language == Language::TypeScript { SourceType::ts() } else { SourceType::mjs() };
    let read = move || {
        let allocator = Allocator::default();
        let parsed = Parser::new(&allocator, source, kind).parse();
        if let Some(error) = parsed.diagnostics.errors().next() {
            let offset = error.labels.first().map(|it| it.offset() as usize);
            return Err(refused(source, offset, format!("SyntaxError: {}", error.message)));
        }
        look(&parsed.program)
    };
    let stack = (1 << 20) + source.len() * STACK_PER_BYTE;
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("typescript".to_owned()).stack_size(stack).spawn_scoped(scope, read);
        let thread = thread.map_err(|error| Refused::Interpreter(format!("the source cannot be parsed: {error}")))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A problem at a place in the source.
pub(super) fn refused(source: &str, offset: Option<usize>, message: impl Into<String>) -> Refused {
    let place = offset.map(|it| position(source, it));
    Refused::Source { message: message.into(), line: place.map(|it| it.0), column: place.map(|it| it.1) }
}

/// Line and column of a place, both from 1, columns in characters.
pub(super) fn position(source: &str, offset: usize) -> (u32, u32) {
    let before = &source[..source.floor_char_boundary(offset)];
    let line = before.bytes().filter(|it| *it == b'\n').count() + 1;
    let column = before[before.rfind('\n').map_or(0, |it| it + 1)..].chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}
