//! The parts of a configuration put together: rows, tasks, models and `ask`.

use jurat_format::value::{FieldPath, Map, Node, Val, Value};

use super::assertion::{self, Taken, Taking, Use};
use super::draft::Draft;
use super::groups::{self, Member, Members};
use super::jinja::Presence;
use super::places::Places;
use super::prompts::{self, Prompt};
use super::providers::{self, Provider};
use super::template::{Template, has_tags, rendered_value};
use super::tests::{self, MAX_COMBINATIONS, Spec, Test};
use super::transform::transformed;
use crate::document::{Object, beginning, text, text_at, texts};
use crate::kind::{Import, ImportError, counted};
use crate::report::{Class, Report};

/// A row: one combination of the variables of a test.
struct Row {
    test: usize,
    vars: Value,
}

/// The tasks of `defaultTest` for some rows.
struct Defaults {
    options: Value,
    threshold: Option<f64>,
    rows: Vec<usize>,
    members: Members,
}

/// What stands around an assertion.
#[derive(Debug, Clone, Copy)]
struct Around {
    /// The number of sets.
    depth: usize,
    /// Whether the weighted mean decides, so that weights are used.
    is_weighed: bool,
}

const SET: &str = "assertion `assert-set`";

pub(super) struct Suite<'s, 'f> {
    places: &'s mut Places<'f>,
    report: &'s mut Report,
    pub(super) templates: Option<Value>,
    default: Test,
    tests: Vec<Test>,
    rows: Vec<Row>,
    subjects: Vec<Value>,
    output: Option<Value>,
    /// Whether promptfoo reads answers as JSON before assertions see them.
    pub(super) is_structured: bool,
    draft: Draft,
}

/// Options of a test that are used, or say nothing about verdicts.
const OPTIONS: [&str; 8] = [
    "transform",
    "postprocess",
    "provider",
    "rubricPrompt",
    "runSerially",
    "disableVarExpansion",
    "disableConversationVar",
    "disableDefaultAsserts",
];

impl<'s, 'f> Suite<'s, 'f> {
    pub(super) fn new(places: &'s mut Places<'f>, report: &'s mut Report, default: Test) -> Suite<'s, 'f> {
        let (tests, rows, subjects) = (Vec::new(), Vec::new(), Vec::new());
        Suite {
            places,
            report,
            templates: None,
            default,
            tests,
            rows,
            subjects,
            output: None,
            is_structured: false,
            draft: Draft::default(),
        }
    }

    /// Providers become the role `subject`. It stays open when none of them maps: `--model` fills it.
    pub(super) fn subjects(&mut self, node: Option<&Node<'_>>) {
        let Some(node) = node else { return };
        let items = node.as_list().unwrap_or(std::slice::from_ref(node));
        for item in items {
            let at = self.places.at(item.span);
            self.subject(&at, &item.to_val().into_owned());
        }
    }

    fn subject(&mut self, at: &str, value: &Value) {
        let what = |value: &Value| format!("provider `{}`", beginning(&crate::document::plain(value)));
        let provider = match Provider::read(value) {
            Ok(provider) => provider,
            Err(why) => return self.report.dropped(at, what(value), why),
        };
        match providers::subject(&provider) {
            Err(why) => {
                let why = format!("{why}; `--model subject=PROVIDER/MODEL` says what is asked");
                self.report.dropped(at, provider.what(), why);
            }
            Ok(taken) if self.subjects.contains(&taken.model) => {
                self.report.dropped(at, provider.what(), "this model is asked already, with the same settings");
            }
            Ok(taken) => {
                providers::note(self.report, at, &provider, &taken, "subject");
                self.take_output(at, taken.output.as_ref(), &provider);
                self.subjects.push(taken.model);
            }
        }
    }

