//! `ExportTraceServiceRequest` in its binary form.

use jurat_format::value::{Val, Value};

use super::protobuf::{Field, Message};
use super::span::{Span, SpanEvent};
use crate::document::{Object, text_at};

/// Whether bytes begin as a request does: resource spans, in which a resource or a scope begins.
pub(super) fn looks_like_request(bytes: &[u8]) -> bool {
    let after_length = |bytes: &[u8]| bytes.iter().take(10).position(|it| it & 0x80 == 0).map(|it| it + 1);
    let inner = |bytes: &[u8]| {
        let rest = bytes.strip_prefix(&[0x0a])?;
        rest.get(after_length(rest)?).copied()
    };
    let is_request = |bytes: &[u8]| matches!(inner(bytes), Some(0x0a | 0x12));
    is_request(bytes) || after_length(bytes).is_some_and(|it| it < bytes.len() && is_request(&bytes[it..]))
}

/// Reads one request, or several with their lengths before them.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Vec<Span>, String> {
    request(name, Message::new(bytes)).or_else(|why| delimited(name, bytes).map_err(|_| why))
}

fn delimited(name: &str, bytes: &[u8]) -> Result<Vec<Span>, String> {
    let (mut rest, mut found) = (Message::new(bytes), Vec::new());
    while let Some(message) = rest.delimited()? {
        found.extend(request(name, message)?);
    }
    Ok(found)
}

fn request(name: &str, mut message: Message<'_>) -> Result<Vec<Span>, String> {
    let mut found = Vec::new();
    while let Some((number, field)) = message.next()? {
        if let (1, Field::Bytes(inner)) = (number, field) {
            resource_spans(name, inner, &mut found)?;
        }
    }
    Ok(found)
}

fn resource_spans(name: &str, message: Message<'_>, found: &mut Vec<Span>) -> Result<(), String> {
    let (mut rest, mut service, first) = (message, None, found.len());
    while let Some((number, field)) = rest.next()? {
        match (number, field) {
            (1, Field::Bytes(resource)) => {
                let attributes = attributes_of(resource, 1)?;
                service = text_at(&attributes.into(), "service.name").map(str::to_owned);
            }
            (2, Field::Bytes(scope)) => {
                let mut scope = scope;
                while let Some((number, field)) = scope.next()? {
                    if let (2, Field::Bytes(inner)) = (number, field) {
                        found.push(span(name, inner)?);
                    }
                }
            }
            _ => {}
        }
    }
    found[first..].iter_mut().for_each(|it| it.service.clone_from(&service));
    Ok(())
}

fn span(name: &str, message: Message<'_>) -> Result<Span, String> {
    let mut span = Span { at: format!("{name}: byte {}", message.offset()), ..Span::default() };
    let (mut rest, mut attributes) = (message, Object::new());
    while let Some((number, field)) = rest.next()? {
        match (number, field) {
            (1, Field::Bytes(it)) => span.trace_id = hexadecimal(it.bytes()),
            (2, Field::Bytes(it)) => span.span_id = hexadecimal(it.bytes()),
            (4, Field::Bytes(it)) => span.parent_id = Some(hexadecimal(it.bytes())).filter(|it| !it.is_empty()),
            (5, Field::Bytes(it)) => span.name = it.text()?,
            (7, Field::Fixed(it)) => span.start = it,
            (8, Field::Fixed(it)) => span.end = Some(it).filter(|it| *it > 0),
            (9, Field::Bytes(it)) => key_value(it, &mut attributes, 0)?,
            (11, Field::Bytes(it)) => span.events.push(event(it)?),
            (13, Field::Bytes(_)) => span.n_links += 1,
            (15, Field::Bytes(it)) => status(it, &mut span)?,
            _ => {}
        }
    }
    span.attributes = attributes;
    Ok(span)
}

fn status(mut message: Message<'_>, span: &mut Span) -> Result<(), String> {
    while let Some((number, field)) = message.next()? {
        match (number, field) {
            (2, Field::Bytes(it)) => span.message = it.text()?,
            (3, Field::Integer(code)) => span.is_error = code == 2,
            _ => {}
        }
    }
    Ok(())
}

fn event(mut message: Message<'_>) -> Result<SpanEvent, String> {
    let mut event = SpanEvent::default();
    while let Some((number, field)) = message.next()? {
        match (number, field) {
            (2, Field::Bytes(it)) => event.name = it.text()?,
            (3, Field::Bytes(it)) => key_value(it, &mut event.attributes, 0)?,
            _ => {}
        }
    }
    Ok(event)
}

/// The attributes of a message that has them under a number.
fn attributes_of(mut message: Message<'_>, wanted: u64) -> Result<Object, String> {
    let mut attributes = Object::new();
    while let Some((number, field)) = message.next()? {
        if let (true, Field::Bytes(it)) = (number == wanted, field) {
            key_value(it, &mut attributes, 0)?;
        }
    }
    Ok(attributes)
}

fn key_value(mut message: Message<'_>, into: &mut Object, depth: usize) -> Result<(), String> {
    let (mut key, mut value) = (String::new(), Val::Null);
    while let Some((number, field)) = message.next()? {
        match (number, field) {
            (1, Field::Bytes(it)) => key = it.text()?,
            (2, Field::Bytes(it)) => value = any_value(it, depth)?,
            _ => {}
        }
    }
    into.put(&key, value);
    Ok(())
}

/// How deep values of attributes may be nested.
const DEEPEST: usize = 32;

fn any_value(mut message: Message<'_>, depth: usize) -> Result<Value, String> {
    if depth > DEEPEST {
        return Err(format!("byte {}: nested more than {DEEPEST} deep", message.offset()));
    }
    let mut value = Val::Null;
    while let Some((number, field)) = message.next()? {
        value = match (number, field) {
            (1, Field::Bytes(it)) => Val::from(it.text()?),
            (2, Field::Integer(it)) => Val::Bool(it != 0),
            (3, Field::Integer(it)) => Val::I(it.cast_signed()),
            (4, Field::Fixed(it)) => Val::F(f64::from_bits(it)),
            (5, Field::Bytes(it)) => list(it, depth)?,
            (6, Field::Bytes(it)) => {
                let (mut members, mut rest) = (Object::new(), it);
                while let Some((number, field)) = rest.next()? {
                    if let (1, Field::Bytes(it)) = (number, field) {
                        key_value(it, &mut members, depth + 1)?;
                    }
                }
                members.into()
            }
            (7, Field::Bytes(it)) => Val::from(format!("[{} bytes]", it.bytes().len())),
            _ => value,
        };
    }
    Ok(value)
}

fn list(mut message: Message<'_>, depth: usize) -> Result<Value, String> {
    let mut items = Vec::new();
    while let Some((number, field)) = message.next()? {
        if let (1, Field::Bytes(it)) = (number, field) {
            items.push(any_value(it, depth + 1)?);
        }
    }
    Ok(Val::List(items))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
