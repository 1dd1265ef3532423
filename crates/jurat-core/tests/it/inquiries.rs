//! A model asked until it answers, with what tools returned in between.

use std::time::Duration;

use jurat_core::effect::{
    Action, Answer, Asker, Fault, FaultKind, Finish, Media, MediaKind, Message, ModelRequest, Outcome, Request,
    Returned, Slot, ToolCall, Usage,
};
use jurat_core::tool::{
    Conclusion, Dialogue, Inquiry, Listing, MOST_ROUNDS, Offer, Said, ServerTool, ToolFilter, offered,
};
use jurat_core::verdict::StopReason;
use jurat_format::value::{Val, Value, parse_json};
use proptest::prelude::*;
use proptest::sample::select;

/// Tools that there are, and one that there is not.
const TOOLS: [&str; 4] = ["add", "echo", "fail", "sing"];

fn offers() -> Vec<Offer> {
    let tool = |name: &&str| ServerTool {
        server: "kit".to_owned(),
        name: (*name).to_owned(),
        description: None,
        parameters: parse_json("{}").expect("JSON").value.into_owned(),
    };
    offered(TOOLS[..3].iter().map(tool).collect::<Vec<_>>().iter(), &ToolFilter::default())
}

fn inquiry() -> Inquiry {
    Inquiry::new(ModelRequest::new("subject", vec![Message::User("Well?".to_owned())]), offers(), 4)
}

/// An answer that calls these tools.
fn answer(round: usize, tools: &[&str]) -> Outcome {
    let call = |(ix, tool): (usize, &&str)| ToolCall {
        id: format!("{round}.{ix}"),
        name: (*tool).to_owned(),
        arguments: Val::from(format!("argument {ix}")),
    };
    let tool_calls: Vec<ToolCall> = tools.iter().enumerate().map(call).collect();
    Outcome::Answer(Box::new(Answer {
        finish: if tool_calls.is_empty() { Finish::Stop } else { Finish::ToolCalls },
        tool_calls,
        usage: Some(Usage { input: 10, output: 1, ..Usage::default() }),
        latency: Duration::from_millis(5),
        ..Answer::new(format!("answer {round}"))
    }))
}

/// What a tool returns: itself, and `fail` fails in a way of its own.
fn called(action: &Action) -> Outcome {
    let Action::CallTool { tool, arguments, .. } = action else { panic!("{action:?}") };
    if tool == "fail" && arguments.as_str() == Some("argument 0") {
        return Outcome::Fault(Box::new(Fault::new(FaultKind::Tool, "the server is gone", 1)));
    }
    Outcome::Returned(Box::new(returned(Val::from(format!("{tool} {arguments}")), tool == "fail")))
}

fn returned(value: Value, is_error: bool) -> Returned {
    Returned::new(value, is_error, Duration::ZERO, 0)
}

/// Asks until it is over, taking one of the open steps at a time. Answers whom it asked, in the order of sites.
fn held(rounds: &[Vec<&str>], mut choose: impl FnMut(usize) -> usize) -> (Dialogue, Conclusion, Vec<(u32, u32)>) {
    let mut inquiry = inquiry();
    let mut sites = Vec::new();
    loop {
        let steps = inquiry.steps(Asker::Case);
        let Some(step) = steps.get(choose(steps.len().max(1))) else { break };
        let outcome = match &step.request {
            Request::Model(_) => {
                let round = step.site.turn as usize;
                answer(round, rounds.get(round).map_or(&[], Vec::as_slice))
            }
            Request::Action(action) => called(action),
        };
        sites.push((step.site.slot, step.site.turn));
        let slot = Slot::numbered(step.site.slot).expect("a slot");
        assert!(inquiry.is_open(slot, step.site.turn));
        inquiry.apply(slot, step.site.turn, outcome.clone());
        // What is not open any more changes nothing.
        let before = (inquiry.dialogue().clone(), inquiry.conclusion().cloned());
        inquiry.apply(slot, step.site.turn, outcome);
        assert_eq!(before, (inquiry.dialogue().clone(), inquiry.conclusion().cloned()));
    }
    sites.sort_unstable();
    let conclusion = inquiry.conclusion().expect("it is over").clone();
    (inquiry.take_dialogue(), conclusion, sites)
}

