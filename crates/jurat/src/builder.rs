//! A suite built in Rust.
//!
//! What is built is written down as YAML and read like any other definition, so mistakes are found and reported in one way.

use std::path::{Path, PathBuf};

use jurat_core::scenario::{Function, Scenario};
use jurat_engine::HostFunctions;
use jurat_format::value::{Map, Val};
use jurat_format::yaml_writer::yaml_text;
use serde::Serialize;

use crate::members::{Members, setters};
use crate::suite::Code;
use crate::value::{Given, given};
use crate::{Agent, AgentCase, Ask, Error, Evaluator, Model, RowFiles, Suite, Task};

/// A suite that is being built; [`Suite::builder`] begins one.
///
/// ```
/// use jurat::{Assertion, Suite, compare::{contains, has_length_less_than}};
/// use serde_json::json;
///
/// let suite = Suite::builder("greetings")
///     .description("Does the bot greet people?")
///     .record(json!({ "id": "r1", "answer": "Hello, Ada!" }))
///     .record(json!({ "id": "r2", "answer": "Hello there!" }))
///     .task(Assertion::new("greets", "answer", contains("Hello")))
///     .task(Assertion::new("short", "answer", has_length_less_than(40)))
///     .threshold(0.9)
///     .build()?;
/// assert_eq!(suite.stages(), [["greets", "short"]]);
/// # Ok::<(), jurat::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct SuiteBuilder {
    members: Members,
    directory: PathBuf,
    rows: Vec<Given>,
    files: Option<RowFiles>,
    models: Vec<(String, Vec<Model>)>,
    functions: Vec<Model>,
    servers: Members,
    scenarios: Vec<Scenario>,
    evaluators: Vec<Evaluator>,
    agents: Vec<Agent>,
    cases: Vec<AgentCase>,
    called_evaluators: HostFunctions,
    called_agents: HostFunctions,
    tasks: Vec<Task>,
    thresholds: Members,
    pass_rate: Option<f64>,
    is_fed: bool,
}

impl SuiteBuilder {
    pub(crate) fn new(name: String) -> SuiteBuilder {
        let mut members = Members::default();
        members.put("suite", name);
        SuiteBuilder { members, ..SuiteBuilder::default() }
    }

    /// The same with members of a definition that the program has as a value, under the names that files have. What else is said about the same member
    /// replaces it.
    ///
    /// ```
    /// use jurat::Suite;
    /// use serde_json::json;
    ///
    /// let suite = Suite::builder("invoices")
    ///     .define(json!({
    ///         "records": [{ "status": "paid" }],
    ///         "tasks": [{ "id": "paid", "field_path": "status", "operator": "equals", "expected_value": "paid" }],
    ///     }))
    ///     .build()?;
    /// assert_eq!(suite.stages(), [["paid"]]);
    /// # Ok::<(), jurat::Error>(())
    /// ```
    pub fn define(mut self, definition: impl Serialize) -> SuiteBuilder {
        match given(&definition) {
            Ok(Val::Map(members)) => {
                for (key, it) in members {
                    self.members.given(key.into_owned(), Ok(it));
                }
            }
            Ok(_) => self.members.given("define", Err("a definition is an object".to_owned())),
            Err(reason) => self.members.given("define", Err(reason)),
        }
        self
    }

    /// The same, with where relative paths of prompts, rows and scripts start; default: the current directory.
    pub fn directory(mut self, path: impl AsRef<Path>) -> SuiteBuilder {
        path.as_ref().clone_into(&mut self.directory);
        self
    }

    /// The same with more rows; see [`record`](SuiteBuilder::record).
    pub fn records<T: Serialize>(self, rows: impl IntoIterator<Item = T>) -> SuiteBuilder {
        rows.into_iter().fold(self, SuiteBuilder::record)
    }

    /// The same with the rows of files.
    pub fn records_from(mut self, files: impl Into<RowFiles>) -> SuiteBuilder {
        self.files = Some(files.into());
        self
    }

    /// The same, with rows that are given when it is run: [`RunOptions::rows`](crate::RunOptions::rows).
    pub fn records_at_run(mut self) -> SuiteBuilder {
        self.is_fed = true;
        self
    }

    /// The same, with the model of a role. Judges ask the role `judge`, and [`Ask`] the role `subject`, unless they say otherwise.
    pub fn model(self, role: impl Into<String>, model: impl Into<Model>) -> SuiteBuilder {
        self.models(role, [model])
    }

