//! Serving JavaScript with the built-in interpreter.
//!
//! The interpreter is C and isolates nothing; the privileges that the process gave up before do. What it does separate is one call from the
//! next: the author's source becomes the body of a function that is run anew for each call, and everything built in is unchangeable.

use std::cell::RefCell;
use std::fs::File;
use std::io::Read as _;
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::function::Args;
use rquickjs::{Coerced, Context, Ctx, Error, Filter, Function, Object, Promise, Runtime, Value};

use crate::orders::{Job, Orders};
use crate::tail::Tail;
use crate::worker::{Channel, harden};
use crate::{Isolation, Layer, Passing, frame};

const PRELUDE: &str = include_str!("prelude.js");

/// What files are called where errors name them.
const FILE: &str = "evaluator";

/// How deep calls may be, in bytes of stack.
const STACK: usize = 2 << 20;

/// Gives up all privileges, and then answers calls until the pipe closes.
pub(super) fn serve(channel: &mut Channel, orders: &Orders) -> Result<(), Vec<String>> {
    let place = harden::Place { executable: None, readable: &[] };
    let in_force = harden::give_up(channel, orders, &place)?;
    let report = serde_json::to_vec(&in_force).map_err(|it| vec![it.to_string()])?;
    let gone = |it: std::io::Error| vec![it.to_string()];
    channel.say(frame::HARDENED, &report).map_err(gone)?;
    let mut evaluator = None;
    while let Ok((kind, body)) = frame::read(&mut channel.requests) {
        match (kind, &mut evaluator) {
            (frame::JOB, _) => {
                let job: Job = serde_json::from_slice(&body).map_err(|it| vec![it.to_string()])?;
                match Evaluator::load(job, orders.memory, orders.layers.contains(&Layer::Limits)) {
                    Ok(loaded) => {
                        evaluator = Some(loaded);
                        channel.say(frame::READY, b"null").map_err(gone)?;
                    }
                    Err(wrong) => channel.say(frame::WRONG, wrong.to_string().as_bytes()).map_err(gone)?,
                }
            }
            (frame::BATCH, Some(evaluator)) => {
                let (first, calls) = frame::read_batch(&body).ok_or_else(|| vec!["a batch is cut off".to_owned()])?;
                for (call, arguments) in (first..).zip(calls) {
                    let (kind, answer) = match evaluator.job.isolation {
                        Isolation::Process => evaluator.answer(call, arguments),
                        Isolation::Fork => evaluator.answer_in_copy(channel, call, arguments).map_err(gone)?,
                    };
                    channel.say(kind, &answer).map_err(gone)?;
                }
            }
            _ => return Err(vec!["a message of no kind".to_owned()]),
        }
    }
    Ok(())
}

/// The author's code, loaded.
struct Evaluator {
    job: Job,
    printed: Rc<RefCell<[Tail; 2]>>,
    /// The name under which the realm stores the code, before the author's code could see it.
    body: rquickjs::Persistent<Function<'static>>,
    settle: rquickjs::Persistent<Function<'static>>,
    /// Makes Unicode of a text that was cut in the middle of a character.
    to_well_formed: rquickjs::Persistent<Function<'static>>,
    /// The function itself, when names are not fresh.
    cached: Option<rquickjs::Persistent<Function<'static>>>,
    context: Context,
}

/// Why a call returned no value.
enum Failed {
    /// The code threw, or something failed on its behalf.
    Thrown,
    /// There is a reason that no code gave.
    Raised(&'static str, String),
    NotStored(String),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        match error {
            Error::Exception => Failed::Thrown,
            other => Failed::Raised("InternalError", other.to_string()),
        }
    }
}

