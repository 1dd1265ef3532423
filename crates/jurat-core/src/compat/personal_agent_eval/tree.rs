//! Nodes of jurat's own form, at the places of what they are made from.

use std::borrow::Cow;

use jurat_format::value::{Content, Entry, Node, Span, Val};

pub(super) fn text<'d>(span: Span, text: &str) -> Node<'d> {
    Node { span, content: Content::Scalar(Val::Str(Cow::Owned(text.to_owned()))) }
}

pub(super) fn list<'d>(span: Span, items: Vec<Node<'d>>) -> Node<'d> {
    Node { span, content: Content::List(items) }
}

pub(super) fn map<'d>(span: Span, entries: Vec<Entry<'d>>) -> Node<'d> {
    Node { span, content: Content::Map(entries) }
}

pub(super) fn entry<'d>(key: &'static str, value: Node<'d>) -> Entry<'d> {
    Entry { key: Cow::Borrowed(key), key_span: value.span, value }
}
