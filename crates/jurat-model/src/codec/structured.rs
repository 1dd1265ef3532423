//! How an endpoint is sent the JSON Schema of a reply.
//!
//! Most servers take a schema with the request. Some refuse it, some ignore it, some only know "any JSON"; an author says so with `structured`,
//! and for providers that are known for it that is the default. Whichever way it goes, the reply is validated against the whole schema.

use std::borrow::Cow;

use jurat_core::effect::ModelRequest;
use jurat_core::model::Structured;

/// The way that is right for a host that speaks OpenAI's chat but takes no schema.
pub(crate) fn usual_at(host: &str) -> Option<&'static str> {
    // Their documentation has `json_object` alone, or says that `response_format` is ignored.
    const HOSTS: [(&str, &str); 5] = [
        ("api.deepseek.com", "json_object"),
        ("api.moonshot.ai", "json_object"),
        ("api.moonshot.cn", "json_object"),
        ("open.bigmodel.cn", "json_object"),
        ("api.anthropic.com", "prompt"),
    ];
    HOSTS.into_iter().find(|(it, _)| *it == host).map(|(_, way)| way)
}

/// The request as a codec writes it: where the endpoint is not sent the schema, the prompt has it.
pub(super) fn prompted(request: &ModelRequest, way: Option<Structured>) -> Cow<'_, ModelRequest> {
    match (&request.output, way) {
        (Some(schema), Some(way @ (Structured::Prompt | Structured::JsonObject))) => {
            let mut prompted = request.clone();
            prompted.messages.add_paragraph(&schema.in_words());
            if way == Structured::Prompt {
                prompted.output = None;
            }
            Cow::Owned(prompted)
        }
        _ => Cow::Borrowed(request),
    }
}
