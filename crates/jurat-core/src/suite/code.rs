//! Code of the program, given to the scenarios of a definition: text keeps the words for it, and the program has the rest.

use super::Suite;
use crate::scenario::{Callable, Condition, Handover, Scenario, StateUpdate};

impl Suite {
    /// Gives its scenarios the code of these, which they were written from: each piece goes where the same words stand for it.
    ///
    /// ```
    /// use jurat_core::scenario::{Callable, Condition, END, Edge, Function, Question, ScenarioBuilder};
    /// use jurat_core::suite::Suite;
    /// use jurat_format::value::Val;
    ///
    /// let always = Callable::new("always", Function::new(|_| Ok(Val::Bool(true))));
    /// let mut builder = ScenarioBuilder::new("greeting");
    /// builder
    ///     .add_node("hi", Question::new("Hello?", "Hello."))
    ///     .add_edge_when("hi", END, always)
    ///     .add_edge("hi", END)
    ///     .set_entry("hi");
    /// let built = builder.validate()?;
    ///
    /// let mut suite = Suite::default();
    /// suite.give_code(&[built]); // nothing has its name yet
    /// assert!(suite.scenarios.is_empty());
    /// # Ok::<(), jurat_core::scenario::BuildErrors>(())
    /// ```
    pub fn give_code(&mut self, scenarios: &[Scenario]) {
        for text in &mut self.scenarios {
            if let Some(given) = scenarios.iter().find(|it| it.name == text.name.value) {
                give(&mut text.scenario, given);
            }
        }
    }
}

fn give(to: &mut Scenario, from: &Scenario) {
    for node in &mut to.nodes {
        let given = from.node(&node.id).and_then(|it| it.state_update.as_ref());
        if let (Some(StateUpdate::Callable(to)), Some(StateUpdate::Callable(from))) = (&mut node.state_update, given) {
            take(to, from);
        }
    }
    for (edge, given) in to.edges.iter_mut().zip(&from.edges) {
        if let (Some(Condition::Callable(to)), Some(Condition::Callable(from))) = (&mut edge.when, &given.when) {
            take(to, from);
        }
        if let (Some(Handover::Callable(to)), Some(Handover::Callable(from))) = (&mut edge.handover, &given.handover) {
            take(to, from);
        }
    }
    for (criterion, given) in to.outcomes.iter_mut().zip(&from.outcomes) {
        if let (Some(to), Some(from)) = (&mut criterion.evaluate, &given.evaluate) {
            take(to, from);
        }
    }
}

/// Code without words was written with words that say so.
fn take(to: &mut Callable, from: &Callable) {
    if from.source.is_none() || from.source == to.source {
        to.function.clone_from(&from.function);
    }
}
