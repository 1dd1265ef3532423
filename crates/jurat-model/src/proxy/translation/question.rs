//! Reading an agent's request.

use jurat_core::agent::Wire;
use jurat_core::effect::{Message, ModelRequest, Tool, ToolCall, ToolChoice};
use jurat_format::value::Value as CoreValue;
use serde_json::Value;

use crate::codec::arguments as read_arguments;

/// Why a request cannot be asked of a model that is no provider's.
type Refused = String;

/// The question that a request asks.
pub(crate) fn question(format: Wire, body: &[u8], role: &str) -> Result<ModelRequest, Refused> {
    let body: Value = serde_json::from_slice(body).map_err(|error| format!("the request is no JSON: {error}"))?;
    let mut reading = Reading::default();
    match format {
        Wire::OpenAiChat => reading.chat(&body)?,
        Wire::OpenAiResponses => reading.responses(&body)?,
        Wire::Anthropic => reading.messages(&body)?,
        Wire::Gemini => reading.generate(&body)?,
    }
    let mut request = ModelRequest::new(role, reading.messages);
    request.tools = reading.tools;
    request.tool_choice = reading.choice;
    Ok(request)
}

#[derive(Default)]
struct Reading {
    messages: Vec<Message>,
    tools: Vec<Tool>,
    choice: ToolChoice,
}

impl Reading {
    fn chat(&mut self, body: &Value) -> Result<(), Refused> {
        if body["response_format"]["type"].as_str().is_some_and(|it| it != "text") {
            return Err(no_schema());
        }
        for message in list(&body["messages"]) {
            let text = text_of(&message["content"])?;
            match message["role"].as_str() {
                Some("system" | "developer") => self.messages.push(Message::System(text)),
                Some("assistant") => {
                    let calls = list(&message["tool_calls"]).iter().map(|it| {
                        let arguments = it["function"]["arguments"].as_str().unwrap_or_default();
                        call(&it["id"], &it["function"]["name"], read_arguments(arguments))
                    });
                    self.messages.push(Message::Assistant { text, tool_calls: calls.collect(), reasoning: None });
                }
                Some("tool") => self.result(&message["tool_call_id"], None, text, false),
                Some("user") => self.messages.push(Message::User(text)),
                other => return Err(no_role(other)),
            }
        }
        for tool in list(&body["tools"]).iter().filter(|it| it["type"] == "function") {
            self.tool(&tool["function"], "parameters");
        }
        self.choice = match &body["tool_choice"] {
            Value::String(word) if word == "required" => ToolChoice::Required,
            Value::String(word) if word == "none" => ToolChoice::None,
            Value::Object(choice) => named(&choice["function"]["name"]),
            _ => ToolChoice::Auto,
        };
        Ok(())
    }

    fn responses(&mut self, body: &Value) -> Result<(), Refused> {
        if body["text"]["format"]["type"].as_str().is_some_and(|it| it != "text") {
            return Err(no_schema());
        }
        if let Some(text) = body["instructions"].as_str() {
            self.messages.push(Message::System(text.to_owned()));
        }
        if let Some(text) = body["input"].as_str() {
            self.messages.push(Message::User(text.to_owned()));
        }
        for item in list(&body["input"]) {
            match item["type"].as_str().unwrap_or("message") {
                "message" => {
                    let text = text_of(&item["content"])?;
                    match item["role"].as_str() {
                        Some("system" | "developer") => self.messages.push(Message::System(text)),
                        Some("assistant") => self.said(text),
                        Some("user") => self.messages.push(Message::User(text)),
                        other => return Err(no_role(other)),
                    }
                }
                "function_call" => {
                    let arguments = read_arguments(item["arguments"].as_str().unwrap_or_default());
                    self.called(call(&item["call_id"], &item["name"], arguments));
                }
                "custom_tool_call" => {
                    let input = CoreValue::from(item["input"].as_str().unwrap_or_default().to_owned());
                    self.called(call(&item["call_id"], &item["name"], input));
                }
                "function_call_output" | "custom_tool_call_output" => {
                    self.result(&item["call_id"], None, text_of(&item["output"])?, false);
                }
                // The reasoning of one model means nothing to another.
                "reasoning" => {}
                other => return Err(format!("`{other}` cannot be passed on to this model")),
            }
        }
        for tool in list(&body["tools"]).iter().filter(|it| it["type"] == "function") {
            self.tool(tool, "parameters");
        }
        self.choice = match &body["tool_choice"] {
            Value::String(word) if word == "required" => ToolChoice::Required,
            Value::String(word) if word == "none" => ToolChoice::None,
            Value::Object(choice) => named(&choice["name"]),
            _ => ToolChoice::Auto,
        };
        Ok(())
    }