    /// The schema of answers, which is one for all models.
    fn take_output(&mut self, at: &str, output: Option<&Value>, provider: &Provider) {
        match (&self.output, output) {
            (_, None) => {}
            (None, Some(schema)) if self.subjects.is_empty() => {
                self.report.exact(at, format!("`response_format` of {}", provider.what()), "`ask.output`");
                self.output = Some(schema.clone());
                self.is_structured = true;
            }
            (Some(known), Some(schema)) if known == schema => {}
            _ => {
                let why = "`ask.output` is one for all models, and this one has another schema";
                self.report.dropped(at, format!("`response_format` of {}", provider.what()), why);
            }
        }
    }

    /// Tests and scenarios become rows.
    pub(super) fn cases(&mut self, tree: &Node<'_>) {
        let mut found = tree.get("tests").map(|it| tests::tests(self.places, it, self.report)).unwrap_or_default();
        found.extend(tree.get("scenarios").map(|it| self.scenarios(it)).unwrap_or_default());
        if found.is_empty() && tree.get("tests").is_none() && tree.get("scenarios").is_none() {
            found.push(Test { at: self.places.at(tree.span), ..Test::default() });
        }
        for test in found {
            self.case(test);
        }
    }

    /// `scenarios`: each of their configurations with each of their tests.
    fn scenarios(&mut self, node: &Node<'_>) -> Vec<Test> {
        let mut all = Vec::new();
        for scenario in node.as_list().unwrap_or_default() {
            let list =
                |key: &str| scenario.get(key).map(|it| it.as_list().unwrap_or(std::slice::from_ref(it)).to_vec());
            let (Some(configs), Some(of_tests)) = (list("config"), scenario.get("tests")) else {
                let why = "it has no `config` and `tests` that stand here";
                self.report.dropped(&self.places.at(scenario.span), "scenario", why);
                continue;
            };
            let inner = tests::tests(self.places, of_tests, self.report);
            for config in &configs {
                let config = tests::test(self.places, config, self.report);
                all.extend(inner.iter().map(|it| joined(&config, it)));
            }
        }
        all
    }

    fn case(&mut self, mut test: Test) {
        self.note_options(&test, "a test");
        test.metadata = joined_metadata(self.default.metadata.as_ref(), test.metadata.as_ref());
        let vars = joined_vars(&self.default.vars, &test.vars);
        let options = self.options(Some(&test));
        let is_expanded = !matches!(options.get("disableVarExpansion"), Some(Val::Bool(true)));
        let combinations = match is_expanded {
            true => tests::combinations(&vars),
            false => vec![vars.members().map(|(key, it)| (key.to_owned(), it.clone())).collect()],
        };
        if combinations.len() == MAX_COMBINATIONS {
            let why = format!("only {MAX_COMBINATIONS} combinations of its variables are taken");
            self.report.dropped(&test.at, "further rows of a test", why);
        }
        let first = self.rows.len() + 1;
        for vars in combinations {
            let vars = self.filled(&test, without_last_breaks(&vars));
            self.rows.push(Row { test: self.tests.len(), vars });
        }
        let last = self.rows.len();
        let into = if first == last { format!("row `r{first}`") } else { format!("rows `r{first}` to `r{last}`") };
        self.report.exact(&test.at, what_of(&test), into);
        self.tests.push(test);
    }

    /// Variables whose texts use other variables.
    fn filled(&mut self, test: &Test, vars: Map<'static>) -> Value {
        let before = Val::Map(vars.clone());
        let mut filled = Object::new();
        for (key, value) in vars.iter() {
            match has_tags(value).then(|| rendered_value(value, &before)) {
                None => filled.put(key, value.clone()),
                Some(Ok(value)) => filled.put(key, value),
                Some(Err(why)) => {
                    self.report.dropped(&test.at, format!("template in variable `{key}`"), why);
                    filled.put(key, value.clone());
                }
            }
        }
        filled.into()
    }

