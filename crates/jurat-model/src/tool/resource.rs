//! The resources of a server, as two more tools of it: models know tools and nothing else.
//!
//! They are offered where the suite asks for them (`resources: true`). A server that has no resources, or tools of these names, is a fault: what the author
//! meant cannot be had.

use jurat_core::effect::Fault;
use jurat_core::tool::ServerTool;
use jurat_format::value::{Map, Val, Value, parse_json};
use rmcp::model::{
    ClientRequest, ErrorCode, ListResourceTemplatesRequest, ListResourcesRequest, ReadResourceRequest,
    ReadResourceRequestParams,
};
use tokio::time::Instant;

use super::content::{self, Said};
use super::session::{Listing, Refused, Session};

/// Lists what can be read.
pub(super) const LIST: &str = "list_resources";

/// Reads one of them.
pub(super) const READ: &str = "read_resource";

const NOTHING: &str = r#"{"type": "object", "properties": {}, "additionalProperties": false}"#;
const ADDRESS: &str = r#"{"type": "object", "properties": {"uri": {"type": "string", "description": "The address of the resource."}}, "required": ["uri"], "additionalProperties": false}"#;

const RESOURCES: Listing = Listing { method: "resources/list", items: "resources" };
const TEMPLATES: Listing = Listing { method: "resources/templates/list", items: "resourceTemplates" };

/// The members of a resource that say something about it to a model.
const SHOWN: [&str; 7] = ["uri", "uriTemplate", "name", "title", "description", "mimeType", "size"];

/// The tools that a server has for its resources.
pub(super) fn tools(server: &str) -> [ServerTool; 2] {
    let tool = |name: &str, description: String, parameters: &str| ServerTool {
        server: server.to_owned(),
        name: name.to_owned(),
        description: Some(description),
        parameters: parse_json(parameters).expect("our own schema is JSON").value.into_owned(),
    };
    [
        tool(
            LIST,
            format!("Lists the resources of `{server}`, and templates of their addresses. `{READ}` reads them."),
            NOTHING,
        ),
        tool(READ, format!("Reads a resource of `{server}` by its address."), ADDRESS),
    ]
}

/// The tool of a server that has the name of one of these, in words.
pub(super) fn clash(own: &[ServerTool]) -> Option<String> {
    let name = own.iter().map(|it| it.name.as_str()).find(|it| [LIST, READ].contains(it))?;
    Some(format!("has a tool `{name}` of its own, and `resources: true` adds another `{name}`; leave out `resources`"))
}

impl Session {
    /// Everything that can be read, as JSON.
    pub(super) async fn list_resources(&self, until: Instant) -> Result<Said, Fault> {
        let read = |listing: Listing| move |text: &str| content::page(listing, text, shown);
        let request = |params: Option<_>| {
            ClientRequest::ListResourcesRequest(params.map_or_else(Default::default, ListResourcesRequest::with_param))
        };
        let resources = self.pages(RESOURCES, request, read(RESOURCES), until).await;
        let resources = match resources {
            Ok(resources) => resources,
            Err(refused) => return self.said_of(LIST, refused),
        };
        let request = |params: Option<_>| {
            let request = params.map_or_else(Default::default, ListResourceTemplatesRequest::with_param);
            ClientRequest::ListResourceTemplatesRequest(request)
        };
        let templates = match self.pages(TEMPLATES, request, read(TEMPLATES), until).await {
            Ok(templates) => templates,
            // A server without templates need not know the question.
            Err(Refused::Error(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => Vec::new(),
            Err(refused) => return self.said_of(LIST, refused),
        };
        Ok(listed(resources, templates))
    }

    /// A resource by its address.
    pub(super) async fn read_resource(&self, arguments: &Value, until: Instant) -> Result<Said, Fault> {
        let Some(uri) = arguments.get("uri").and_then(Val::as_str) else {
            return Ok(Said::error(format!("`{READ}` needs `uri`, the address of a resource, as text")));
        };
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        match self.request(ClientRequest::ReadResourceRequest(request), &format!("`{READ}`"), until).await {
            Ok(text) => content::contents(uri, text.get()).map_err(|it| self.fault(&it)),
            Err(refused) => self.said_of(READ, refused),
        }
    }
}

/// What a model is shown of a resource.
fn shown(resource: &Value) -> Result<Value, String> {
    let member = |key: &&'static str| Some((*key, resource.get(key).filter(|it| **it != Val::Null)?.clone()));
    Ok(Val::Map(SHOWN.iter().filter_map(member).collect::<Map<'static>>()))
}

fn listed(resources: Vec<Value>, templates: Vec<Value>) -> Said {
    let mut members: Map<'static> = [("resources", Val::List(resources))].into_iter().collect();
    if !templates.is_empty() {
        members.insert("templates".into(), Val::List(templates));
    }
    Said::structured(Val::Map(members))
}
