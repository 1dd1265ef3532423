//! `group`: several tasks that give one verdict.
//!
//! ```yaml
//! - { id: helpful, group: { any: [cites, explains] } }
//! - { id: solid, group: { at_least: 2, of: [short, polite, right] } }
//! - { id: good, group: { weights: { right: 3, polite: 1 }, threshold: 0.7 } }
//! ```
//!
//! A member is judged and shown like any other task, and the group counts in its place. A member that could not be judged matters only where it could change the
//! result: then the group is an error, too, and never a failure.

use jurat_format::codes;
use jurat_format::field::Field;
use jurat_format::fields::Fields;
use jurat_format::form::{Form, Key, Object};
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::shape::{self, Shape};
use jurat_format::value::{Content, Node, Span, Spanned, Val};

use super::read_ids;

/// Several tasks that give one verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub members: Vec<Member>,
    pub rule: GroupRule,
    pub span: Span,
}

/// A task of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    pub id: Spanned<String>,
    /// What it counts; 1 where nothing else is said.
    pub weight: f64,
}

/// When a group passes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GroupRule {
    All,
    Any,
    AtLeast(u32),
    /// The weighted mean of what its members give reaches this.
    Threshold(f64),
}

const ALL: Field<Vec<Spanned<String>>> = Field::optional("all", IDS, "passes when each of these tasks passes");
const ANY: Field<Vec<Spanned<String>>> = Field::optional("any", IDS, "passes when one of these tasks passes");
const AT_LEAST: Field<u32> =
    Field::optional("at_least", shape::count::<1>(), "passes when at least as many of the tasks in `of` pass");
const OF: Field<Vec<Spanned<String>>> = Field::optional("of", IDS, "the tasks of which `at_least` have to pass");
const WEIGHTS: Field<Vec<Member>> = Field::optional(
    "weights",
    Shape::new(Form::Map(&Form::Number(0.0, f64::INFINITY)), weights),
    "tasks and what each counts: 1 for one that passes, 0 for one that fails, its number for one that measures. Passes when the weighted mean reaches `threshold`",
);
const THRESHOLD: Field<f64> = Field::optional("threshold", shape::NUMBER, "what the weighted mean has to reach");

const IDS: Shape<Vec<Spanned<String>>> = Shape::new(Form::List(&Form::Id), read_ids);

static GROUP: Object =
    Object { what: "a group", keys: &[ALL.key, ANY.key, AT_LEAST.key, OF.key, WEIGHTS.key, THRESHOLD.key] };

pub(crate) const SHAPE: Shape<Group> = Shape::new(Form::Object(&GROUP), read);

fn read(reading: &mut Reading<'_>, _: &str, node: &Node<'_>) -> Option<Group> {
    let fields = GROUP.fields(reading, node)?;
    let (rule, members) = rule(reading, &fields)?;
    let group = Group { members, rule, span: node.span };
    match group.flaw() {
        Some(flaw) => {
            reading.problem(Problem::new(&codes::WRONG_VALUE, flaw).at(node.span, "this group"));
            None
        }
        None => Some(group),
    }
}

/// The rule, of which there is one.
fn rule(reading: &mut Reading<'_>, fields: &Fields<'_, '_>) -> Option<(GroupRule, Vec<Member>)> {
    let (all, any, of) = (fields.read(reading, &ALL), fields.read(reading, &ANY), fields.read(reading, &OF));
    let (at_least, weights, threshold) =
        (fields.read(reading, &AT_LEAST), fields.read(reading, &WEIGHTS), fields.read(reading, &THRESHOLD));
    let named: Vec<&str> =
        GROUP.keys.iter().filter(|it| fields.key_span(*it).is_some()).map(|it: &Key| it.name).collect();
    let each = |ids: Vec<Spanned<String>>| ids.into_iter().map(|id| Member { id, weight: 1.0 }).collect();
    match named.as_slice() {
        ["all"] => Some((GroupRule::All, each(all?))),
        ["any"] => Some((GroupRule::Any, each(any?))),
        ["at_least", "of"] => Some((GroupRule::AtLeast(at_least?), each(of?))),
        ["weights", "threshold"] => Some((GroupRule::Threshold(threshold?), weights?)),
        [] if GROUP.keys.iter().any(|it| fields.may_mean(it)) => None,
        _ => {
            let message = "a group has either `all`, or `any`, or `at_least` and `of`, or `weights` and `threshold`";
            let problem = Problem::new(&codes::CONFLICT, message).at(fields.span, "this group");
            reading.problem(problem.help("for example `group: { any: [cites, explains] }`"));
            None
        }
    }
}

impl Group {
    /// Why it could never be decided in the way that is meant.
    fn flaw(&self) -> Option<String> {
        let n_members = self.members.len();
        if n_members == 0 {
            return Some("a group needs tasks: it has none".to_owned());
        }
        match self.rule {
            GroupRule::AtLeast(n) if n as usize > n_members => {
                Some(format!("`at_least: {n}` of {n_members} tasks is never reached"))
            }
            GroupRule::Threshold(_) if self.members.iter().all(|it| it.weight == 0.0) => {
                Some("a group needs a task with a weight above 0".to_owned())
            }
            _ => None,
        }
    }
}

fn weights(reading: &mut Reading<'_>, what: &str, node: &Node<'_>) -> Option<Vec<Member>> {
    let Some(entries) = node.entries() else {
        reading.wrong_type(what, "an object of task ids and weights", node);
        return None;
    };
    let member = |reading: &mut Reading<'_>, entry: &jurat_format::value::Entry<'_>| {
        let name = Node { span: entry.key_span, content: Content::Scalar(Val::Str(entry.key.clone())) };
        let id = reading.id("a task in `weights`", &name)?;
        let weight = reading.number(&format!("the weight of `{}`", id.value), (0.0, f64::INFINITY), &entry.value)?;
        Some(Member { id, weight })
    };
    Some(entries.iter().filter_map(|it| member(reading, it)).collect())
}
