//! What scenarios and cases of agents have in common: they stand in the definition under names of their own, and have tasks of their own.

use jurat_format::codes;
use jurat_format::problem::Problem;
use jurat_format::reader::Reading;
use jurat_format::value::{Content, Entry, Node, Spanned};

use super::lost::Part;
use super::{Suite, Task, task};

/// Reads one case into the suite. Its id stands in it unless it is given.
type ReadOne = fn(&mut Reading<'_>, &mut Suite, Option<Spanned<String>>, &Node<'_>);

/// Reads a section: cases by id, or a list of cases with ids.
pub(super) fn read_each(
    reading: &mut Reading<'_>,
    suite: &mut Suite,
    (what, needs): (&str, &str),
    node: &Node<'_>,
    one: ReadOne,
) {
    match &node.content {
        Content::Map(entries) => {
            for Entry { key, key_span, value } in entries {
                one(reading, suite, Some(Spanned::new(key.clone().into_owned(), *key_span)), value);
            }
        }
        Content::List(items) => items.iter().for_each(|item| one(reading, suite, None, item)),
        Content::Scalar(_) => {
            reading.wrong_type(what, needs, node);
            suite.lost.add_if(true, &[Part::Case, Part::Task]);
        }
    }
}

/// Reads one case with its tasks. Those of a case that cannot be used are dropped with it.
pub(super) fn read_whole<T>(
    reading: &mut Reading<'_>,
    suite: &mut Suite,
    what: &str,
    id: fn(&T) -> &Spanned<String>,
    read: impl FnOnce(&mut Reading<'_>, &mut Suite) -> Option<T>,
) -> Option<T> {
    let n_tasks = suite.tasks.len();
    let case = read(reading, suite);
    suite.lost.add_if(case.is_none(), &[Part::Case, Part::Task]);
    let case = case.filter(|it| !is_taken(reading, suite, id(it), what));
    if case.is_none() {
        suite.tasks.truncate(n_tasks);
    }
    case
}

/// Whether another case has this id, which is a problem.
fn is_taken(reading: &mut Reading<'_>, suite: &Suite, id: &Spanned<String>, what: &str) -> bool {
    let scenarios = suite.scenarios.iter().map(|it| (&it.name, "scenario"));
    let mut all = scenarios.chain(suite.cases.iter().map(|it| (&it.id, "case")));
    let Some((first, other)) = all.find(|(it, _)| *it == id) else { return false };
    let message = match what == other {
        true => format!("there are two {what}s `{}`", id.value),
        false => format!("a scenario and a case are both called `{}`", id.value),
    };
    let problem = Problem::new(&codes::DUPLICATE_ID, message).at(id.span, "again here").at(first.span, "first here");
    reading.problem(problem.help("rename one of them; scenarios and cases have one space of names"));
    true
}

/// Adds a task that applies to one case alone, and answers whether it could be read.
pub(super) fn add_own_task(
    reading: &mut Reading<'_>,
    suite: &mut Suite,
    (what, id): (&str, &Spanned<String>),
    item: &Node<'_>,
    read: Result<Task, Option<String>>,
) -> bool {
    if let (Ok(_), Some(on)) = (&read, item.get(task::ON.key.name)) {
        let problem = Problem::new(&codes::CONFLICT, format!("a task of a {what} applies to it alone"));
        let problem = problem.at(on.span, "for others, too?").at(id.span, format!("this {what}"));
        reading.problem(problem.help("drop `on`, or move the task to the `tasks` of the suite"));
    }
    let is_read = read.is_ok();
    match read {
        Ok(task) => suite.tasks.push(Task { scope: Some(id.clone()), ..task }),
        Err(id) => suite.lost.add(Part::Task, id),
    }
    is_read
}
