//! An application of the author's own that is asked over HTTP: what it is sent, and where in its reply things are.
//!
//! Both are data of the definition: the members `request` and `response` of a model `http/NAME`. They are read here, with positions where they stand in a suite and
//! without where they are settings of a stored endpoint. What is sent and received is for the codec; this module has the template and the paths.
//!
//! In the texts of `request`, `${name}` is filled from what is known when the application is asked (see [`NAMES`]). A text that is one placeholder and nothing else becomes the
//! value itself, a list or a number too. `{jinja: …}` is a template, whose result is text.

mod request;
mod response;
mod row_paths;

use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::problem::{Problem, Problems};
use jurat_format::reader::Reading;
use jurat_format::source::{Files, ReadError, Sources};
use jurat_format::value::{SourceId, Spanned, Value, json_node};

pub(crate) use request::REQUEST;
pub use request::{
    FilledBody, FilledRequest, Method, NAMES, RequestTemplate, RequestText, Template, TemplateRead, plain,
};
pub(crate) use response::RESPONSE;
pub use response::{CallPaths, Pieces, ReplyPaths, UsagePaths};
pub use row_paths::RowPaths;

/// An application: what it is sent, and where in its reply things are.
#[derive(Debug, Clone, PartialEq)]
pub struct Application {
    pub request: RequestTemplate,
    pub reply: ReplyPaths,
}

impl Application {
    /// The application that two settings of an endpoint describe, or in words why there is none.
    pub fn of(request: Option<&Value>, response: Option<&Value>) -> Result<Application, String> {
        let request = request.ok_or("an application needs `request`: the body that jurat sends")?;
        let request = reread(request, &REQUEST)?.template;
        let reply = response.map(|it| reread(it, &RESPONSE)).transpose()?.unwrap_or_default();
        Ok(Application { request, reply })
    }

    /// Whether its answers depend on what it was asked before.
    pub fn has_sessions(&self) -> bool {
        self.request.reads("session")
    }
}

/// Reads a setting again that was read with its definition.
fn reread<V>(value: &Value, field: &Field<V>) -> Result<V, String> {
    let json = value.to_json();
    let (node, _) = json_node(&json, SourceId(0)).map_err(|it| it.to_string())?;
    let mut reading = Reading { problems: Problems::default(), sources: Sources::default(), files: &NoFiles };
    let read = field.read_node(&mut reading, &node);
    read.ok_or_else(|| reading.problems.into_vec().first().map_or_else(String::new, |it| it.message.clone()))
}

/// A stored endpoint names no files.
struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &std::path::Path, _: u64) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::NotFound)
    }
}

/// What is wrong with a request and a response that are right by themselves.
pub(crate) fn mismatch(request: &RequestText, response: &Spanned<ReplyPaths>) -> Option<Problem> {
    if response.value.session.is_none() || request.template.reads("session") {
        return None;
    }
    let message = "`response` has a `session`, and `request` does not send it";
    let problem = Problem::new(&codes::CONFLICT, message).at(response.span, "read here");
    Some(problem.help("send it back where the application takes it, for example `session: \"${session}\"` in `body`"))
}