    fn messages(&mut self, body: &Value) -> Result<(), Refused> {
        if !body["output_config"]["format"].is_null() {
            return Err(no_schema());
        }
        match &body["system"] {
            Value::String(text) => self.messages.push(Message::System(text.clone())),
            blocks => {
                for block in list(blocks) {
                    self.messages.push(Message::System(text_of(&block["text"])?));
                }
            }
        }
        for message in list(&body["messages"]) {
            let role = message["role"].as_str();
            if let Some(text) = message["content"].as_str() {
                match role {
                    Some("assistant") => self.said(text.to_owned()),
                    _ => self.messages.push(Message::User(text.to_owned())),
                }
                continue;
            }
            let mut text = Vec::new();
            for block in list(&message["content"]) {
                match block["type"].as_str() {
                    Some("text") if role == Some("assistant") => self.said(text_of(&block["text"])?),
                    Some("text") => text.push(text_of(&block["text"])?),
                    Some("tool_use") => self.called(call(&block["id"], &block["name"], core(&block["input"]))),
                    Some("tool_result") => {
                        let is_error = block["is_error"] == true;
                        self.result(&block["tool_use_id"], None, text_of(&block["content"])?, is_error);
                    }
                    Some("thinking" | "redacted_thinking") => {}
                    other => return Err(no_kind(other)),
                }
            }
            if !text.is_empty() {
                self.messages.push(Message::User(text.join("\n")));
            }
        }
        // Those with another type are run by the provider.
        for tool in list(&body["tools"]).iter().filter(|it| it["input_schema"].is_object()) {
            self.tool(tool, "input_schema");
        }
        self.choice = match body["tool_choice"]["type"].as_str() {
            Some("any") => ToolChoice::Required,
            Some("none") => ToolChoice::None,
            Some("tool") => named(&body["tool_choice"]["name"]),
            _ => ToolChoice::Auto,
        };
        Ok(())
    }

    fn generate(&mut self, body: &Value) -> Result<(), Refused> {
        let settings = &body["generationConfig"];
        if ["responseSchema", "responseJsonSchema"].iter().any(|it| !settings[it].is_null()) {
            return Err(no_schema());
        }
        let instruction = [&body["systemInstruction"], &body["system_instruction"]];
        for part in instruction.into_iter().flat_map(|it| list(&it["parts"])) {
            self.messages.push(Message::System(text_of(&part["text"])?));
        }
        for content in list(&body["contents"]) {
            let is_model = content["role"] == "model";
            let mut text = Vec::new();
            for part in list(&content["parts"]).iter().filter(|it| it["thought"] != true) {
                if let Some(words) = part["text"].as_str() {
                    if is_model { self.said(words.to_owned()) } else { text.push(words.to_owned()) }
                } else if part["functionCall"].is_object() {
                    let asked = &part["functionCall"];
                    // Where a provider has no ids, the order identifies calls.
                    let made_up = Value::String(format!("call_{}", self.messages.len()));
                    let id = if asked["id"].is_string() { &asked["id"] } else { &made_up };
                    self.called(call(id, &asked["name"], core(&asked["args"])));
                } else if part["functionResponse"].is_object() {
                    let response = &part["functionResponse"];
                    let output = [&response["response"]["output"], &response["response"]["result"]];
                    let words = output.iter().find_map(|it| it.as_str()).map(str::to_owned);
                    let words = words.unwrap_or_else(|| response["response"].to_string());
                    let is_error = !response["response"]["error"].is_null();
                    self.result(&response["id"], response["name"].as_str(), words, is_error);
                } else {
                    return Err(no_kind(part.as_object().and_then(|it| it.keys().next()).map(String::as_str)));
                }
            }
            if !text.is_empty() {
                self.messages.push(Message::User(text.join("\n")));
            }
        }
        for tool in list(&body["tools"]).iter().flat_map(|it| list(&it["functionDeclarations"])) {
            let key = if tool["parametersJsonSchema"].is_null() { "parameters" } else { "parametersJsonSchema" };
            self.tool(tool, key);
        }
        let calling = &body["toolConfig"]["functionCallingConfig"];
        let allowed = list(&calling["allowedFunctionNames"]);
        self.choice = match (calling["mode"].as_str(), allowed) {
            (Some("ANY"), [only]) => named(only),
            (Some("ANY"), _) => ToolChoice::Required,
            (Some("NONE"), _) => ToolChoice::None,
            _ => ToolChoice::Auto,
        };
        Ok(())
    }