    /// The same, with several models for one role; an [`Ask`] asks each of them.
    pub fn models(
        mut self,
        role: impl Into<String>,
        models: impl IntoIterator<Item = impl Into<Model>>,
    ) -> SuiteBuilder {
        let role = role.into();
        let models: Vec<Model> = models.into_iter().map(Into::into).collect();
        match self.models.iter_mut().find(|(it, _)| *it == role) {
            Some((_, before)) => before.extend(models),
            None => self.models.push((role, models)),
        }
        self
    }

    /// The same with more scenarios.
    pub fn scenarios(self, scenarios: impl IntoIterator<Item = Scenario>) -> SuiteBuilder {
        scenarios.into_iter().fold(self, SuiteBuilder::scenario)
    }

    /// The same with more cases.
    pub fn cases(self, cases: impl IntoIterator<Item = AgentCase>) -> SuiteBuilder {
        cases.into_iter().fold(self, SuiteBuilder::case)
    }

    /// The same with more tasks.
    pub fn tasks<T: Into<Task>>(self, tasks: impl IntoIterator<Item = T>) -> SuiteBuilder {
        tasks.into_iter().fold(self, SuiteBuilder::task)
    }

    /// The same, good enough when this share of everything that is judged passes; default: all of it.
    pub fn threshold(mut self, pass_rate: f64) -> SuiteBuilder {
        self.pass_rate = Some(pass_rate);
        self
    }

    /// The suite, or everything that is wrong with it at once.
    pub fn build(self) -> Result<Suite, Error> {
        let models = self.models.iter().flat_map(|(_, models)| models).chain(&self.functions);
        let functions = models.filter_map(|it| it.function.clone());
        let evaluators = self.evaluators.iter().filter_map(|it| Some((it.name.clone(), it.function.clone()?)));
        let code = Code {
            functions: functions.collect(),
            evaluators: evaluators.chain(self.called_evaluators.clone()).collect(),
            agents: self.called_agents.clone(),
            scenarios: self.scenarios.clone(),
        };
        let directory = self.directory.clone();
        let text = yaml_text(&self.value()?);
        Suite::examined(&directory.join(Suite::BUILT), text, code)
    }

    /// The definition as one value, in the order in which people write it.
    fn value(self) -> Result<Val<'static>, Error> {
        let mut members = self.members;
        let ways = [!self.rows.is_empty(), self.files.is_some(), self.is_fed];
        if ways.into_iter().filter(|it| *it).count() > 1 {
            let message = "rows come either from `record` and `records`, from `records_from`, or from `records_at_run`; \
                           this suite has several of them";
            return Err(Error::Usage(message.to_owned()));
        }
        if !self.rows.is_empty() {
            let row = |(ix, row): (usize, Given)| {
                row.map_err(|reason| Error::Value { what: format!("row {}", ix + 1), reason })
            };
            let rows: Vec<Val<'static>> = self.rows.into_iter().enumerate().map(row).collect::<Result<_, _>>()?;
            // Text would be read as the name of a file, and a row that is no object means this.
            let wrapped = |it: Val<'static>| match it {
                Val::Str(_) => Val::Map([("value", it)].into_iter().collect()),
                other => other,
            };
            members.put("records", Val::List(rows.into_iter().map(wrapped).collect()));
        }
        if let Some(files) = self.files {
            members.object("records", files.into_members());
        }
        if self.is_fed {
            members.put("records", "-");
        }
        let mut models = Members::default();
        for (role, given) in self.models {
            let mut given: Vec<Val<'static>> =
                given.into_iter().map(|it| model(&role, it)).collect::<Result<_, _>>()?;
            let one_or_more = match (given.len(), given.pop()) {
                (1, Some(only)) => only,
                (_, last) => Val::List(given.into_iter().chain(last).collect()),
            };
            models.given(role, Ok(one_or_more));
        }
        members.object_if_any("models", models);
        members.object_if_any("tools", self.servers);
        // Of two scenarios with one name, both are there to be complained about.
        members.list_if_any("scenarios", self.scenarios.iter().map(scenario).collect());
        let agents = self.agents.into_iter().map(|it| (it.name.clone(), it.value()));
        members.object_if_any("agents", named("agents", agents)?);
        members.list_if_any("cases", self.cases.into_iter().map(AgentCase::value).collect::<Result<_, _>>()?);
        let evaluators = self.evaluators.into_iter().map(|it| (it.name.clone(), it.value()));
        members.object_if_any("evaluators", named("evaluators", evaluators)?);
        let mut thresholds = Members::default();
        if let Some(rate) = self.pass_rate {
            thresholds.put("pass_rate", Val::F(rate));
        }
        thresholds.object_if_any("tasks", self.thresholds);
        members.object_if_any("thresholds", thresholds);
        members.list_if_any("tasks", self.tasks.into_iter().map(Task::value).collect::<Result<_, _>>()?);
        members.finish("the suite")
    }
}