impl Evaluator {
    /// Makes a realm and compiles the code in it. Nothing of the code is run.
    fn load(job: Job, memory: u64, is_limited: bool) -> Result<Evaluator, serde_json::Value> {
        let wrong = |message: String, line: Option<u32>| serde_json::json!({ "message": message, "line": line, "column": null });
        let internal = |it: Error| wrong(format!("the interpreter does not start: {it}"), None);
        let runtime = Runtime::new().map_err(internal)?;
        if is_limited {
            runtime.set_memory_limit(usize::try_from(memory).unwrap_or(usize::MAX));
        }
        // Without a limit of its own the interpreter continues until the stack of the process ends.
        runtime.set_max_stack_size(if is_limited { STACK } else { 0 });
        let context = Context::full(&runtime).map_err(internal)?;
        let printed = Rc::new(RefCell::new([Tail::new(job.output), Tail::new(job.output)]));
        let (body, settle, to_well_formed) = context.with(|ctx| -> Result<_, serde_json::Value> {
            let settle: Function<'_> = ctx.eval("(async (value) => await value)").map_err(internal)?;
            let to_well_formed: Function<'_> =
                ctx.eval("((to_well_formed) => (text) => to_well_formed(text))(Function.prototype.call.bind(String.prototype.toWellFormed))").map_err(internal)?;
            let print = {
                let printed = Rc::clone(&printed);
                move |stream: usize, text: String| {
                    if let Some(tail) = printed.borrow_mut().get_mut(stream.wrapping_sub(1)) {
                        tail.write(text.as_bytes());
                    }
                }
            };
            let print = Function::new(ctx.clone(), print).map_err(internal)?;
            let prelude: Function<'_> = ctx.eval(PRELUDE).map_err(internal)?;
            prelude.call::<_, ()>((print, job.fresh)).map_err(|it| match it {
                Error::Exception => {
                    let (kind, message, _) = described(&ctx, &ctx.catch());
                    wrong(format!("the interpreter does not start: {kind}: {message}"), None)
                }
                other => internal(other),
            })?;
            // One line, so that lines of the author have their own numbers.
            let entry = &job.entry;
            let text = format!(
                "(function () {{ \"use strict\"; {}\n; return typeof {entry} === \"function\" ? {entry} : undefined; }})",
                job.text
            );
            let mut options = EvalOptions::default();
            options.filename = Some(FILE.to_owned());
            let body: Function<'_> = ctx.eval_with_options(text, options).map_err(|it| match it {
                Error::Exception => {
                    let (kind, message, line) = described(&ctx, &ctx.catch());
                    wrong(format!("{kind}: {message}"), line)
                }
                other => internal(other),
            })?;
            let save = |function| rquickjs::Persistent::save(&ctx, function);
            Ok((save(body), save(settle), save(to_well_formed)))
        })?;
        Ok(Evaluator { job, printed, body, settle, to_well_formed, cached: None, context })
    }

    fn answer(&mut self, call: u64, arguments: &[u8]) -> (u8, Vec<u8>) {
        let context = self.context.clone();
        let (kind, text) = context.with(|ctx| {
            let result = self.value(&ctx, arguments);
            // What was left to do is done now, not during the next call.
            while ctx.execute_pending_job() {}
            match result {
                Ok(value) => (frame::VALUE, value),
                Err(Failed::NotStored(why)) => (frame::NOT_STORED, why),
                Err(Failed::Raised(kind, message)) => (frame::RAISED, self.raised(kind, &message, None)),
                Err(Failed::Thrown) => {
                    let (kind, message, line) = described(&ctx, &ctx.catch());
                    (frame::RAISED, self.raised(&kind, &message, line))
                }
            }
        });
        let mut printed = self.printed.borrow_mut();
        for tail in printed.iter_mut() {
            tail.shorten();
        }
        let [stdout, stderr] = &*printed;
        let stdout_stderr = [(stdout.n_dropped, &stdout.bytes[..]), (stderr.n_dropped, &stderr.bytes[..])];
        let answer = frame::Answer { call, stdout: stdout_stderr[0], stderr: stdout_stderr[1], text: text.as_bytes() };
        let body = answer.write();
        printed.iter_mut().for_each(|it| drop(it.take()));
        (kind, body)
    }

    /// What was thrown, as it is sent.
    fn raised(&self, kind: &str, message: &str, line: Option<u32>) -> String {
        let mut message = shortened(message, 8000);
        if let Some(refusal) = refusal_of(kind, &message).filter(|_| self.job.explains) {
            message = format!("{message}; {refusal}");
        }
        serde_json::json!({ "kind": shortened(kind, 200), "message": message, "line": line }).to_string()
    }

    fn value(&mut self, ctx: &Ctx<'_>, arguments: &[u8]) -> Result<String, Failed> {
        let arguments: Object<'_> = ctx.json_parse(arguments)?.into_object().ok_or(Error::Unknown)?;
        let function = self.function(ctx)?;
        let mut given = Args::new(ctx.clone(), self.job.names.len());
        match self.job.passing {
            Passing::Positions => {
                for name in &self.job.names {
                    given.push_arg(arguments.get::<_, Value<'_>>(name.as_str())?)?;
                }
            }
            Passing::Keywords | Passing::Object => given.push_arg(arguments)?,
        }
        let mut value: Value<'_> = given.apply(&function)?;
        let is_thenable = value.as_object().map(|it| it.get::<_, Value<'_>>("then")).transpose()?;
        if is_thenable.is_some_and(|it| it.is_function()) {
            let settle = self.settle.clone().restore(ctx)?;
            value = settled(ctx, &settle.call((value,))?)?;
        }
        let mut text = String::new();
        let to_well_formed = self.to_well_formed.clone().restore(ctx)?;
        Tagged { max: self.job.value, max_depth: self.job.depth, to_well_formed }.write(&value, 0, &mut text)?;
        Ok(text)
    }

    /// The function, in a scope of its own.
    fn function<'js>(&mut self, ctx: &Ctx<'js>) -> Result<Function<'js>, Failed> {
        if let Some(cached) = &self.cached {
            return Ok(cached.clone().restore(ctx)?);
        }
        let body = self.body.clone().restore(ctx)?;
        let function: Value<'js> = body.call(())?;
        let Some(function) = function.into_function() else {
            return Err(Failed::Raised("ReferenceError", format!("there is no function `{}`", self.job.entry)));
        };
        if !self.job.fresh {
            self.cached = Some(rquickjs::Persistent::save(ctx, function.clone()));
        }
        Ok(function)
    }

    /// Calls it once in a copy of this process, which never ran any of it.
    fn answer_in_copy(&mut self, channel: &mut Channel, call: u64, arguments: &[u8]) -> std::io::Result<(u8, Vec<u8>)> {
        let (source, target) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let own = std::process::id();
        let Some(copy) = super::copy::make()? else {
            // The copy answers into the pipe and has nothing else to answer into.
            channel.requests = File::from(source);
            channel.replies = File::from(target);
            let hardened = super::copy::harden(&self.job.filter, own);
            if hardened.is_ok() {
                let (kind, answer) = self.answer(call, arguments);
                // The parent sees that no result came.
                channel.say(kind, &answer).unwrap_or_default();
            }
            std::process::exit(if hardened.is_ok() { 0 } else { 1 });
        };
        drop(target);
        let max = 2 * self.job.output + self.job.value + (64 << 10);
        let mut came = Vec::new();
        let mut source = File::from(source);
        source.by_ref().take(max as u64).read_to_end(&mut came)?;
        drop(source);
        let how = super::copy::wait(copy)?;
        // A copy answers for itself alone, whatever it says.
        match frame::take(&mut came, max) {
            Ok(Some((kind, answer))) if came.is_empty() && answer.starts_with(&call.to_le_bytes()) => {
                Ok((kind, answer))
            }
            _ => {
                let nothing = frame::Answer { call, stdout: (0, &[]), stderr: (0, &[]), text: how.as_bytes() };
                Ok((frame::DIED, nothing.write()))
            }
        }
    }
}

