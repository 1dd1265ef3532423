//! A bound on what one evaluation may cost.
//!
//! Comprehensions nest, and some functions multiply the length of a text, so a short expression can run for days. The interpreter has no
//! limit of its own. Before an expression is evaluated, `metered` puts calls of the functions below into its tree: each charges what the
//! next step costs and fails when nothing is left. Steps are counted, not time, so that a verdict does not depend on the machine.
//!
//! The interpreter can absorb an error (`error || true` is true), so the caller checks `is_exhausted` afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cel::common::types::{CelBool, CelBytes, CelInt, CelList, CelMap, CelOptional, CelString};
use cel::common::value::{CowVal, Val};
use cel::{Context, ExecutionError, FunctionContext};
use regex::{Regex, RegexBuilder};

use super::interrupt::Interrupt;

/// The steps of one evaluation. One is an element looked at, a call's argument, or 32 bytes of text.
pub(super) const MAX_STEPS: usize = 1_000_000;

/// After this many steps an evaluation looks whether it was interrupted.
const STEPS_PER_LOOK: usize = 10_000;

/// The bytes of text that cost one step.
const BYTES_PER_STEP: usize = 32;

/// What compiling a pattern that is only known while evaluating costs.
const PATTERN_STEPS: usize = 10_000;

/// The largest compiled pattern, in bytes.
const PATTERN_SIZE: usize = 1 << 20;

/// Charges for one iteration: `@step(item)` is true.
pub(super) const STEP: &str = "@step";
/// Charges for everything inside its argument, and returns it.
pub(super) const SPEND: &str = "@spend";
/// Charges for its argument alone, not for what is inside it, and returns it.
pub(super) const SPEND_SHALLOW: &str = "@spend_shallow";
/// Charges for comparing every element with every other, and returns its argument.
pub(super) const SPEND_SQUARE: &str = "@spend_square";
/// `text.replace(from, to)` that charges for the result before it makes it.
pub(super) const REPLACE: &str = "@replace";
/// `list.join(separator)` that charges for the result before it makes it.
pub(super) const JOIN: &str = "@join";
/// `text.matches(pattern)`: the pattern is the number of a compiled one, or text.
pub(super) const MATCHES: &str = "@matches";

/// What an evaluation may still cost.
#[derive(Clone)]
pub(super) struct Meter(Arc<Left>);

struct Left {
    n_steps: AtomicUsize,
    is_interrupted: AtomicBool,
}

/// Patterns that stand in an expression as literals, compiled once.
pub(super) type Patterns = Arc<[Regex]>;

type Evaluated<'c, 'v> = Result<CowVal<'c, 'v>, ExecutionError>;
type Function = Box<dyn for<'c, 'v> Fn(&mut FunctionContext<'c, 'v>) -> Evaluated<'c, 'v> + Send + Sync>;

impl Meter {
    pub(super) fn new() -> Meter {
        Meter(Arc::new(Left { n_steps: AtomicUsize::new(MAX_STEPS), is_interrupted: AtomicBool::new(false) }))
    }

    /// Whether an evaluation was ended from outside.
    pub(super) fn is_interrupted(&self) -> bool {
        self.0.is_interrupted.load(Ordering::Relaxed)
    }

    /// Whether an evaluation was stopped because it cost too much.
    pub(super) fn is_exhausted(&self) -> bool {
        self.n_left() == 0
    }

    fn n_left(&self) -> usize {
        self.0.n_steps.load(Ordering::Relaxed)
    }

    /// Adds the functions that `metered` calls to a context.
    pub(super) fn add_to(&self, context: &mut Context<'_, '_>, patterns: &Patterns) {
        let mut add = |name, function: Function| {
            context.add_function(name, function).expect("no function of the language begins with `@`");
        };
        let step = |meter: &Meter, call: &mut FunctionContext<'_, '_>| meter.charge(call, deep);
        add(STEP, self.function(move |meter, call| step(meter, call).map(|()| CowVal::owned(CelBool::from(true)))));
        add(SPEND, self.function(|meter, call| meter.charge(call, deep).and_then(|()| argument(call))));
        add(SPEND_SHALLOW, self.function(|meter, call| meter.charge(call, shallow).and_then(|()| argument(call))));
        add(SPEND_SQUARE, self.function(|meter, call| meter.charge(call, square).and_then(|()| argument(call))));
        add(REPLACE, self.function(Meter::replaced));
        add(JOIN, self.function(Meter::joined));
        let patterns = patterns.clone();
        add(MATCHES, self.function(move |meter, call| meter.matched(call, &patterns)));
    }

    fn function(
        &self,
        body: impl for<'c, 'v> Fn(&Meter, &mut FunctionContext<'c, 'v>) -> Evaluated<'c, 'v> + Send + Sync + 'static,
    ) -> Function {
        let meter = self.clone();
        Box::new(move |call| body(&meter, call))
    }

    fn charge(&self, call: &FunctionContext<'_, '_>, cost: fn(&dyn Val, usize) -> usize) -> Result<(), ExecutionError> {
        let left = self.n_left();
        self.spend(call.args.first().map_or(1, |it| cost(it.as_ref(), left)))
    }

    /// Takes steps from what is left; what is left stays at zero once it was not enough.
    fn spend(&self, n_steps: usize) -> Result<(), ExecutionError> {
        let before = self.n_left();
        let mut left = before.saturating_sub(n_steps);
        let n_looks = |left: usize| (MAX_STEPS - left) / STEPS_PER_LOOK;
        if n_looks(before) != n_looks(left) && Interrupt::is_noticed() {
            self.0.is_interrupted.store(true, Ordering::Relaxed);
            left = 0;
        }
        self.0.n_steps.store(left, Ordering::Relaxed);
        if left == 0 { Err(ExecutionError::function_error("evaluation", "too many steps")) } else { Ok(()) }
    }