setters! { SuiteBuilder:
    /// The same with a function that the definition names as `call/NAME`.
    ///
    /// ```
    /// use jurat::{Model, Suite};
    /// use serde_json::json;
    ///
    /// let suite = Suite::builder("tone")
    ///     .define(json!({
    ///         "records": [{ "answer": "Hello!" }],
    ///         "models": { "judge": "call/yes" },
    ///         "tasks": [{ "id": "polite", "judge": { "prompt": "Is this polite? ${answer}" } }],
    ///     }))
    ///     .function(Model::function("yes", |_| "yes"))
    ///     .build()?;
    /// # Ok::<(), jurat::Error>(())
    /// ```
    function(model: Model) => functions.push(model);

    /// The same with a function that runs cases, which the definition names as an agent `{call: NAME}`. It is called once for each turn, with an object:
    /// `case`, `task`, `turn`, `turns`, `session`, `workspace`, and `system` and `model` where there are any. It returns its final message as text, a list of the
    /// events that the runner `command` knows, or a run artifact. It runs outside of the sandbox. What it returns is recorded, so a replay does not call it; an error
    /// is one of the case.
    ///
    /// ```
    /// use jurat::{Function, RunOptions, Suite};
    /// use serde_json::json;
    ///
    /// let writer = Function::new(|task| {
    ///     let workspace = task.get("workspace").and_then(|it| it.as_str()).ok_or("there is no workspace")?;
    ///     std::fs::write(format!("{workspace}/report.md"), "three notes").map_err(|error| error.to_string())?;
    ///     Ok("report.md is written".into())
    /// });
    /// let suite = Suite::builder("reports")
    ///     .define(json!({
    ///         "agents": { "writer": { "call": "writer" } },
    ///         "cases": [{ "id": "report", "task": "Write report.md.", "key_outputs": ["report.md"] }],
    ///         "tasks": [
    ///             { "id": "written", "check": { "kind": "workspace_file_present", "relative_path": "report.md" } },
    ///             { "id": "reported", "field_path": "final_response", "operator": "contains", "expected_value": "report.md" },
    ///         ],
    ///     }))
    ///     .agent_function("writer", writer)
    ///     .build()?;
    /// # let directory = tempfile::tempdir()?;
    /// let run = suite.run(RunOptions::in_directory(directory.path()))?;
    /// assert_eq!(run.pass_rate(), Some(1.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    agent_function(name: impl Into<String>, function: Function) => called_agents.insert(name.into(), function);

    /// The same with a function that evaluates, which the definition names as an evaluator `{call: NAME}`. It is given its arguments by name, as one object, and
    /// returns [what evaluators may](crate::Return::to_value). [`Evaluator::function`] is the same without a definition.
    ///
    /// ```
    /// use jurat::{Function, Return, RunOptions, Suite};
    /// use serde_json::json;
    ///
    /// let suite = Suite::builder("lengths")
    ///     .define(json!({
    ///         "records": [{ "answer": "Hello!" }],
    ///         "evaluators": { "length": { "call": "length", "parameters": ["answer"] } },
    ///         "tasks": [{ "id": "short", "evaluate": "length", "field_path": "score", "operator": "less_than", "expected_value": 10 }],
    ///     }))
    ///     .evaluator_function("length", Function::new(|arguments| {
    ///         let answer = arguments.get("answer").and_then(|it| it.as_str()).unwrap_or_default();
    ///         Ok(Return::from(answer.len() as i64).to_value())
    ///     }))
    ///     .build()?;
    /// # let directory = tempfile::tempdir()?;
    /// assert_eq!(suite.run(RunOptions::in_directory(directory.path()))?.pass_rate(), Some(1.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    evaluator_function(name: impl Into<String>, function: Function) => called_evaluators.insert(name.into(), function);

    /// The same with a sentence about what it is for; reports show it.
    description(text: impl Into<String>) => members.put("description", text.into());

    /// The same with one more row. It is part of the definition: many rows belong into a file, or are given when the suite is run.
    record(row: impl Serialize) => rows.push(given(&row));

    /// The same, but each row is a question to a model, whose answer is what is judged.
    ask(ask: Ask) => members.object("ask", ask.into_members());

    /// The same with one more scenario. Its questions go to the role `subject`; the role `parser` reads and rates answers, where that needs a model. Its
    /// outcomes are tasks of this scenario alone; other tasks see the evidence of every scenario, unless they say for which they are.
    ///
    /// ```
    /// use jurat::scenario::{END, Question, ScenarioBuilder, all_turns};
    /// use jurat::{Assertion, Suite, compare::less_than_or_equal};
    ///
    /// let mut builder = ScenarioBuilder::new("greeting");
    /// builder
    ///     .add_node("hi", Question::new("Hello?", "Hello."))
    ///     .add_edge("hi", END)
    ///     .set_entry("hi")
    ///     .add_outcome("right", all_turns([("verify_result", true.into())]));
    /// let suite = Suite::builder("polite")
    ///     .model("subject", "openai/gpt-5-mini")
    ///     .scenario(builder.validate()?)
    ///     .task(Assertion::new("short", "turn_count", less_than_or_equal(3)).on_scenarios())
    ///     .build()?;
    /// assert_eq!(suite.stages(), [["right", "short"]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    scenario(scenario: Scenario) => scenarios.push(scenario);

    /// The same with a server whose tools scenarios and an [`Ask`] may name, as definitions have it.
    ///
    /// ```
    /// use jurat::Suite;
    /// use serde_json::json;
    ///
    /// Suite::builder("research").tool_server("pubmed", json!({ "command": ["pubmed-server", "--stdio"] }));
    /// ```
    tool_server(name: impl Into<String>, server: impl Serialize) => servers.given(name, given(&server));

    /// The same with one more agent. Its cases come with [`case`](SuiteBuilder::case).
    agent(agent: Agent) => agents.push(agent);

    /// The same with one more case for an agent; [`AgentCase`] has an example.
    case(case: AgentCase) => cases.push(case);

    /// The same with one more evaluator. An [`Evaluate`](crate::Evaluate) task runs it; one that no task names runs as a task of its own name.
    evaluator(evaluator: Evaluator) => evaluators.push(evaluator);

    /// The same with one more task.
    task(task: impl Into<Task>) => tasks.push(task.into());

    /// The same, summed up for each value that these paths of a row lead to.
    group_by(paths: impl IntoIterator<Item: Into<String>>) => members.texts("group_by", paths);

    /// The same, with rows that share the value at this path taken for one cluster when runs are compared.
    cluster_by(path: impl Into<String>) => members.put("cluster_by", path.into());

    /// The same, with these paths of a row as its question: runs are compared where they are equal.
    question(paths: impl IntoIterator<Item: Into<String>>) => members.texts("question", paths);

    /// The same with dimensions that tasks may name besides the usual ones.
    dimensions(names: impl IntoIterator<Item: Into<String>>) => members.texts("dimensions", names);

    /// The same, good enough only when this share of what the task judges passes.
    task_threshold(task: impl Into<String>, pass_rate: f64) => thresholds.given(task, Ok(Val::F(pass_rate)));
}

/// Things by their names, of which no two may be equal.
fn named(what: &str, things: impl Iterator<Item = (String, Result<Val<'static>, Error>)>) -> Result<Members, Error> {
    let mut members = Members::default();
    for (name, value) in things {
        if members.has(&name) {
            return Err(Error::Usage(format!("two {what} are called `{name}`; give one of them another name")));
        }
        members.given(name, Ok(value?));
    }
    Ok(members)
}

/// A scenario with its name.
fn scenario(scenario: &Scenario) -> Val<'static> {
    let name = [("name".to_owned(), Val::from(scenario.name.clone()))];
    let value = scenario.to_value();
    let members = value.as_map().into_iter().flat_map(Map::iter).map(|(key, it)| (key.to_owned(), it.clone()));
    Val::Map(name.into_iter().chain(members).collect::<Map<'static>>())
}

fn model(role: &str, model: Model) -> Result<Val<'static>, Error> {
    model.given().map_err(|reason| Error::Value { what: format!("the model of `{role}`"), reason })
}