    /// The options of `defaultTest`, which are those of all tests.
    pub(super) fn note_default(&mut self) {
        let default = self.default.clone();
        self.note_options(&default, "`defaultTest`");
        if default.options.get("disableVarExpansion").is_some() {
            let into = "rows: a variable with a list is one value";
            self.report.exact(&default.at, "`options.disableVarExpansion` of `defaultTest`", into);
        }
    }

    fn note_options(&mut self, test: &Test, of: &str) {
        for (key, _) in test.options.members().filter(|(key, _)| !OPTIONS.contains(key)) {
            let why = match key {
                "prefix" | "suffix" => "write it into the prompt",
                "storeOutputAs" => "an answer is no variable of later tests; a scenario has turns",
                "transformVars" => "code that changes variables is not run",
                _ => "not known to the importer",
            };
            self.report.dropped(&test.at, format!("`options.{key}` of {of}"), why);
        }
        if test.metadata.as_ref().is_some_and(|it| it.get("conversationId").is_some()) {
            let why = "each row is asked by itself; a conversation is a scenario of jurat";
            self.report.dropped(&test.at, "`metadata.conversationId`", why);
        }
    }

    /// Notes something of recorded answers that nothing becomes of.
    pub(super) fn dropped(&mut self, at: &str, what: &str, why: &str) {
        self.report.dropped(at, what, why);
    }

    /// A test whose answers are recorded.
    pub(super) fn recorded_test(&mut self, test: Test) {
        self.tests.push(test);
    }

    /// A recorded answer to a test; returns its id.
    pub(super) fn recorded_row(&mut self, at: &str, test: usize, vars: Value) -> String {
        self.rows.push(Row { test, vars });
        let id = format!("r{}", self.rows.len());
        self.report.exact(at, "an answer", format!("row `{id}`"));
        id
    }

    /// Assertions become tasks: those of `defaultTest` for all rows, those of a test for its rows. Where the test has a threshold, a group decides.
    pub(super) fn assertions(&mut self) {
        let defaults = self.default_assertions();
        let mut groups: Vec<(Members, f64, Vec<usize>)> = Vec::new();
        for ix in 0..self.tests.len() {
            let specs = std::mem::take(&mut self.tests[ix].assertions);
            let rows: Vec<usize> = (0..self.rows.len()).filter(|it| self.rows[*it].test == ix).collect();
            let options = self.options(Some(&self.tests[ix]));
            let threshold = self.threshold(&self.tests[ix]);
            let is_weighed = threshold.is_some();
            let mut members = self.take_all(&specs, &rows, &options, Around { depth: 0, is_weighed });
            let Some(threshold) = threshold else { continue };
            let of_default = |it: &&Defaults| rows.first().is_some_and(|row| it.rows.contains(row));
            members.add(defaults.iter().find(of_default).map(|it| it.members.clone()).unwrap_or_default());
            match groups.iter_mut().find(|(it, bound, _)| *it == members && *bound == threshold) {
                Some((.., of_group)) => of_group.extend(rows),
                None => groups.push((members, threshold, rows)),
            }
        }
        for (members, threshold, rows) in groups {
            let at = self.tests[self.rows[rows[0]].test].at.clone();
            self.add_group(&at, "`threshold` of a test", ("threshold", &Val::Null), &members, Some(threshold), &rows);
        }
    }

    /// The tasks of `defaultTest`. Tests with other options look at another part of the answer, and a task that a group decides is not for tests without one.
    fn default_assertions(&mut self) -> Vec<Defaults> {
        let specs = std::mem::take(&mut self.default.assertions);
        let takes_default = |it: &Test| !matches!(it.options.get("disableDefaultAsserts"), Some(Val::Bool(true)));
        let mut all: Vec<Defaults> = Vec::new();
        for (ix, row) in self.rows.iter().enumerate().filter(|(_, it)| takes_default(&self.tests[it.test])) {
            let test = &self.tests[row.test];
            let (options, threshold) = (self.options(Some(test)), self.threshold(test));
            match all.iter_mut().find(|it| it.options == options && it.threshold == threshold) {
                Some(it) => it.rows.push(ix),
                None => all.push(Defaults { options, threshold, rows: vec![ix], members: Members::default() }),
            }
        }
        for it in &mut all {
            let around = Around { depth: 0, is_weighed: it.threshold.is_some() };
            it.members = self.take_all(&specs, &it.rows, &it.options, around);
        }
        all
    }