#[test]
fn a_model_is_given_what_its_tools_returned() {
    let (dialogue, conclusion, sites) = held(&[vec!["echo", "sing"], vec!["echo"]], |_| 0);
    let trace: Vec<String> = dialogue.trace.iter().map(|it| format!("{}: {}", it.role(), it.text())).collect();
    assert_eq!(
        trace,
        [
            "assistant: answer 0",
            "tool: echo \"argument 0\"",
            "tool: there is no tool `sing` here",
            "assistant: answer 1",
            "tool: echo \"argument 0\"",
            "assistant: answer 2",
        ]
    );
    assert_eq!(dialogue.asked.len(), 6, "all of it but the last word");
    let said = Said { text: "answer 2".to_owned(), tool_calls: Vec::new(), finish: Finish::Stop };
    assert_eq!(conclusion, Conclusion::Answered(said));
    // Calls are numbered through; what does not exist is not asked for.
    assert_eq!(sites, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2)]);
    assert_eq!(dialogue.usage.map(|it| it.total()), Some(33));
    assert_eq!(dialogue.latency, Duration::from_millis(15));
    let servers: Vec<Option<&str>> = dialogue.tool_uses.iter().map(|it| it.server.as_deref()).collect();
    assert_eq!(servers, [Some("kit"), None, Some("kit")]);
}

