//! When a recorded outcome stands for performing its request again.

use std::time::Duration;

use super::{Action, Outcome, Request, Returned};

/// How far a recorded outcome stands for performing its request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reuse {
    /// The request is performed again.
    Never,
    /// The run that recorded it uses it when it is resumed.
    SameRun,
    /// Other cases and other runs use it, too.
    OtherRuns,
}

/// An evaluator that returned sooner is called again in other runs: a lookup takes as long.
const QUICK: Duration = Duration::from_millis(50);

impl Request {
    /// How far an outcome of this request may be used again. `is_shared` says whether results of its performer are meant for others, too: answers
    /// of a model that may cost money, tools with `reuse`, evaluators that are deterministic, agents that are programs.
    pub fn reuse(&self, outcome: &Outcome, is_shared: bool) -> Reuse {
        match (self, outcome) {
            (Request::Model(_), Outcome::Answer(_)) if is_shared => Reuse::OtherRuns,
            (Request::Model(_), Outcome::Answer(_)) => Reuse::SameRun,
            (Request::Action(action), Outcome::Returned(returned)) => action.reuse(returned, is_shared),
            (Request::Action(_), Outcome::Ran(ran)) if is_shared && ran.has_succeeded() => Reuse::OtherRuns,
            (
                _,
                Outcome::Answer(_) | Outcome::Returned(_) | Outcome::Ran(_) | Outcome::Fault(_) | Outcome::NotRun(_),
            ) => Reuse::Never,
        }
    }
}

impl Action {
    fn reuse(&self, returned: &Returned, is_shared: bool) -> Reuse {
        match self {
            // What a check saw of files, or what a hook decided, is evidence: it stays the same when the run is resumed.
            Action::Look { .. } | Action::Hook { .. } if !is_shared => Reuse::SameRun,
            // The bytes are in the file of the run, and nowhere else.
            Action::Attach { .. } => Reuse::SameRun,
            Action::CallTool { .. } if is_shared && !returned.media.is_empty() => Reuse::SameRun,
            // What an agent left is no artifact.
            Action::Run { .. } => Reuse::Never,
            Action::Evaluate { .. } if is_shared && returned.latency <= QUICK => Reuse::SameRun,
            _ if is_shared => Reuse::OtherRuns,
            _ => Reuse::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use jurat_format::value::{Value, parse_json};

    use super::*;
    use crate::effect::{Answer, Fault, FaultKind, Media, MediaKind, ModelRequest, Ran};
    use crate::verdict::StopReason;

    fn returned(json: &str, latency: Duration) -> Outcome {
        let value = parse_json(json).expect("it is JSON").value.into_owned();
        Outcome::Returned(Box::new(Returned::new(value, false, latency, 0)))
    }

    #[test]
    fn a_result_with_media_is_for_its_own_run() {
        let tool = Action::CallTool { server: "kit".to_owned(), tool: "draw".to_owned(), arguments: Value::Null };
        let request = Request::from(tool);
        let image = Media::of(MediaKind::Image, &b"\x89PNG\r\n\x1a\n"[..], None).expect("it is an image");
        let drawn = Returned { media: vec![image], ..Returned::new(Value::Null, false, QUICK, 0) };
        let drawn = Outcome::Returned(Box::new(drawn));
        let counted = returned("{}", QUICK);
        assert_eq!((request.reuse(&drawn, true), request.reuse(&counted, true)), (Reuse::SameRun, Reuse::OtherRuns));
        assert_eq!(request.reuse(&drawn, false), Reuse::Never);
    }

    fn ran(status: &str) -> Outcome {
        let identity =
            r#"{"run_id": "r", "case_id": "c", "suite_id": "s", "run_profile_id": "p", "runner_type": "codex"}"#;
        let text = format!(r#"{{"identity": {identity}, "request": {{"requested_model": "m"}}, "status": {status}}}"#);
        let document = parse_json(&text).expect("it is JSON").value.into_owned();
        Outcome::Ran(Box::new(Ran::read(document, Duration::ZERO, 0).expect("it is an artifact")))
    }

    #[track_caller]
    fn reused(request: &Request, outcome: &Outcome, alone: Reuse, shared: Reuse) {
        assert_eq!((request.reuse(outcome, false), request.reuse(outcome, true)), (alone, shared));
    }

    #[test]
    fn the_kind_of_request_and_its_outcome_decide() {
        let action = |it: Action| Request::Action(Box::new(it));
        let model = Request::Model(Box::new(ModelRequest::new("judge", Vec::new())));
        let look = action(Action::Look { looks: Vec::new() });
        let list = action(Action::ListTools { server: "files".to_owned() });
        let (evaluator, source) = ("short".to_owned(), String::new());
        let evaluate = action(Action::Evaluate { evaluator, source, arguments: Value::Null });
        let (runner, case) = ("codex".to_owned(), String::new());
        let run = action(Action::run(runner, case, Value::Null));
        let (quick, slow) = (returned("{}", Duration::ZERO), returned("{}", Duration::from_secs(1)));
        let answer = Outcome::Answer(Box::new(Answer::new("yes")));

        reused(&model, &answer, Reuse::SameRun, Reuse::OtherRuns);
        reused(&list, &quick, Reuse::Never, Reuse::OtherRuns);
        reused(&look, &quick, Reuse::SameRun, Reuse::OtherRuns);
        reused(&evaluate, &quick, Reuse::Never, Reuse::SameRun);
        reused(&evaluate, &slow, Reuse::Never, Reuse::OtherRuns);
        reused(&run, &ran(r#""success""#), Reuse::Never, Reuse::OtherRuns);
        reused(
            &run,
            &ran(r#""timed_out", "error": {"code": "timeout", "message": "late"}"#),
            Reuse::Never,
            Reuse::Never,
        );
        reused(&run, &quick, Reuse::Never, Reuse::Never);
        let fault = Outcome::Fault(Box::new(Fault::new(FaultKind::Timeout, "late", 1)));
        for request in [&model, &look, &list, &evaluate, &run] {
            reused(request, &fault, Reuse::Never, Reuse::Never);
            reused(request, &Outcome::NotRun(StopReason::Budget), Reuse::Never, Reuse::Never);
        }
    }
}