    fn threshold(&self, test: &Test) -> Option<f64> {
        test.threshold.or(self.default.threshold)
    }

    /// The options of a test, with those of `defaultTest` beneath.
    fn options(&self, test: Option<&Test>) -> Value {
        let own = test.map(|it| it.options.clone()).unwrap_or_default();
        joined_vars(&self.default.options, &own).into()
    }

    fn take_all(&mut self, specs: &[Spec], rows: &[usize], options: &Value, around: Around) -> Members {
        let mut members = Members::default();
        for spec in specs {
            members.add(self.take_spec(spec, rows, options, around));
        }
        members
    }

    fn take_spec(&mut self, spec: &Spec, rows: &[usize], options: &Value, around: Around) -> Members {
        const DEEPEST: usize = 8;
        let spec = match self.expanded(spec) {
            Ok(spec) => spec,
            Err(why) => return self.lost(&spec.at, "an assertion", why),
        };
        let Some(kind) = text_at(&spec.value, "type").map(str::to_owned) else {
            return self.lost(&spec.at, "an assertion", "it has no `type`");
        };
        match kind == "assert-set" {
            true if around.depth == DEEPEST => self.lost(&spec.at, SET, "sets are nested too deeply"),
            true => self.take_set(&spec, rows, options, around),
            false => self.take_kind(&spec, &kind, rows, options, around),
        }
    }

    fn take_kind(&mut self, spec: &Spec, kind: &str, rows: &[usize], options: &Value, around: Around) -> Members {
        let what = format!("assertion `{}`", beginning(kind));
        let Some((found, is_negated)) = assertion::find(kind) else {
            return self.lost(&spec.at, what, assertion::unknown(kind));
        };
        for (key, why) in found.unused(&spec.value) {
            self.report.dropped(&spec.at, format!("`{}` of {what}", beginning(key)), why);
        }
        let weight = groups::weight(&spec.value);
        let mut members = Members::default();
        match self.by_value(spec, rows, found.value_use(), found.name == "contains" || !is_negated) {
            Err(why) => return self.lost(&spec.at, what, why),
            Ok(groups) => {
                for (value, rows) in groups {
                    members.add(self.take_one(spec, (found, is_negated), &value, &rows, (options, around)));
                }
            }
        }
        Members { total: if members.tasks.is_empty() { 0.0 } else { weight }, ..members }
    }

    /// Notes something that nothing becomes of.
    fn lost(&mut self, at: &str, what: impl Into<String>, why: impl Into<String>) -> Members {
        self.report.dropped(at, what, why);
        Members::none()
    }

    /// An assertion with its template written out.
    fn expanded(&self, spec: &Spec) -> Result<Spec, String> {
        let Some(reference) = text_at(&spec.value, "$ref") else { return Ok(spec.clone()) };
        let name = reference.rsplit('/').next().unwrap_or(reference);
        let template = self.templates.as_ref().and_then(|it| it.get(name)).and_then(Val::as_map);
        let template = template.ok_or_else(|| format!("there is no assertion template `{name}`"))?;
        let own = spec.value.as_map().cloned().unwrap_or_default();
        let own = own.into_iter().filter(|(key, _)| key != "$ref");
        let mut members = Object::from(template.clone());
        for (key, value) in own {
            members.put(&key, value);
        }
        Ok(Spec { at: spec.at.clone(), value: members.into() })
    }