/// What a model would say without a tool that is gone says nothing about the model.
#[test]
fn a_model_is_given_the_images_that_a_tool_returned() {
    let mut inquiry = inquiry();
    inquiry.apply(Slot::Subject, 0, answer(0, &["echo"]));
    let image = Media::of(MediaKind::Image, &b"\x89PNG\r\n\x1a\n"[..], None).expect("it is an image");
    let words = parse_json(r#"{"text": "[image: image/png, 8 bytes]"}"#).expect("JSON").value.into_owned();
    let media = vec![image.clone()];
    inquiry.apply(Slot::Tool, 0, Outcome::Returned(Box::new(Returned { media, ..returned(words, false) })));
    let steps = inquiry.steps(Asker::Case);
    let Request::Model(request) = &steps[0].request else { panic!("{steps:?}") };
    assert_eq!(request.messages.media().collect::<Vec<_>>(), [&image]);
    assert_eq!(inquiry.dialogue().tool_uses[0].output.as_deref(), Some("[image: image/png, 8 bytes]"));
    // What is stored has no bytes, and is given them again.
    let stored = Media::stored(image.kind, &image.media_type, image.digest, image.n_bytes, None);
    let emptied = request.messages.with_media(|_| Some(stored.clone())).expect("there is an image");
    assert!(emptied.media().all(|it| it.bytes().is_none()));
    let filled = emptied.with_media(|it| it.with_bytes(image.bytes()?.clone())).expect("there is an image");
    assert_eq!(filled.media().filter_map(Media::base64).collect::<Vec<_>>(), ["iVBORw0KGgo="]);
}

#[test]
fn a_tool_that_cannot_be_called_is_a_fault() {
    let (dialogue, conclusion, sites) = held(&[vec!["fail", "echo", "sing"]], |_| 0);
    let Conclusion::Fault(fault) = conclusion else { panic!("{conclusion:?}") };
    assert_eq!(fault.message, "the tool `fail` could not be called: the server is gone");
    assert_eq!(sites, [(0, 0), (1, 0), (1, 1)], "the model is not asked again");
    assert_eq!((dialogue.tool_uses.len(), dialogue.asked.len()), (3, 5), "what happened is on record");
}

#[test]
fn what_a_tool_returns_is_bounded_before_a_model_sees_it() {
    let mut inquiry = inquiry();
    inquiry.apply(Slot::Subject, 0, answer(0, &["echo"]));
    let long = "é".repeat(1 << 20);
    inquiry.apply(Slot::Tool, 0, Outcome::Returned(Box::new(returned(Val::from(long), false))));
    let output = inquiry.dialogue().tool_uses[0].output.clone().expect("it returned");
    let rest = "[1835008 more bytes were left out: a result may have 262144 bytes]";
    assert_eq!(output.len(), 262_144 + 1 + rest.len());
    assert!(output.ends_with(&format!("é\n{rest}")));
}

#[test]
fn it_ends_with_a_refusal_a_fault_or_a_stop() {
    let ends = |outcome: Outcome, expected: &Conclusion| {
        let mut inquiry = inquiry();
        inquiry.apply(Slot::Subject, 0, outcome);
        assert_eq!(inquiry.conclusion(), Some(expected));
        assert_eq!(inquiry.steps(Asker::Case), []);
    };
    let refusal = Answer { finish: Finish::Refusal, ..Answer::new("I will not.") };
    let said = Said { text: "I will not.".to_owned(), tool_calls: Vec::new(), finish: Finish::Refusal };
    ends(Outcome::Answer(Box::new(refusal)), &Conclusion::Refused(said));
    let fault = Box::new(Fault::new(FaultKind::Timeout, "too late", 2));
    ends(Outcome::Fault(fault.clone()), &Conclusion::Fault(fault));
    ends(Outcome::NotRun(StopReason::Budget), &Conclusion::NotRun(StopReason::Budget));
}

/// What servers say in any order, and why nothing can be offered when one says nothing.
#[test]
fn servers_are_asked_once_for_their_tools() {
    let listed = |name: &str| {
        let tools = format!(r#"[{{"name": "{name}", "parameters": {{}}}}]"#);
        let tools = parse_json(&tools).expect("JSON").value.into_owned();
        Outcome::Returned(Box::new(returned(tools, false)))
    };
    let gone = Outcome::Fault(Box::new(Fault::new(FaultKind::Tool, "it is gone", 1)));
    let open = |listing: &Listing| listing.steps(Asker::Turn(3)).iter().map(|it| it.site.turn).collect::<Vec<_>>();
    let mut listing = Listing::default();
    assert!(listing.is_done(), "no request is needed");
    listing.need(&["a".to_owned(), "b".to_owned()]);
    assert_eq!(open(&listing), [0, 1]);
    listing.apply(1, &listed("now"));
    assert_eq!((open(&listing), listing.is_done()), (vec![0], false));
    listing.apply(0, &gone);
    assert!(listing.is_done());
    assert_eq!(listing.failure().as_deref(), Some("the tools of `a` could not be listed: it is gone"));
    listing.need(&["b".to_owned(), "a".to_owned()]);
    assert_eq!((open(&listing), listing.failure()), (vec![1], None), "a model that has answered is not asked again");
    listing.apply(1, &listed("now"));
    let names: Vec<String> = listing.offers(&ToolFilter::default()).into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["b__now", "a__now"]);
}

proptest! {
    #[test]
    fn the_order_in_which_tools_return_does_not_matter(
        rounds in prop::collection::vec(prop::collection::vec(select(&TOOLS[..]), 1..4), 0..20),
        choices in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
    ) {
        let mut nth = 0;
        let in_any_order = held(&rounds, |n| { nth += 1; choices[nth % choices.len()].index(n) });
        let in_order = held(&rounds, |_| 0);
        prop_assert_eq!(&in_any_order, &in_order);
        let (dialogue, conclusion, sites) = in_order;
        let n_asked = sites.iter().filter(|(slot, _)| *slot == Slot::Subject.number()).count();
        let last = MOST_ROUNDS as usize;
        // A tool that could not be called is the end.
        let faulty = rounds.iter().take(last - 1).position(|it| it[0] == "fail");
        prop_assert_eq!(n_asked, faulty.map_or(rounds.len() + 1, |it| it + 1).min(last));
        prop_assert_eq!(matches!(conclusion, Conclusion::Fault(_)), faulty.is_some());
        prop_assert_eq!(matches!(conclusion, Conclusion::StillCalling(_)), faulty.is_none() && rounds.len() >= last);
        // Every result stands behind the answer that called it, in the order of the calls.
        let called = dialogue.trace.iter().flat_map(|it| match it {
            Message::Assistant { tool_calls, .. } => tool_calls.iter().map(|it| it.id.clone()).collect(),
            _ => Vec::new(),
        });
        let answered = dialogue.trace.iter().filter_map(|it| match it {
            Message::Tool { call_id, .. } => Some(call_id.clone()),
            _ => None,
        });
        let (called, answered): (Vec<_>, Vec<_>) = (called.collect(), answered.collect());
        prop_assert_eq!(&called[..answered.len()], &answered[..]);
        prop_assert_eq!(dialogue.tool_uses.len(), answered.len());
    }
}
