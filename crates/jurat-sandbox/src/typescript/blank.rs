//! Types blanked in place.
//!
//! Every character of a type becomes a space and every line stays where it was, so that what the interpreter says of a line is true of the author's.
//! Where blanks would join what types separated, a semicolon or a bracket stands in one of them.

use std::collections::BTreeSet;

use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

use super::reading::refused;
use crate::Refused;

/// The JavaScript that is left of a program.
pub(super) fn blanked(program: &Program<'_>) -> Result<String, Refused> {
    let source = program.source_text;
    let mut blanker =
        Blanker { source, marks: vec![RETAINED; source.len()], ends: BTreeSet::new(), n_functions: 0, problem: None };
    blanker.visit_program(program);
    match blanker.problem {
        Some((offset, message)) => Err(refused(source, Some(offset as usize), message)),
        None => Ok(blanker.text()),
    }
}

const RETAINED: u8 = 0;
const BLANK: u8 = b' ';

struct Blanker<'s> {
    source: &'s str,
    /// For every byte what becomes of the character that begins there.
    marks: Vec<u8>,
    /// Where statements end without a semicolon.
    ends: BTreeSet<u32>,
    /// How many functions are around.
    n_functions: usize,
    /// The first thing that is refused.
    problem: Option<(u32, String)>,
}

impl Blanker<'_> {
    fn text(&self) -> String {
        let mark = |(ix, character): (usize, char)| match self.marks[ix] {
            RETAINED => character,
            // These end lines.
            BLANK if matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}') => character,
            mark => char::from(mark),
        };
        self.source.char_indices().map(mark).collect()
    }

    fn refuse(&mut self, span: Span, message: &str) {
        if self.problem.as_ref().is_none_or(|it| span.start < it.0) {
            self.problem = Some((span.start, message.to_owned()));
        }
    }

    fn blank(&mut self, start: u32, end: u32) {
        self.marks[start as usize..end as usize].fill(BLANK);
    }

    fn put(&mut self, at: u32, character: u8) {
        self.marks[at as usize] = character;
    }

    /// Blanks something that is complete in itself. What follows must not join what came before.
    fn blank_whole(&mut self, span: Span) {
        self.blank(span.start, span.end);
        self.put(span.start, b';');
    }

    /// Blanks what comes after an expression. If that was the end of a statement, it has to stay one.
    fn blank_tail(&mut self, start: u32, end: u32) {
        self.blank(start, end);
        if self.ends.contains(&end) {
            self.put(start, b';');
        }
    }

    /// Blanks a mark such as `?` that stands somewhere.
    fn blank_mark(&mut self, start: u32, end: u32, mark: char) {
        if let Some(ix) = self.source[start as usize..end as usize].find(mark) {
            let at = start + u32::try_from(ix).expect("the source is short");
            self.blank(at, at + 1);
        }
    }

    /// Blanks words that stand before a name.
    fn blank_words(&mut self, start: u32, end: u32, words: &[&str]) -> Option<u32> {
        let mut first = None;
        let text = &self.source[start as usize..end as usize];
        let mut place = 0;
        for word in text.split_inclusive(|it: char| !it.is_ascii_alphabetic()) {
            let bare = word.trim_end_matches(|it: char| !it.is_ascii_alphabetic());
            if words.contains(&bare) {
                let at = start + u32::try_from(place).expect("the source is short");
                self.blank(at, at + u32::try_from(bare.len()).expect("words are short"));
                first.get_or_insert(at);
            }
            place += word.len();
        }
        first
    }

    fn has_line_end(&self, span: Span) -> bool {
        self.source[span.start as usize..span.end as usize].contains(['\n', '\r', '\u{2028}', '\u{2029}'])
    }

    fn note_end(&mut self, span: Span) {
        if !self.source[..span.end as usize].ends_with(';') {
            self.ends.insert(span.end);
        }
    }

    /// A declaration, and the statement that it is the whole of. Returns whether something is left of it.
    fn declaration(&mut self, declaration: &Declaration<'_>, whole: Span) -> bool {
        let is_type = match declaration {
            Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_) => true,
            Declaration::FunctionDeclaration(it) => it.declare || it.body.is_none(),
            Declaration::ClassDeclaration(it) => it.declare,
            Declaration::VariableDeclaration(it) => it.declare,
            Declaration::TSEnumDeclaration(it) => {
                if !it.declare {
                    self.refuse(
                        it.span,
                        "`enum` is more than a type and is not translated; use an object or a union of texts",
                    );
                }
                it.declare
            }
            Declaration::TSNamespaceDeclaration(it) => {
                if !it.declare {
                    self.refuse(it.span, "`namespace` is more than a type and is not translated; use an object");
                }
                it.declare
            }
            Declaration::TSExternalModuleDeclaration(_) | Declaration::TSGlobalDeclaration(_) => true,
            Declaration::TSImportEqualsDeclaration(it) => {
                self.refuse(it.span, IMPORT);
                false
            }
        };
        if is_type {
            self.blank_whole(whole);
        }
        !is_type
    }

    fn modifiers(&mut self, member: Span, key: Span, computed: bool) {
        let words = ["public", "private", "protected", "readonly", "override", "abstract", "declare"];
        let first = self.blank_words(member.start, key.start, &words);
        // A name in square brackets would be taken for an index of what stands on the line before.
        if computed && first == Some(member.start) {
            self.put(member.start, b';');
        }
    }
}