    fn spend_bytes(&self, n_bytes: usize) -> Result<(), ExecutionError> {
        self.spend(1 + n_bytes / BYTES_PER_STEP)
    }

    fn replaced<'c, 'v>(&self, call: &mut FunctionContext<'c, 'v>) -> Evaluated<'c, 'v> {
        let unknown = || no_overload("replace", call);
        let text = |ix: usize| call.args.get(ix).and_then(|it| it.downcast_ref::<CelString<'_>>());
        let (Some(whole), Some(from), Some(to)) = (text(0), text(1), text(2)) else { return Err(unknown()) };
        let limit = match call.args.get(3).map(|it| it.downcast_ref::<CelInt>()) {
            None => usize::MAX,
            Some(Some(n)) => usize::try_from(*n.inner()).unwrap_or(usize::MAX),
            Some(None) => return Err(unknown()),
        };
        let n_found = whole.inner().matches(from.inner()).count().min(limit);
        self.spend_bytes(whole.inner().len().saturating_add(n_found.saturating_mul(to.inner().len())))?;
        Ok(CowVal::owned(CelString::from(whole.inner().replacen(from.inner(), to.inner(), limit))))
    }

    fn joined<'c, 'v>(&self, call: &mut FunctionContext<'c, 'v>) -> Evaluated<'c, 'v> {
        let unknown = || no_overload("join", call);
        let list = call.args.first().and_then(|it| it.downcast_ref::<CelList<'_>>()).ok_or_else(unknown)?;
        let separator = match call.args.get(1) {
            None => "",
            Some(it) => it.downcast_ref::<CelString<'_>>().ok_or_else(unknown)?.inner(),
        };
        let texts = list.inner().iter().map(|it| Some(it.downcast_ref::<CelString<'_>>()?.inner()));
        let parts: Option<Vec<&str>> = texts.collect();
        let parts = parts.ok_or_else(|| ExecutionError::function_error("join", "every element must be text"))?;
        let n_bytes: usize = parts.iter().map(|it| it.len()).sum();
        self.spend_bytes(n_bytes.saturating_add(parts.len().saturating_mul(separator.len())))?;
        Ok(CowVal::owned(CelString::from(parts.join(separator))))
    }

    fn matched<'c, 'v>(&self, call: &mut FunctionContext<'c, 'v>, patterns: &Patterns) -> Evaluated<'c, 'v> {
        let unknown = || no_overload("matches", call);
        let [text, pattern] = call.args.as_slice() else { return Err(unknown()) };
        let text = text.downcast_ref::<CelString<'_>>().ok_or_else(unknown)?;
        self.spend_bytes(text.inner().len())?;
        let number = pattern.downcast_ref::<CelInt>().and_then(|it| usize::try_from(*it.inner()).ok());
        let is_match = match number.and_then(|it| patterns.get(it)) {
            Some(compiled) => compiled.is_match(text.inner()),
            None => {
                let source = pattern.downcast_ref::<CelString<'_>>().ok_or_else(unknown)?;
                self.spend(PATTERN_STEPS)?;
                let compiled =
                    pattern_of(source.inner()).map_err(|it| ExecutionError::function_error("matches", it))?;
                compiled.is_match(text.inner())
            }
        };
        Ok(CowVal::owned(CelBool::from(is_match)))
    }
}

/// A pattern of an expression, compiled.
pub(super) fn pattern_of(source: &str) -> Result<Regex, String> {
    RegexBuilder::new(source).size_limit(PATTERN_SIZE).build().map_err(|error| {
        let reason = error.to_string();
        let last = reason.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
        format!("`{source}` is not a pattern: {last}")
    })
}

fn no_overload(name: &str, call: &FunctionContext<'_, '_>) -> ExecutionError {
    let kinds = call.args.iter().map(|it| it.get_type().name().to_owned()).collect();
    ExecutionError::no_such_member_overload(name, kinds)
}

fn argument<'c, 'v>(call: &mut FunctionContext<'c, 'v>) -> Evaluated<'c, 'v> {
    call.args.pop().ok_or_else(ExecutionError::missing_argument_or_target)
}

/// What looking at a value and everything inside it costs; counting stops beyond `most`.
fn deep(value: &dyn Val, most: usize) -> usize {
    let mut total = shallow(value, most);
    let mut add = |inner: &dyn Val| {
        if total < most {
            total += deep(inner, most - total);
        }
    };
    if let Some(list) = value.downcast_ref::<CelList<'_>>() {
        list.inner().iter().for_each(|it| add(it.as_ref()));
    } else if let Some(map) = value.downcast_ref::<CelMap<'_>>() {
        map.inner().iter().for_each(|(key, it)| {
            add(key.inner());
            add(it.as_ref());
        });
    } else if let Some(inner) = value.downcast_ref::<CelOptional<'_>>().and_then(CelOptional::option) {
        add(inner);
    }
    total
}

fn shallow(value: &dyn Val, _: usize) -> usize {
    let text = value.downcast_ref::<CelString<'_>>().map(|it| it.inner().len());
    let bytes = || value.downcast_ref::<CelBytes<'_>>().map(|it| it.inner().len());
    1 + text.or_else(bytes).unwrap_or(0) / BYTES_PER_STEP
}

fn square(value: &dyn Val, most: usize) -> usize {
    let n_items = value.downcast_ref::<CelList<'_>>().map_or(1, |it| it.inner().len());
    deep(value, most).saturating_mul(n_items.max(1)) / 64
}
