//! What a model is asked about each row, where its answers are what is evaluated.

use jurat_format::value::Val;

use crate::members::{Members, setters};
use crate::{Output, Prompt, Transform};

/// What a model is asked about each row. Several prompts and several models form a matrix.
///
/// ```
/// use jurat::{Ask, Prompt};
///
/// Ask::new("Answer in one sentence: ${question}");
/// Ask::prompts([("short", "${question}"), ("careful", "Think first, then answer: ${question}")])
///     .system("You help the customers of a home store.")
///     .models(["subject", "challenger"]);
/// Ask::new("When is it noon in ${city}?").tools(["clock"]).without_tool("clock", "set_time");
/// ```
#[derive(Debug, Clone)]
pub struct Ask {
    members: Members,
    /// The tools that may not be used.
    removed: Vec<Val<'static>>,
}

impl Ask {
    /// One prompt. The role `subject` is asked unless [`models`](Ask::models) says otherwise.
    pub fn new(prompt: impl Into<Prompt>) -> Ask {
        let mut members = Members::default();
        members.put("prompt", prompt.into().value());
        Ask { members, removed: Vec::new() }
    }

    /// The row itself, for a subject that is a program or a [function](crate::Model::function), which finds it with
    /// [`Question::row`](crate::Question::row). What it answers stands under `output`: JSON as the value that it is, anything else as text. Tasks see all
    /// fields of the row beside it.
    ///
    /// ```
    /// use jurat::{Ask, Assertion, Model, Question, Reply, RunOptions, Suite, compare::equals};
    /// use serde_json::json;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let double = |question: &Question| {
    ///     let row = question.row().ok_or("the suite sends no rows")?;
    ///     let n = row.at("n").and_then(|it| it.as_f64()).ok_or("the row has no `n`")?;
    ///     Ok::<_, &str>(Reply::json(2.0 * n))
    /// };
    /// let suite = Suite::builder("doubles")
    ///     .record(json!({ "n": 21, "expected": 42 }))
    ///     .model("subject", Model::function("double", double))
    ///     .ask(Ask::row())
    ///     .task(Assertion::new("right", "output", equals("${expected}")))
    ///     .build()?;
    /// assert_eq!(suite.run(RunOptions::in_directory(directory.path()))?.pass_rate(), Some(1.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn row() -> Ask {
        let mut members = Members::default();
        members.put("whole_row", true);
        Ask { members, removed: Vec::new() }
    }

    /// Several prompts, each with a name: each row is asked with each.
    pub fn prompts<N: Into<String>, P: Into<Prompt>>(prompts: impl IntoIterator<Item = (N, P)>) -> Ask {
        let mut members = Members::default();
        let prompts = prompts.into_iter().map(|(name, prompt)| (name.into(), prompt.into().value()));
        members.put("prompts", Val::Map(prompts.collect()));
        Ask { members, removed: Vec::new() }
    }

    /// The same, but the answer must have these fields; tasks find them under `parsed`.
    pub fn output(mut self, output: Output) -> Ask {
        output.write(&mut self.members);
        self
    }

    /// The same, but something is done to each answer before it is judged; the answer itself stays under `original_output`.
    pub fn transform(mut self, transform: Transform) -> Ask {
        self.members.given("transform", transform.value());
        self
    }

    /// The same, but a tool may not be used.
    pub fn without_tool(self, server: impl Into<String>, tool: impl Into<String>) -> Ask {
        self.without([("server", server.into()), ("tool", tool.into())])
    }

    /// The same, but no tool of a server may be used.
    pub fn without_server(self, server: impl Into<String>) -> Ask {
        self.without([("server", server.into())])
    }

    fn without<const N: usize>(mut self, tool: [(&'static str, String); N]) -> Ask {
        let tool = tool.into_iter().map(|(key, it)| (key, Val::from(it)));
        self.removed.push(Val::Map(tool.collect()));
        self
    }

    pub(crate) fn into_members(mut self) -> Members {
        if !self.removed.is_empty() {
            let filter = [("remove", Val::List(self.removed))];
            self.members.put("tool_filter", Val::Map(filter.into_iter().collect()));
        }
        self.members
    }
}

setters! { Ask:
    /// The same with a system message.
    system(prompt: impl Into<Prompt>) => members.put("system", prompt.into().value());

    /// The same, but these roles are asked, or `provider/model`s.
    models(roles: impl IntoIterator<Item: Into<String>>) => members.texts("model", roles);

    /// The same, but the model may call the tools of these servers before it answers; tasks find the calls under `tool_calls`.
    tools(servers: impl IntoIterator<Item: Into<String>>) => members.texts("tools", servers);

    /// The same with at most this number of retries for one answer when requests fail; default: 3.
    max_retries(n: u32) => members.put("max_retries", i64::from(n));
}