const IMPORT: &str =
    "modules cannot be imported: an evaluator is one file, and has only what the language has built in";
const NAMELESS: &str = "what is exported by default has no name; give the function the name of the entry";

impl<'a> Visit<'a> for Blanker<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        let span = it.span();
        self.note_end(span);
        match it {
            Statement::ImportDeclaration(import) if import.import_kind.is_type() => self.blank_whole(span),
            Statement::ImportDeclaration(_) => self.refuse(span, IMPORT),
            Statement::ExportAllDeclaration(export) if export.export_kind.is_type() => self.blank_whole(span),
            Statement::ExportFromDeclaration(export) if export.export_kind.is_type() => self.blank_whole(span),
            Statement::ExportAllDeclaration(_) | Statement::ExportFromDeclaration(_) => self.refuse(span, IMPORT),
            Statement::ExportNamedDeclaration(_) => self.blank_whole(span),
            Statement::ExportDeclaration(export) => {
                if self.declaration(&export.declaration, span) {
                    self.blank(span.start, export.declaration.span().start);
                    self.visit_declaration(&export.declaration);
                }
            }
            Statement::ExportDefaultDeclaration(export) => match &export.declaration {
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(_)
                | ExportDefaultDeclarationKind::Identifier(_) => {
                    self.blank_whole(span);
                }
                ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.body.is_none() => {
                    self.blank_whole(span);
                }
                ExportDefaultDeclarationKind::FunctionDeclaration(function) if function.id.is_some() => {
                    self.blank(span.start, function.span.start);
                    self.visit_function(function, ScopeFlags::Function);
                }
                ExportDefaultDeclarationKind::ClassDeclaration(class) if class.id.is_some() => {
                    self.blank(span.start, class.span.start);
                    self.visit_class(class);
                }
                _ => self.refuse(span, NAMELESS),
            },
            Statement::TSExportAssignment(_) | Statement::TSNamespaceExportDeclaration(_) => self.refuse(span, IMPORT),
            _ => match it.as_declaration() {
                Some(declaration) => {
                    if self.declaration(declaration, span) {
                        self.visit_declaration(declaration);
                    }
                }
                None => walk::walk_statement(self, it),
            },
        }
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.blank(it.span.start, it.span.end);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blank(it.span.start, it.span.end);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blank(it.span.start, it.span.end);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_tail(it.expression.span().end, it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_tail(it.expression.span().end, it.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank_tail(it.expression.span().end, it.span.end);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.refuse(it.span, "a type in front of a value is not supported; write `value as Type`");
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(it.span, "decorators are more than types and are not translated; call the function instead");
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        let rest = &self.source[it.span.end as usize..];
        let blanks = rest.len() - rest.trim_start().len();
        let comma = if rest.trim_start().starts_with(',') { blanks + 1 } else { 0 };
        self.blank(it.span.start, it.span.end + u32::try_from(comma).expect("the source is short"));
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            let message =
                "parameter properties are more than types and are not translated; assign to `this` in the constructor";
            self.refuse(it.span, message);
        }
        if it.optional {
            let end = it.type_annotation.as_ref().map_or(it.span.end, |it| it.span.start);
            self.blank_mark(it.pattern.span().end, end, '?');
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let (true, Some(annotation)) = (it.definite, &it.type_annotation) {
            self.blank_mark(it.id.span().end, annotation.span.start, '!');
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.n_functions += 1;
        walk::walk_function(self, it, flags);
        self.n_functions -= 1;
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.n_functions += 1;
        walk::walk_arrow_function_expression(self, it);
        self.n_functions -= 1;
        // An arrow must stand on the line where its brackets close, and brackets open on the line of `async`.
        if let Some(annotation) = it.return_type.as_ref().filter(|it| self.has_line_end(it.span)) {
            self.blank(it.params.span.end - 1, it.params.span.end);
            self.put(annotation.span.end - 1, b')');
        }
        if let Some(declared) = it.type_parameters.as_ref().filter(|it| self.has_line_end(it.span)) {
            self.put(declared.span.start, b'(');
            self.blank(it.params.span.start, it.params.span.start + 1);
        }
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if it.r#abstract {
            self.blank_words(it.span.start, it.body.span.start, &["abstract"]);
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let word = self.source[..first.span.start as usize].rfind("implements");
            let start = word.map_or(first.span.start, |it| u32::try_from(it).expect("the source is short"));
            self.blank(start, last.span.end);
        }
        walk::walk_class(self, it);
    }

    fn visit_ts_class_implements(&mut self, _: &TSClassImplements<'a>) {}

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        match it {
            ClassElement::TSIndexSignature(it) => self.blank_whole(it.span),
            ClassElement::MethodDefinition(it) if it.value.body.is_none() => self.blank_whole(it.span),
            ClassElement::PropertyDefinition(it)
                if it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition =>
            {
                self.blank_whole(it.span);
            }
            ClassElement::AccessorProperty(it) => {
                self.refuse(it.span, "`accessor` is not supported; write `get` and `set`");
            }
            _ => walk::walk_class_element(self, it),
        }
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.modifiers(it.span, it.key.span(), it.computed);
        if it.optional {
            self.blank_mark(it.key.span().end, it.value.params.span.start, '?');
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.note_end(it.span);
        self.modifiers(it.span, it.key.span(), it.computed);
        let annotation = it.type_annotation.as_ref().map(|it| it.span.start);
        let end = annotation.or(it.value.as_ref().map(|it| it.span().start)).unwrap_or(it.span.end);
        if it.optional {
            self.blank_mark(it.key.span().end, end, '?');
        }
        if it.definite {
            self.blank_mark(it.key.span().end, end, '!');
        }
        self.n_functions += 1;
        walk::walk_property_definition(self, it);
        self.n_functions -= 1;
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        if self.n_functions == 0 {
            self.refuse(it.span, AWAIT);
        }
        walk::walk_await_expression(self, it);
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        if it.r#await && self.n_functions == 0 {
            self.refuse(it.span, AWAIT);
        }
        walk::walk_for_of_statement(self, it);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.refuse(it.span, IMPORT);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.refuse(it.span, IMPORT);
    }
}

const AWAIT: &str = "`await` stands outside of a function; make the entry function `async` and await there";