    /// Words of the model. Those before a call belong to the same turn.
    fn said(&mut self, words: String) {
        self.messages.push(Message::assistant(words));
    }

    /// A call of the model. It belongs to the turn before it, when that is the model's.
    fn called(&mut self, call: ToolCall) {
        match self.messages.last_mut() {
            Some(Message::Assistant { tool_calls, .. }) => tool_calls.push(call),
            _ => {
                self.messages.push(Message::Assistant { text: String::new(), tool_calls: vec![call], reasoning: None });
            }
        }
    }

    /// A result. The call that it answers knows the name of the tool, and its id where there is none.
    fn result(&mut self, id: &Value, name: Option<&str>, text: String, is_error: bool) {
        let calls = self.messages.iter().rev().filter_map(|it| match it {
            Message::Assistant { tool_calls, .. } => Some(tool_calls.iter()),
            _ => None,
        });
        let id = id.as_str();
        let answers = |it: &&ToolCall| id.map_or(name == Some(it.name.as_str()), |id| it.id == id);
        let call = calls.flatten().find(answers);
        let call_id = id.map(str::to_owned).or_else(|| call.map(|it| it.id.clone())).unwrap_or_default();
        let name = name.map(str::to_owned).or_else(|| call.map(|it| it.name.clone())).unwrap_or_default();
        self.messages.push(Message::Tool { call_id, name, text, media: Vec::new(), is_error });
    }

    fn tool(&mut self, tool: &Value, parameters: &str) {
        self.tools.push(Tool {
            name: tool["name"].as_str().unwrap_or_default().to_owned(),
            description: tool["description"].as_str().map(str::to_owned),
            parameters: core(&tool[parameters]),
        });
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn call(id: &Value, name: &Value, arguments: CoreValue) -> ToolCall {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    ToolCall { id: text(id), name: text(name), arguments }
}

fn named(name: &Value) -> ToolChoice {
    name.as_str().map_or(ToolChoice::Required, |it| ToolChoice::Named(it.to_owned()))
}

/// The text of a content: itself, or its parts when all of them are text.
fn text_of(content: &Value) -> Result<String, Refused> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => {
            let text = |part: &Value| match part["type"].as_str() {
                Some("text" | "input_text" | "output_text") => Ok(part["text"].as_str().unwrap_or_default().to_owned()),
                Some("refusal") => Ok(part["refusal"].as_str().unwrap_or_default().to_owned()),
                other => Err(no_kind(other)),
            };
            Ok(parts.iter().map(text).collect::<Result<Vec<_>, _>>()?.join("\n"))
        }
        other => Ok(other.to_string()),
    }
}

fn core(value: &Value) -> CoreValue {
    if value.is_null() { read_arguments("") } else { read_arguments(&value.to_string()) }
}

fn no_schema() -> Refused {
    "this model cannot be held to a schema by an agent".to_owned()
}

fn no_kind(kind: Option<&str>) -> Refused {
    format!("`{}` cannot be passed on to this model, which takes text", kind.unwrap_or("something without a type"))
}

fn no_role(role: Option<&str>) -> Refused {
    format!("there is no role `{}`", role.unwrap_or(""))
}
