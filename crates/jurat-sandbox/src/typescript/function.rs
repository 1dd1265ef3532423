//! What the entry function takes.

use oxc_ast::ast::{
    BindingPattern, BindingProperty, Declaration, ExportDefaultDeclarationKind, Expression, FormalParameters, Program,
    PropertyKey, Statement, TSSignature, TSType, TSTypeName, VariableDeclaration,
};
use oxc_span::GetSpan as _;

use super::reading::position;
use crate::{Parameter, Passing, Refused, Signature};

/// Finds a name at the top level, and what it takes when it is written as a function there.
pub(super) fn signature(program: &Program<'_>, entry: &str) -> Result<Option<Signature>, Refused> {
    let found = program.body.iter().rev().find_map(|it| named(it, entry));
    match found {
        None => Err(Refused::NoFunction { entry: entry.to_owned(), functions: functions(program) }),
        Some(None) => Ok(None),
        Some(Some((parameters, offset))) => Ok(Some(read(program, parameters, offset))),
    }
}

/// The names at the top level that are written as functions.
fn functions(program: &Program<'_>) -> Vec<String> {
    let declared = program.body.iter().filter_map(declaration);
    let names = declared.flat_map(|it| match it {
        Declaration::FunctionDeclaration(it) => it.id.iter().map(|it| it.name.to_string()).collect::<Vec<_>>(),
        Declaration::VariableDeclaration(it) => {
            let names = it.declarations.iter().flat_map(|it| it.id.get_binding_identifiers());
            names.map(|it| it.name.to_string()).collect()
        }
        _ => Vec::new(),
    });
    let is_function = |name: &String| program.body.iter().any(|it| matches!(named(it, name), Some(Some(_))));
    names.filter(is_function).collect()
}

fn declaration<'p, 'a>(statement: &'p Statement<'a>) -> Option<&'p Declaration<'a>> {
    match statement {
        Statement::ExportDeclaration(export) => Some(&export.declaration),
        _ => statement.as_declaration(),
    }
}

/// The parameters of a function and where it is, if the name is written as a function.
type Found<'p, 'a> = Option<(&'p FormalParameters<'a>, u32)>;

fn named<'p, 'a>(statement: &'p Statement<'a>, entry: &str) -> Option<Found<'p, 'a>> {
    match statement {
        Statement::ExportDefaultDeclaration(export) => match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                let is_it = function.id.as_ref().is_some_and(|it| it.name == entry);
                (is_it && function.body.is_some()).then(|| Some((&*function.params, function.span.start)))
            }
            _ => None,
        },
        _ => declared(declaration(statement)?, entry),
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

fn read(program: &Program<'_>, given: &FormalParameters<'_>, offset: u32) -> Signature {
    let at = |offset: u32| position(program.source_text, offset as usize);
    let parameter = |name: &str, is_required, offset| {
        let (line, column) = at(offset);
        Parameter { name: name.to_owned(), is_required, line, column }
    };
    let mut parameters = Vec::new();
    let mut is_open = false;
    let passing = match given.items.as_slice() {
        [only] if let BindingPattern::ObjectPattern(object) = &only.pattern => {
            let members = only.type_annotation.as_ref().and_then(|it| members(program, &it.type_annotation));
            for property in &object.properties {
                if let PropertyKey::StaticIdentifier(_) | PropertyKey::StringLiteral(_) = &property.key {
                    let name = property.key.static_name().unwrap_or_default();
                    let is_required = is_required(property, &name, members);
                    parameters.push(parameter(&name, is_required, property.span.start));
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

/// What is not given is `undefined`. That will do where the property has a default, or where its type says so.
fn is_required(property: &BindingProperty<'_>, name: &str, members: Option<&[TSSignature<'_>]>) -> bool {
    if let BindingPattern::AssignmentPattern(_) = &property.value {
        return false;
    }
    let own = members.into_iter().flatten().find_map(|it| match it {
        TSSignature::TSPropertySignature(it) if it.key.static_name().is_some_and(|it| it == name) => Some(it),
        _ => None,
    });
    let may_be_undefined = |it: &TSType<'_>| match it {
        TSType::TSUndefinedKeyword(_) => true,
        TSType::TSUnionType(it) => it.types.iter().any(|it| matches!(it, TSType::TSUndefinedKeyword(_))),
        _ => false,
    };
    !own.is_some_and(|it| it.optional || it.type_annotation.iter().any(|it| may_be_undefined(&it.type_annotation)))
}

/// The members of a type that is written out, here or at the top level.
fn members<'p, 'a>(program: &'p Program<'a>, written: &'p TSType<'a>) -> Option<&'p [TSSignature<'a>]> {
    let name = match written {
        TSType::TSTypeLiteral(it) => return Some(&it.members),
        TSType::TSTypeReference(it) => match &it.type_name {
            TSTypeName::IdentifierReference(it) => it.name,
            _ => return None,
        },
        _ => return None,
    };
    program.body.iter().filter_map(declaration).find_map(|it| match it {
        Declaration::TSInterfaceDeclaration(it) if it.id.name == name => Some(&it.body.body[..]),
        Declaration::TSTypeAliasDeclaration(it) if it.id.name == name => match &it.type_annotation {
            TSType::TSTypeLiteral(it) => Some(&it.members[..]),
            _ => None,
        },
        _ => None,
    })
}