/// What a promise resolves to.
fn settled<'js>(ctx: &Ctx<'js>, promise: &Promise<'js>) -> Result<Value<'js>, Failed> {
    loop {
        if let Some(result) = promise.result::<Value<'js>>() {
            return Ok(result?);
        }
        if !ctx.execute_pending_job() {
            let why = "the promise is never settled: no pending task could settle it".to_owned();
            return Err(Failed::Raised("Error", why));
        }
    }
}

/// Writes values down.
struct Tagged<'js> {
    max: usize,
    max_depth: usize,
    to_well_formed: Function<'js>,
}

impl<'js> Tagged<'js> {
    fn write(&self, value: &Value<'js>, depth: usize, text: &mut String) -> Result<(), Failed> {
        if let Some(value) = value.as_bool() {
            text.push_str(if value { "true" } else { "false" });
        } else if let Some(value) = value.as_int() {
            text.push_str(&value.to_string());
        } else if let Some(value) = value.as_float() {
            text.push_str(&number(value));
        } else if value.is_null() {
            text.push_str("null");
        } else if value.is_undefined() {
            text.push_str(r#"{"$js":"undefined"}"#);
        } else if value.is_symbol() {
            text.push_str(r#"{"$js":"symbol"}"#);
        } else if value.is_function() {
            text.push_str(r#"{"$js":"function"}"#);
        } else if value.is_big_int() {
            let Coerced(digits) = value.get::<Coerced<String>>()?;
            text.push_str(&format!(r#"{{"$js":"bigint","value":"{digits}"}}"#));
        } else if let Some(value) = value.as_string() {
            let whole = match value.to_string() {
                Err(Error::Utf8(_)) => self.to_well_formed.call((value.clone(),))?,
                other => other?,
            };
            text.push_str(&quoted(&whole));
        } else if let Some(object) = value.as_object() {
            self.write_object(object, depth + 1, text)?;
        } else {
            return Err(Failed::NotStored(format!(
                "it is of a kind that cannot be written down ({})",
                value.type_name()
            )));
        }
        if text.len() > self.max {
            return Err(Failed::NotStored(format!("it has more than {} bytes", self.max)));
        }
        Ok(())
    }

    fn write_object(&self, object: &Object<'js>, depth: usize, text: &mut String) -> Result<(), Failed> {
        if depth > self.max_depth {
            return Err(Failed::NotStored(format!("it is nested deeper than {} levels", self.max_depth)));
        }
        let own: Value<'_> = object.get("toJSON")?;
        if let Some(own) = own.into_function() {
            let value: Value<'_> = own.call((rquickjs::function::This(object.clone()),))?;
            // A value that gives itself is nested without end.
            return match value.as_object() {
                Some(object) => self.write_object(object, depth + 1, text),
                None => self.write(&value, depth, text),
            };
        }
        if let Some(array) = object.as_array() {
            // Lengths go beyond what the interpreter's own integers hold. An item takes two bytes at least.
            let length: f64 = object.get("length")?;
            if length * 2.0 > self.max as f64 {
                return Err(Failed::NotStored(format!(
                    "it is a list of {length} items, which are more than {} bytes",
                    self.max
                )));
            }
            text.push('[');
            for ix in 0..length as usize {
                if ix > 0 {
                    text.push(',');
                }
                self.write(&array.get(ix)?, depth, text)?;
            }
            text.push(']');
            return Ok(());
        }
        let mut members = Vec::new();
        for key in object.own_keys::<String>(Filter::new().string().enum_only()) {
            let key = key.map_err(not_unicode)?;
            let value: Value<'_> = object.get(key.as_str())?;
            members.push((key, value));
        }
        let is_ambiguous = members.iter().any(|(key, _)| key == "$py" || key == "$js");
        text.push_str(if is_ambiguous { r#"{"$py":"dict","items":["# } else { "{" });
        for (ix, (key, value)) in members.iter().enumerate() {
            if ix > 0 {
                text.push(',');
            }
            let key = quoted(key);
            text.push_str(&if is_ambiguous { format!("[{key},") } else { format!("{key}:") });
            self.write(value, depth, text)?;
            text.push_str(if is_ambiguous { "]" } else { "" });
        }
        text.push_str(if is_ambiguous { "]}" } else { "}" });
        Ok(())
    }
}

/// A number as JavaScript spells it: whole numbers without a point, up to where it begins to use exponents.
fn number(value: f64) -> String {
    if value.is_nan() {
        r#"{"$js":"nan"}"#.to_owned()
    } else if value.is_infinite() {
        format!(r#"{{"$js":"{}"}}"#, if value > 0.0 { "inf" } else { "-inf" })
    } else if value == 0.0 && value.is_sign_negative() {
        r#"{"$js":"-0"}"#.to_owned()
    } else if value.fract() == 0.0 && value.abs() < 1e21 {
        format!("{value:.0}")
    } else {
        format!("{value:?}")
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("text is JSON")
}

fn not_unicode(error: Error) -> Failed {
    match error {
        Error::Utf8(_) => Failed::NotStored("the name of a member has a lone surrogate".to_owned()),
        other => other.into(),
    }
}

fn shortened(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() }
}

/// What the sandbox says when code uses something that other places have and this one has not.
fn refusal_of(kind: &str, message: &str) -> Option<&'static str> {
    if kind == "TypeError" && matches!(message, "object is not extensible" | "globalThis is not extensible") {
        return Some(
            "the sandbox freezes built-in objects and `globalThis`; declare a variable in the source: `let name = …`",
        );
    }
    let name = message.strip_suffix(" is not defined").filter(|_| kind == "ReferenceError")?;
    Some(match name.trim_matches('\'') {
        "fetch" | "XMLHttpRequest" | "WebSocket" | "EventSource" | "navigator" => {
            "the sandbox has no network; let a `judge` or a model ask, or put what is needed into the records"
        }
        "require" | "module" | "exports" | "importScripts" => {
            "the sandbox has no modules; put the code into the source, or write the evaluator in Python with `python: path/to/venv`"
        }
        "process" | "Deno" | "Bun" | "fs" | "child_process" | "__dirname" | "__filename" => {
            "the sandbox has no files, no variables and no programs; pass what is needed as an argument (`with`)"
        }
        "setTimeout" | "setInterval" | "setImmediate" | "queueMicrotask" | "Worker" => {
            "the sandbox has no timers and no other threads; call the function directly"
        }
        "window" | "document" | "self" | "global" | "Buffer" | "URL" | "TextEncoder" | "TextDecoder" | "crypto"
        | "structuredClone" | "atob" | "btoa" => {
            "the sandbox has the language itself and `console`, and nothing of browsers or of Node"
        }
        _ => return None,
    })
}

/// The class of what was thrown, what it says, and the line of the author's source.
fn described<'js>(ctx: &Ctx<'js>, thrown: &Value<'js>) -> (String, String, Option<u32>) {
    let text = |value: Value<'js>| {
        let text = value.get::<Coerced<String>>().map(|it| it.0);
        if text.is_err() {
            // Its message cannot be read, because reading it throws.
            drop(ctx.catch());
        }
        text.ok()
    };
    let Some(object) = thrown.as_object() else {
        // The interpreter throws null when there is no memory left to make an error of.
        if thrown.is_null() {
            return ("InternalError".to_owned(), "out of memory".to_owned(), None);
        }
        return ("thrown".to_owned(), text(thrown.clone()).unwrap_or_default(), None);
    };
    let member = |name: &str| match object.get::<_, Value<'js>>(name) {
        Ok(value) if !value.is_undefined() => text(value),
        Ok(_) => None,
        Err(_) => {
            drop(ctx.catch());
            None
        }
    };
    let line = member("stack").and_then(|it| line_in(&it));
    let Some(kind) = member("name") else {
        return ("thrown".to_owned(), text(thrown.clone()).unwrap_or_default(), line);
    };
    (kind, member("message").unwrap_or_default(), line)
}

/// The first line of the author's source in a trace of calls.
fn line_in(stack: &str) -> Option<u32> {
    stack.split(FILE).skip(1).find_map(|it| {
        let digits = it.strip_prefix(':')?;
        digits[..digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len())].parse().ok()
    })
}
