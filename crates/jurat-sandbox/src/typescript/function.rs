//! What the entry function takes.

use oxc_ast::ast::{
    BindingPattern, Declaration, ExportDefaultDeclarationKind, Expression, FormalParameters, Program, PropertyKey,
    Statement, VariableDeclaration,
};
use oxc_span::GetSpan as _;

use super::reading::{position, refused};
use crate::{Parameter, Passing, Refused, Signature};

/// Finds a name at the top level, and what it takes when it is written as a function there.
pub(super) fn signature(program: &Program<'_>, entry: &str) -> Result<Option<Signature>, Refused> {
    let found = program.body.iter().rev().find_map(|it| named(it, entry));
    match found {
        None => Err(refused(program.source_text, None, format!("there is no function `{entry}` at the top level"))),
        Some(None) => Ok(None),
        Some(Some((parameters, offset))) => Ok(Some(read(program.source_text, parameters, offset))),
    }
}

/// The parameters of a function and where it is, if the name is written as a function.
type Found<'p, 'a> = Option<(&'p FormalParameters<'a>, u32)>;

fn named<'p, 'a>(statement: &'p Statement<'a>, entry: &str) -> Option<Found<'p, 'a>> {
    match statement {
        Statement::ExportDeclaration(export) => declared(&export.declaration, entry),
        Statement::ExportDefaultDeclaration(export) => match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                let is_it = function.id.as_ref().is_some_and(|it| it.name == entry);
                (is_it && function.body.is_some()).then(|| Some((&*function.params, function.span.start)))
            }
            _ => None,
        },
        _ => declared(statement.as_declaration()?, entry),
    }
}

fn declared<'p, 'a>(declaration: &'p Declaration<'a>, entry: &str) -> Option<Found<'p, 'a>> {
    match declaration {
        // One without a body only says what others look like.
        Declaration::FunctionDeclaration(it)
            if it.body.is_some() && it.id.as_ref().is_some_and(|it| it.name == entry) =>
        {
            Some(Some((&*it.params, it.span.start)))
        }
        Declaration::VariableDeclaration(it) if !it.declare => assigned(it, entry),
        _ => None,
    }
}

fn assigned<'p, 'a>(declaration: &'p VariableDeclaration<'a>, entry: &str) -> Option<Found<'p, 'a>> {
    declaration.declarations.iter().find_map(|it| match &it.id {
        BindingPattern::BindingIdentifier(id) if id.name == entry => Some(match it.init.as_ref().map(inner) {
            Some(Expression::ArrowFunctionExpression(arrow)) => Some((&*arrow.params, it.span.start)),
            Some(Expression::FunctionExpression(function)) => Some((&*function.params, it.span.start)),
            _ => None,
        }),
        BindingPattern::BindingIdentifier(_) => None,
        // It may come out of something that is taken apart.
        pattern => pattern.get_binding_identifiers().iter().any(|it| it.name == entry).then_some(None),
    })
}

/// What is left of an expression without brackets and types.
fn inner<'p, 'a>(expression: &'p Expression<'a>) -> &'p Expression<'a> {
    match expression {
        Expression::ParenthesizedExpression(it) => inner(&it.expression),
        Expression::TSAsExpression(it) => inner(&it.expression),
        Expression::TSSatisfiesExpression(it) => inner(&it.expression),
        Expression::TSNonNullExpression(it) => inner(&it.expression),
        other => other,
    }
}

fn read(source: &str, given: &FormalParameters<'_>, offset: u32) -> Signature {
    let at = |offset: u32| position(source, offset as usize);
    let parameter = |name: &str, is_required, offset| {
        let (line, column) = at(offset);
        Parameter { name: name.to_owned(), is_required, line, column }
    };
    let mut parameters = Vec::new();
    let mut is_open = false;
    let passing = match given.items.as_slice() {
        [only] if let BindingPattern::ObjectPattern(object) = &only.pattern => {
            for property in &object.properties {
                if let PropertyKey::StaticIdentifier(_) | PropertyKey::StringLiteral(_) = &property.key {
                    let name = property.key.static_name().unwrap_or_default();
                    // What is not given is `undefined`, and whether that will do shows only in the types.
                    parameters.push(parameter(&name, false, property.span.start));
                }
            }
            is_open = object.rest.is_some();
            Passing::Object
        }
        items => {
            for item in items {
                if let BindingPattern::BindingIdentifier(id) = &item.pattern {
                    let is_required = !item.optional && item.initializer.is_none();
                    parameters.push(parameter(&id.name, is_required, item.pattern.span().start));
                }
            }
            Passing::Positions
        }
    };
    Signature { parameters, is_open, passing, line: at(offset).0 }
}
