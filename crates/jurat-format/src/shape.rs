//! What values look like, each together with how it is read.

use crate::choice::Choice;
use crate::form::Form;
use crate::reader::Reading;
use crate::value::{FieldPath, Node, Spanned, Value};

/// Reads a value; its second argument names the value in problems.
pub type Read<V> = fn(&mut Reading<'_>, &str, &Node<'_>) -> Option<V>;

/// What a value looks like, and how it is read.
pub struct Shape<V> {
    pub form: Form,
    pub read: Read<V>,
}

// Derived, these would want the value to be `Copy`, which is never there.
impl<V> Copy for Shape<V> {}

impl<V> Clone for Shape<V> {
    fn clone(&self) -> Shape<V> {
        *self
    }
}

impl<V> Shape<V> {
    pub const fn new(form: Form, read: Read<V>) -> Shape<V> {
        Shape { form, read }
    }
}

/// A value that is read as the tree that it is: its object's reader takes it with [`Fields::node`](crate::fields::Fields::node), because what it means
/// depends on other keys, or because its parts become parts of something else.
#[derive(Debug)]
pub enum Tree {}

/// A value of this form that is read as a tree.
pub const fn tree(form: Form) -> Shape<Tree> {
    Shape::new(form, |_, _, _| None)
}

/// A value that is accepted in files of other programs and changes nothing.
#[derive(Debug)]
pub enum Unused {}

/// A value of this form that changes nothing.
pub const fn unused(form: Form) -> Shape<Unused> {
    Shape::new(form, |_, _, _| None)
}

/// Any value.
pub const VALUE: Shape<Value> = Shape::new(Form::Any, |_, _, node| Some(node.to_val().into_owned()));

pub const TEXT: Shape<Spanned<String>> = Shape::new(Form::Text, text);

/// A text whose place does not matter.
pub const STRING: Shape<String> =
    Shape::new(Form::Text, |reading, what, node| reading.text(what, node).map(|it| it.value));

pub const TEXTS: Shape<Vec<Spanned<String>>> =
    Shape::new(Form::List(&Form::Text), |reading, what, node| Some(reading.texts(what, node)));

/// Texts whose places do not matter.
pub const STRINGS: Shape<Vec<String>> = Shape::new(Form::List(&Form::Text), |reading, what, node| {
    Some(reading.texts(what, node).into_iter().map(|it| it.value).collect())
});

pub const BOOLEAN: Shape<bool> = Shape::new(Form::Boolean, boolean);

pub const ID: Shape<Spanned<String>> = Shape::new(Form::Id, id);

pub const PATH: Shape<Spanned<FieldPath>> = Shape::new(Form::Path, path);

/// Any number.
pub const NUMBER: Shape<f64> = Shape::new(Form::Number(f64::NEG_INFINITY, f64::INFINITY), |reading, what, node| {
    reading.number(what, (f64::NEG_INFINITY, f64::INFINITY), node)
});

/// A number of at least 0.
pub const AMOUNT: Shape<f64> = Shape::new(Form::Number(0.0, f64::INFINITY), |reading, what, node| {
    reading.number(what, (0.0, f64::INFINITY), node)
});

/// A number from 0 to 1.
pub const SHARE: Shape<f64> =
    Shape::new(Form::Number(0.0, 1.0), |reading, what, node| reading.number(what, (0.0, 1.0), node));

/// A whole number of at least `LEAST`.
pub const fn count<const LEAST: u32>() -> Shape<u32> {
    Shape::new(Form::Integer(LEAST as i64), |reading, what, node| reading.count(what, LEAST, node))
}

/// A whole number of at least `LEAST`, in 64 bits.
pub const fn integer<const LEAST: i64>() -> Shape<i64> {
    Shape::new(Form::Integer(LEAST), |reading, what, node| reading.integer(what, LEAST, node))
}

/// A whole number of at least `LEAST`, which may be larger than a [`count`].
pub const fn large_count<const LEAST: i64>() -> Shape<u64> {
    Shape::new(Form::Integer(LEAST), |reading, what, node| u64::try_from(reading.integer(what, LEAST, node)?).ok())
}

/// One of the names of an enum that [`choices!`](crate::choices) declares.
pub const fn choice<T: Choice>() -> Shape<T> {
    Shape::new(Form::Choice(T::NAMES), |reading, what, node| reading.choice(what, T::NAMED, node))
}

/// A text, or a list of them.
pub const TEXT_OR_TEXTS: Form = Form::Either(&[Form::Text, Form::List(&Form::Text)]);

// Methods of `Reading` are of one lifetime, and a shape reads for any.
fn text(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Spanned<String>> {
    reading.text(what, node)
}

fn boolean(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<bool> {
    reading.boolean(what, node)
}

fn id(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Spanned<String>> {
    reading.id(what, node)
}

fn path(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Spanned<FieldPath>> {
    reading.path(what, node)
}