    /// A set becomes a group, which passes when its members do, or their weighted mean. Where a mean decides around it, its members count there.
    fn take_set(&mut self, spec: &Spec, rows: &[usize], options: &Value, around: Around) -> Members {
        let own = ["type", "assert", "threshold", "weight", "metric"];
        for (key, _) in crate::document::members(&spec.value).filter(|(key, _)| !own.contains(key)) {
            self.report.dropped(&spec.at, format!("`{}` of {SET}", beginning(key)), "not known to the importer");
        }
        let threshold = groups::threshold(spec.value.get("threshold"));
        let is_weighed = around.is_weighed || threshold.is_some();
        let assertions = spec.value.get("assert").and_then(Val::as_list).unwrap_or_default();
        let assertions: Vec<Spec> =
            assertions.iter().map(|it| Spec { at: spec.at.clone(), value: it.clone() }).collect();
        let inner = Around { depth: around.depth + 1, is_weighed };
        let members = self.take_all(&assertions, rows, options, inner);
        match around.is_weighed {
            true => self.spread_set(spec, members),
            false => self.grouped_set(spec, &members, threshold, rows),
        }
    }

    /// The members of a set in the mean of its test: promptfoo counts their mean there, whether the set passes or not.
    fn spread_set(&mut self, spec: &Spec, members: Members) -> Members {
        if spec.value.get("metric").is_some() {
            let why = "its members count in the threshold of the test; there is no task for the set";
            self.report.dropped(&spec.at, format!("`metric` of {SET}"), why);
        }
        self.report.exact(&spec.at, SET, "its members in the group of the test");
        members.scaled(groups::weight(&spec.value))
    }

    fn grouped_set(&mut self, spec: &Spec, members: &Members, threshold: Option<f64>, rows: &[usize]) -> Members {
        let weight = groups::weight(&spec.value);
        if weight == 0.0 {
            self.report.dropped(&spec.at, format!("`weight: 0` of {SET}"), "a group of jurat always counts");
        }
        let name = groups::set_name(&spec.value);
        match self.add_group(&spec.at, SET, (&name, &spec.value), members, threshold, rows) {
            None => Members::none(),
            Some(id) => Members { tasks: vec![Member { id, weight }], total: weight, ..Members::default() },
        }
    }

    /// Adds a task that is decided by others; returns its id.
    fn add_group(
        &mut self,
        at: &str,
        what: &str,
        (name, spec): (&str, &Value),
        members: &Members,
        threshold: Option<f64>,
        rows: &[usize],
    ) -> Option<String> {
        if let Some(why) = members.flaw() {
            self.report.dropped(at, what, why);
            return None;
        }
        let id = self.draft.task_name(name);
        self.add_task(&id, members.group(threshold), spec, rows, at);
        let difference = threshold.and_then(|_| members.difference());
        let class = if difference.is_some() { Class::Approximate } else { Class::Exact };
        self.report.add(at, what.to_owned(), class, Some(format!("task `{id}`")), difference);
        Some(id)
    }

    /// The assertion with its variables filled in, and the rows of each result.
    fn by_value(
        &self,
        spec: &Spec,
        rows: &[usize],
        usage: Use,
        may_be_operand: bool,
    ) -> Result<Vec<(Value, Vec<usize>)>, String> {
        let value = spec.value.get("value");
        let whole = || Ok(vec![(spec.value.clone(), rows.to_vec())]);
        let Some(value) = value.filter(|it| has_tags(it)) else { return whole() };
        match usage {
            Use::Prompt => return whole(),
            Use::Code if !value.as_str().is_some_and(|it| Template::parse(it).is_ok_and(|it| it.has_variables())) => {
                return whole();
            }
            Use::Operand if may_be_operand => {
                if let Some(operand) = value.as_str().and_then(|it| self.operand(it, rows)) {
                    return Ok(vec![(with_value(&spec.value, text(operand)), rows.to_vec())]);
                }
            }
            Use::Operand | Use::Filled | Use::Code => {}
        }
        let mut groups: Vec<(Value, Vec<usize>)> = Vec::new();
        for row in rows {
            let filled = with_value(&spec.value, rendered_value(value, &self.rows[*row].vars)?);
            match groups.iter_mut().find(|(it, _)| *it == filled) {
                Some((_, rows)) => rows.push(*row),
                None => groups.push((filled, vec![*row])),
            }
        }
        Ok(groups)
    }

