//! The evaluation of a suite: who judges, what each case is judged by, and which checks it waits for.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::Arc;

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems};
use jurat_format::value::{Spanned, Val};

use super::roles::Roles;
use super::{PlannedJudge, TaskIx};
use crate::chat::Chat;
use crate::check::DIMENSIONS;
use crate::effect::{Messages, ModelRequest, Schema};
use crate::evaluation::{Brief, CheckSeen, OnFailedCheck, Profile, Slot, messages, reply_schema};
use crate::judge::ReplyForm;
use crate::output::CompiledSchema;
use crate::prompt::Prompt;
use crate::section::lost::Part;
use crate::suite::{Aggregate, EvaluationText, Suite};

/// The role that judges unless the author says otherwise.
const JUDGE: &str = "judge";

/// An evaluation with everything it takes to perform it.
#[derive(Debug, Clone)]
pub struct PlannedEvaluation {
    /// Who judges, and what becomes of what they say.
    pub profile: Profile,
    /// The models that are asked.
    pub judge: PlannedJudge,
    /// The checks that it waits for, and that judges are shown. Those that are not for a case are not waited for there.
    pub sees: Vec<TaskIx>,
    /// What is wanted of each case, by its id.
    briefs: BTreeMap<String, CompiledBrief>,
    /// What is wanted of all others.
    default: CompiledBrief,
}

/// What is wanted of a case, and what a reply about it must be.
#[derive(Debug, Clone)]
pub struct CompiledBrief {
    pub brief: Brief,
    /// What a reply must be.
    pub form: ReplyForm,
    output: Schema,
}

impl PlannedEvaluation {
    /// What is wanted of a case.
    pub fn brief(&self, case: Option<&str>) -> &CompiledBrief {
        case.and_then(|it| self.briefs.get(it)).unwrap_or(&self.default)
    }

    /// What each slot is asked about a case.
    pub fn requests(&self, case: Option<&str>, evidence: &Val<'_>, checks: &[CheckSeen<'_>]) -> Vec<ModelRequest> {
        let ready = self.brief(case);
        let messages = Messages::from(messages(&self.profile, &ready.brief, evidence, checks));
        let request = |slot: &Slot| ModelRequest {
            output: Some(ready.output.clone()),
            repeat: slot.repeat,
            ..ModelRequest::new(slot.model.as_str(), messages.clone())
        };
        self.profile.slots.iter().map(request).collect()
    }
}

/// The dimensions that an evaluation scores.
pub(super) fn dimensions(suite: &Suite, evaluation: &EvaluationText) -> Vec<String> {
    let declared = suite.dimensions.iter().map(|it| it.value.clone());
    let all = || DIMENSIONS.iter().map(|it| (*it).to_owned()).chain(declared.clone());
    let mut names: Vec<String> = Vec::new();
    let said = evaluation.dimensions.iter().map(|it| it.value.clone());
    let wanted: Vec<String> = if evaluation.dimensions.is_empty() { all().collect() } else { said.collect() };
    for name in wanted {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The evaluation of a suite without errors.
pub(super) fn planned(suite: &Suite, sees: &[TaskIx]) -> Option<Arc<PlannedEvaluation>> {
    let text = suite.evaluation.as_ref()?;
    let profile = Profile {
        slots: slots(text),
        system: text.system.clone(),
        dimensions: dimensions(suite, text),
        method: text.method,
        pass_threshold: text.pass_threshold,
        on_failed_check: text.on_failed_check,
        anchors: text.anchors.clone(),
        limits: text.limits,
    };
    let ready = |brief: Brief| {
        let schema = reply_schema(&profile.dimensions, &brief.scale());
        let form = CompiledSchema::compile(&schema).map_or(ReplyForm::Json, |it| ReplyForm::Schema(Box::new(it)));
        CompiledBrief { brief, form, output: Schema::from(schema) }
    };
    let (expectations, rubric) = (&text.expectations, &text.rubric);
    let of_case = |case: &crate::suite::AgentCaseText| Brief {
        system: case.system.clone(),
        turns: case.turns.clone(),
        expectations: case.expectations.clone().unwrap_or_else(|| expectations.clone()),
        rubric: case.rubric.clone().or_else(|| rubric.clone()),
    };
    let briefs = suite.cases.iter().map(|it| (it.id.value.clone(), ready(of_case(it)))).collect();
    let default = ready(Brief { expectations: expectations.clone(), rubric: rubric.clone(), ..Brief::default() });
    let judge = PlannedJudge {
        models: profile.slots.iter().map(|it| it.model.as_str().into()).collect(),
        system: Some(Prompt::parse(profile.system.clone())),
        prompt: Chat::of(Prompt::parse("")),
        output: Some(default.output.clone()),
        form: default.form.clone(),
        max_retries: text.max_retries,
        repeat: 1,
        aggregate: Aggregate::Majority,
        soft: None,
        used: None,
    };
    Some(Arc::new(PlannedEvaluation { profile, judge, sees: sees.to_vec(), briefs, default }))
}

/// Who is asked, in order. Several runs of one judge are counted on, so that each is a question of its own.
fn slots(evaluation: &EvaluationText) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    let mut asked: HashMap<&str, u32> = HashMap::new();
    for run in &evaluation.runs {
        for _ in 0..run.repetitions {
            let next = asked.entry(run.model.value.as_str()).or_default();
            slots.push(Slot { judge: run.judge.clone(), model: run.model.value.clone(), repeat: *next });
            *next += 1;
        }
    }
    if slots.is_empty() {
        slots.push(Slot { judge: JUDGE.to_owned(), model: JUDGE.to_owned(), repeat: 0 });
    }
    slots
}

/// What does not fit together in an evaluation and what is judged by it.
pub(super) fn examine(suite: &Suite, roles: &Roles<'_>, problems: &mut Problems) {
    let Some(evaluation) = &suite.evaluation else {
        problems.extend(without_judge(suite));
        return;
    };
    let named: Vec<&Spanned<String>> = evaluation.runs.iter().map(|it| &it.model).collect();
    if named.is_empty() && !roles.has(JUDGE) && !evaluation.is_flawed {
        let message = format!("`{}` has no model to ask", evaluation.id.value);
        let problem = Problem::new(&codes::NO_MODEL, message).at(evaluation.span, "an evaluation without a judge");
        problems.push(roles.without_model(JUDGE, problem));
    }
    roles.examine(named, problems);
    if let OnFailedCheck::Cap(most) = evaluation.on_failed_check {
        let scales = suite.cases.iter().filter_map(|it| it.rubric.as_ref()).chain(&evaluation.rubric);
        let outside = scales.map(|it| &it.scale).find(|it| most < it.min || most > it.max);
        if let Some(scale) = outside {
            let message = format!("a cap of {most} is outside the scale from {} to {}", scale.min, scale.max);
            let problem = Problem::new(&codes::WRONG_VALUE, message).at(evaluation.span, "this evaluation");
            problems.push(problem.help("a cap is a score on the scale of every rubric"));
        }
    }
}

/// Expectations and rubrics are for judges; without one they have no effect.
fn without_judge(suite: &Suite) -> Option<Problem> {
    let case = suite.cases.iter().find(|it| it.wanted.is_some()).filter(|_| !suite.lost.unnamed(Part::Task))?;
    let message = format!("the case `{}` says what is expected, and no judge looks at it", case.id.value);
    let problem = Problem::new(&codes::NO_EVALUATION, message).at(case.wanted?, "for an `evaluation`");
    Some(problem.help("add `evaluation: { judges: [judge] }`; a campaign is given `--evaluation-profile`"))
}
