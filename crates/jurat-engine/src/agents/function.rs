//! A function of this program, called turn by turn. It runs without a sandbox: it is as trusted as the program that has it.

use jurat_core::agent::{
    Ending, FunctionReturn, Limit, Places, TurnInput, TurnReport, asked_of_function, returned_by_function,
};
use jurat_core::artifact::RunArtifact;
use jurat_core::effect::Outcome;
use jurat_core::scenario::Function;
use jurat_format::value::Value;
use jurat_model::proxy::{Listen, Spent};

use super::Halt;
use super::access::Access;
use super::folders::Folders;
use super::turns::{Finished, Performed, Performer, Task, Turn};
use crate::host_function::call_apart;

/// Where it runs, in one word.
const PLACE: &str = "program";

pub(super) struct FunctionTurns<'t> {
    task: Task<'t>,
    function: &'t Function,
    access: Access,
    places: Places,
    /// The artifact of the whole run, when the function returned one.
    artifact: Option<RunArtifact>,
}

impl<'t> FunctionTurns<'t> {
    pub(super) fn open(task: Task<'t>, folders: &Folders) -> Result<FunctionTurns<'t>, Halt> {
        let function = task.ready.function.as_ref().ok_or("there is no function here")?;
        // A function cannot be stopped; its requests are refused.
        let access = Access::open(task, &Listen::Loopback, None)?;
        let shown = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let places =
            Places { workspace: shown(&folders.workspace), home: shown(&folders.home), tmp: shown(&folders.tmp) };
        Ok(FunctionTurns { task, function, access, places, artifact: None })
    }

    /// What the function returned in a turn. What it raises is reported as it is: it says nothing about the agent.
    fn returned(&mut self, outcome: Outcome, turn: usize) -> Result<TurnReport, String> {
        let n = self.task.case().turns.len();
        match returned_by_function(value(outcome)?)? {
            FunctionReturn::Report(report) => Ok(*report),
            FunctionReturn::Artifact(_) if n > 1 => Err(format!(
                "it returned the artifact of a whole run in turn {} of {n}; where there are several turns, return events",
                turn + 1
            )),
            FunctionReturn::Artifact(artifact) => {
                self.artifact = Some(*artifact);
                Ok(TurnReport::default())
            }
        }
    }
}

impl Performer for FunctionTurns<'_> {
    async fn perform(&mut self, turn: Turn<'_>) -> Result<Performed, Halt> {
        let case = self.task.case();
        let input = TurnInput {
            agent: &case.agent,
            program: "",
            places: &self.places,
            turn: turn.ix,
            n_turns: case.turns.len(),
            message: turn.message,
            system: case.system.as_deref(),
            session: turn.session,
            servers: &self.access.servers,
        };
        let asked = asked_of_function(&case.id, &input, self.access.at());
        let called = tokio::time::timeout(turn.left, call_apart(self.function, &asked));
        let called = self.access.beside(self.task, called).await;
        let (report, ending) = match called {
            // What it does or raises without its model says nothing about what it would have done with it.
            _ if self.access.spent() == Some(Spent::Budget) => (TurnReport::default(), Ending::Limited(Limit::Budget)),
            Err(_) => (TurnReport::default(), Ending::Limited(Limit::Time)),
            Ok(outcome) => (self.returned(outcome, turn.ix)?, Ending::Exited(0)),
        };
        Ok(Performed { report, ending, stderr: String::new() })
    }

    async fn finish(mut self) -> Result<Finished, Halt> {
        Ok(Finished {
            place: PLACE,
            workspace: self.places.workspace,
            model: self.access.model.take(),
            artifact: self.artifact,
            record: self.access.finish().await?,
            ..Finished::default()
        })
    }
}

fn value(outcome: Outcome) -> Result<Value, String> {
    match outcome {
        Outcome::Returned(returned) if returned.is_error => {
            Err(returned.value.as_str().map_or_else(|| returned.value.to_json(), str::to_owned))
        }
        Outcome::Returned(returned) => Ok(returned.value),
        Outcome::Fault(fault) => Err(fault.message),
        Outcome::Answer(_) | Outcome::Ran(_) | Outcome::NotRun(_) => Err("it was not called".to_owned()),
    }
}