    /// `${vars.x}` for a value that is one variable, which is text in all rows.
    fn operand(&self, value: &str, rows: &[usize]) -> Option<String> {
        let template = Template::parse(value).ok()?;
        let path = template.only_variable()?;
        let read = FieldPath::parse(path).ok()?;
        let is_text = |row: &usize| matches!(read.reach(&self.rows[*row].vars), Some(Val::Str(_)));
        rows.iter().all(is_text).then(|| format!("${{vars.{path}}}"))
    }

    fn take_one(
        &mut self,
        spec: &Spec,
        (kind, is_negated): (&'static assertion::AssertionType, bool),
        value: &Value,
        rows: &[usize],
        (options, around): (&Value, Around),
    ) -> Members {
        let name = if is_negated { format!("not-{}", kind.name) } else { kind.name.to_owned() };
        let what = format!("assertion `{name}`");
        let taken = self.output_path(value, options).and_then(|output| {
            let (draft, places) = (&mut self.draft, &mut *self.places);
            let is_structured = self.is_structured && output == "output";
            let mut taking =
                Taking { name: kind.name, is_negated, spec: value, options, output, is_structured, draft, places };
            kind.take(&mut taking)
        });
        match taken.and_then(|it| if around.is_weighed { Ok(it) } else { self.weighted(&spec.at, &what, value, it) }) {
            Err(why) => self.lost(&spec.at, what, why),
            Ok(Taken { task, class, why }) => {
                let id = self.draft.task_name(&name.replace([':', '-'], "_"));
                let are_graded = task.get("judge").is_some() || task.get("evaluate").is_some();
                self.add_task(&id, task, value, rows, &spec.at);
                self.report.add(&spec.at, what, class, Some(format!("task `{id}`")), why);
                let tasks = vec![Member { id, weight: groups::weight(&spec.value) }];
                Members { tasks, total: 0.0, lack_some: false, are_graded }
            }
        }
    }

    /// The path of what an assertion looks at.
    fn output_path(&self, spec: &Value, options: &Value) -> Result<String, String> {
        let mut path = "output".to_owned();
        let of_test = options.get("transform").or_else(|| options.get("postprocess"));
        for code in [of_test, spec.get("transform")].into_iter().flatten() {
            path = transformed(&path, code.as_str().unwrap_or("code"))?;
        }
        Ok(path)
    }

    /// A weight of 0 means that the task only measures; other weights change the score of a test alone, unless it has a threshold.
    fn weighted(&mut self, at: &str, what: &str, spec: &Value, mut taken: Taken) -> Result<Taken, String> {
        match spec.get("weight").and_then(Val::as_f64) {
            Some(0.0) => {
                if taken.task.get("judge").is_none() && taken.task.get("evaluate").is_none() {
                    return Err("`weight: 0`: a comparison of jurat always counts".to_owned());
                }
                let own = ["field_path", "operator", "expected_value"];
                let members = taken.task.members().filter(|(key, _)| !own.contains(key));
                taken.task =
                    Object::from(members.map(|(key, it)| (key.to_owned(), it.clone())).collect::<Map<'static>>());
                taken.class = Class::Approximate;
                taken.why = Some("`weight: 0`: the task measures and counts for nothing".to_owned());
            }
            Some(weight) if weight != 1.0 => {
                let why = "without `threshold` it changes the score of a test alone; `thresholds.weights` of the suite weighs tasks in the pass rate";
                self.report.dropped(at, format!("`weight: {weight}` of {what}"), why);
            }
            _ => {}
        }
        Ok(taken)
    }

    fn add_task(&mut self, id: &str, task: Object, spec: &Value, rows: &[usize], at: &str) {
        let mut whole = Object::new().with("id", text(id));
        if rows.len() < self.rows.len() {
            whole.put("on", texts(rows.iter().map(|it| format!("r{}", it + 1))));
        }
        match text_at(spec, "metric") {
            Some(metric) if metric.contains("{{") => {
                self.report.dropped(at, format!("`metric: {}`", beginning(metric)), "a name with variables");
            }
            Some(metric) => {
                let dimension = self.draft.dimension(metric);
                whole.put("dimensions", texts([dimension]));
            }
            None => {}
        }
        for (key, value) in task.members() {
            whole.put(key, value.clone());
        }
        self.draft.tasks.push(whole);
    }

    /// A suite that judges recorded answers: nothing is asked.
    pub(super) fn finish_recorded(self, name: &str, n_rows: usize) -> Finished {
        let Suite { report, draft, .. } = self;
        let summary = vec![counted(n_rows, "row"), counted(draft.tasks.len(), "task")];
        if draft.tasks.is_empty() {
            report.dropped(name, "the suite", "no assertion could be taken over, and a suite needs one");
            return Finished { suite: None, rows: Vec::new(), files: Vec::new(), summary };
        }
        let suite = suite(name, None, &[], &[], None, &draft, &|_| Presence::Nowhere);
        Finished { suite: Some(suite), rows: Vec::new(), files: draft.files, summary }
    }

    /// What is written.
    pub(super) fn finish(self, name: &str, description: Option<String>, prompts: &[Prompt]) -> Finished {
        let Suite { report, rows, tests, subjects, output, draft, .. } = self;
        let used = used_variables(prompts, &draft.tasks);
        let lines = rows.iter().enumerate().map(|(ix, row)| line(ix, row, &tests[row.test], &used)).collect();
        let what =
            ["assertion", "prompt"].into_iter().zip([draft.tasks.is_empty(), prompts.is_empty()]).find(|(_, it)| *it);
        let suite = match what {
            Some((what, _)) => {
                let why = format!("no {what} could be taken over, and a suite needs one");
                report.dropped(name, "the suite", why);
                None
            }
            None => {
                let presence = |name: &str| presence(&rows, name);
                Some(suite(name, description, prompts, &subjects, output, &draft, &presence))
            }
        };
        let summary = vec![
            counted(rows.len(), "row"),
            counted(prompts.len(), "prompt"),
            counted(subjects.len(), "model"),
            counted(draft.tasks.len(), "task"),
        ];
        let files = if suite.is_some() { draft.files } else { Vec::new() };
        Finished { suite, rows: lines, files, summary }
    }
}

pub(super) struct Finished {
    suite: Option<Object>,
    /// Those that are not yet written.
    rows: Vec<Value>,
    files: Vec<(String, String)>,
    summary: Vec<String>,
}

impl Finished {
    pub(super) fn write(self, import: &mut Import<'_>) -> Result<(), ImportError> {
        import.summary = self.summary;
        if let Some(suite) = self.suite {
            import.suite(suite);
        }
        self.rows.iter().try_for_each(|it| import.row(it))?;
        import.rows_file("rows.jsonl");
        for (name, content) in self.files {
            import.file(name, content);
        }
        Ok(())
    }
}

fn suite(
    name: &str,
    description: Option<String>,
    prompts: &[Prompt],
    subjects: &[Value],
    output: Option<Value>,
    draft: &Draft,
    presence: &dyn Fn(&str) -> Presence,
) -> Object {
    let mut suite = Object::new().with("suite", text(name));
    suite.put_some("description", description.map(text));
    let mut models = Object::new();
    match subjects {
        [] => {}
        [one] => models.put("subject", one.clone()),
        several => models.put("subject", Val::List(several.to_vec())),
    }
    for (role, model) in &draft.roles {
        models.put(role, model.clone());
    }
    if !models.is_empty() {
        suite.put("models", models);
    }
    suite.put("records", text("rows.jsonl"));
    if !prompts.is_empty() {
        let mut ask = prompts::ask(prompts, presence);
        ask.put_some("output", output);
        suite.put("ask", ask);
    }
    if !draft.evaluators.is_empty() {
        let evaluators = draft.evaluators.iter().map(|(name, it)| (name.clone(), Value::from(it.clone())));
        suite.put("evaluators", Val::Map(evaluators.collect()));
    }
    if !draft.dimensions.is_empty() {
        suite.put("dimensions", texts(&draft.dimensions));
    }
    suite.with("tasks", draft.tasks.iter().map(|it| Value::from(it.clone())).collect::<Value>())
}

/// How many rows have a variable.
fn presence(rows: &[Row], name: &str) -> Presence {
    match rows.iter().filter(|it| it.vars.get(name).is_some()).count() {
        0 => Presence::Nowhere,
        n if n == rows.len() => Presence::Everywhere,
        _ => Presence::Somewhere,
    }
}

/// The variables that prompts of the subject and of judges use. A row without one of them has an empty text there, as Nunjucks prints it.
fn used_variables(prompts: &[Prompt], tasks: &[Object]) -> Vec<String> {
    let mut used: Vec<String> = prompts.iter().flat_map(Prompt::variables).map(str::to_owned).collect();
    for task in tasks {
        let judge = task.get("judge").map(Val::to_json).unwrap_or_default();
        let names = judge.split("${vars.").skip(1).map(|it| it.split(['}', '.', '[']).next().unwrap_or_default());
        used.extend(names.map(str::to_owned));
    }
    used.sort();
    used.dedup();
    used
}

/// Variables as prompts and assertions of promptfoo have them: without the line break at the end, which blocks of YAML have.
pub(super) fn without_last_breaks(vars: &Map<'static>) -> Map<'static> {
    let without = |it: &Value| match it {
        Val::Str(it) if it.ends_with('\n') => text(&it[..it.len() - 1]),
        other => other.clone(),
    };
    vars.iter().map(|(key, it)| (key.to_owned(), without(it))).collect()
}

fn line(ix: usize, row: &Row, test: &Test, used: &[String]) -> Value {
    let mut vars = Object::from(row.vars.as_map().cloned().unwrap_or_default());
    for name in used {
        if vars.get(name).is_none() {
            vars.put(name, text(""));
        }
    }
    let mut line = Object::new().with("id", text(format!("r{}", ix + 1)));
    line.put_some("description", test.description.as_deref().map(text));
    line.put("vars", vars);
    line.put_some("metadata", test.metadata.clone());
    line.into()
}

/// The metadata of a test over those of all tests.
fn joined_metadata(default: Option<&Value>, own: Option<&Value>) -> Option<Value> {
    let map = |it: Option<&Value>| it.and_then(Val::as_map).cloned().map(Object::from).unwrap_or_default();
    let all = joined_vars(&map(default), &map(own));
    (!all.is_empty()).then(|| all.into())
}

fn what_of(test: &Test) -> String {
    match &test.description {
        Some(description) => format!("test `{}`", beginning(description)),
        None => "a test".to_owned(),
    }
}

fn with_value(spec: &Value, value: Value) -> Value {
    Object::from(spec.as_map().cloned().unwrap_or_default()).with("value", value).into()
}

/// The members of both; those of the second come later and win.
fn joined_vars(first: &Object, second: &Object) -> Object {
    let mut all = first.clone();
    for (key, value) in second.members() {
        all.put(key, value.clone());
    }
    all
}

fn joined(config: &Test, test: &Test) -> Test {
    Test {
        at: test.at.clone(),
        description: test.description.clone().or_else(|| config.description.clone()),
        vars: joined_vars(&config.vars, &test.vars),
        assertions: config.assertions.iter().chain(&test.assertions).cloned().collect(),
        options: joined_vars(&config.options, &test.options),
        metadata: joined_metadata(config.metadata.as_ref(), test.metadata.as_ref()),
        threshold: test.threshold.or(config.threshold),
    }
}
