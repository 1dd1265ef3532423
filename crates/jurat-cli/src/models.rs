//! `jurat models`: the models that a suite configures, and whether they answer.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use jurat::{ConfiguredModel, Ping, TokenPrice};
use jurat_format::value::{Map, Val, Value};

use crate::definition::{self, ProfileOptions};
use crate::exit::Exit;
use crate::failure::{Failure, exit};
use crate::format::{Format, FormatOption};
use crate::run_arguments::{OfCheck, RunArguments};

/// Lists the models of a suite: where each is asked, with which key, at what price and within which limits
///
/// Nothing is sent and no command is started, unless `--ping` asks each model one short question, which costs a few tokens.
#[derive(Args)]
pub(crate) struct Models {
    /// The suite
    #[arg(default_value = definition::DEFAULT)]
    file: PathBuf,
    /// Ask each model one short question, and fail when one does not answer
    #[arg(long)]
    ping: bool,
    /// Print the built-in prices, to begin a file of your own with
    #[arg(long, conflicts_with = "ping")]
    prices: bool,
    #[command(flatten)]
    profiles: ProfileOptions,
    #[command(flatten)]
    options: RunArguments<OfCheck>,
    #[command(flatten)]
    format: FormatOption,
}

/// A model, and what became of asking it.
type Line = (ConfiguredModel, Option<Ping>);

impl Models {
    pub(crate) fn run(&self) -> Exit {
        exit(self.list())
    }

    fn list(&self) -> Result<Exit, Failure> {
        if self.prices {
            io::stdout().lock().write_all(jurat::built_in_prices().as_bytes())?;
            return Ok(Exit::Good);
        }
        let checked = definition::read(&self.file, &self.profiles).ok_or(Failure::Printed)?;
        let options = self.options.options();
        let lines: Vec<Line> = match self.ping {
            true => checked.ping(&options)?.into_iter().map(|(model, ping)| (model, Some(ping))).collect(),
            false => checked.models(&options)?.into_iter().map(|it| (it, None)).collect(),
        };
        let mut out = BufWriter::new(io::stdout().lock());
        match self.format.get() {
            Format::Text => write_text(&mut out, &lines)?,
            Format::Json => {
                let models: Vec<Value> = lines.iter().map(object).collect();
                writeln!(out, "{}", present([("models", Some(Val::List(models)))]).to_json())?;
            }
        }
        out.flush()?;
        let is_failed = |(_, ping): &Line| matches!(ping, Some(Ping::Failed(_)));
        Ok(if lines.iter().any(is_failed) { Exit::Wrong } else { Exit::Good })
    }
}

fn write_text(out: &mut dyn Write, lines: &[Line]) -> io::Result<()> {
    if lines.is_empty() {
        return writeln!(out, "the suite configures no models");
    }
    for (ix, (model, ping)) in lines.iter().enumerate() {
        let gap = if ix > 0 { "\n" } else { "" };
        let head = format!("{}: {}", model.role, model.model);
        writeln!(out, "{gap}{}", jurat_report::visible_line(&head))?;
        for (name, text) in facts(model, ping.as_ref()) {
            writeln!(out, "  {name:<10}  {}", jurat_report::visible_line(&text))?;
        }
    }
    Ok(())
}

fn facts(model: &ConfiguredModel, ping: Option<&Ping>) -> Vec<(&'static str, String)> {
    let is_remote = model.address.is_some();
    let no_key = is_remote.then(|| "none".to_owned());
    let facts = [
        ("address", model.address.clone()),
        ("key", model.key.clone().or(no_key)),
        ("structured", model.structured.clone()),
        ("price", is_remote.then(|| model.price.as_ref().map_or_else(|| "unknown".to_owned(), price))),
        ("price from", model.price_source.clone()),
        ("limits", Some(limits(model)).filter(|it| !it.is_empty())),
        ("problem", model.problem.clone()),
        ("ping", ping.map(ping_words)),
    ];
    facts.into_iter().filter_map(|(name, it)| Some((name, it?))).collect()
}

fn price(it: &TokenPrice) -> String {
    let parts = [
        ("input", Some(it.input)),
        ("output", Some(it.output)),
        ("cached", it.cached),
        ("cache write", it.cache_write),
    ];
    let parts: Vec<String> = parts.iter().filter_map(|(name, it)| Some(format!("{name} ${}", (*it)?))).collect();
    format!("{} per million tokens", parts.join(", "))
}

fn limits(model: &ConfiguredModel) -> String {
    let counted = |it: Option<u64>, what: &str| it.map(|it| format!("{it} {what}"));
    let parts = [
        counted(model.max_tokens, "output tokens"),
        counted(model.rpm, "requests a minute"),
        counted(model.tpm, "tokens a minute"),
        model.timeout.map(|it| format!("{} s for a request", it.as_secs_f64())),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn ping_words(ping: &Ping) -> String {
    match ping {
        Ping::Answered { latency, served } => {
            let by = served.as_ref().map_or_else(String::new, |it| format!(", as {it}"));
            format!("answered in {} ms{by}", latency.as_millis())
        }
        Ping::Failed(reason) => format!("failed: {reason}"),
        Ping::Skipped => "nothing to reach".to_owned(),
    }
}

/// A model as an object. What is not known is absent.
fn object((model, ping): &Line) -> Value {
    let text = |it: &Option<String>| it.clone().map(Val::from);
    let price = model.price.map(|it| {
        present([
            ("input", Some(Val::F(it.input))),
            ("output", Some(Val::F(it.output))),
            ("cached", it.cached.map(Val::F)),
            ("cache_write", it.cache_write.map(Val::F)),
        ])
    });
    present([
        ("role", Some(Val::from(model.role.clone()))),
        ("model", Some(Val::from(model.model.clone()))),
        ("address", text(&model.address)),
        ("key", text(&model.key)),
        ("structured", text(&model.structured)),
        ("price", price),
        ("price_source", text(&model.price_source)),
        ("price_date", text(&model.price_date)),
        ("max_tokens", model.max_tokens.map(Val::from)),
        ("rpm", model.rpm.map(Val::from)),
        ("tpm", model.tpm.map(Val::from)),
        ("timeout_s", model.timeout.map(|it| Val::F(it.as_secs_f64()))),
        ("problem", text(&model.problem)),
        ("ping", ping.as_ref().map(ping_object)),
    ])
}

fn ping_object(ping: &Ping) -> Value {
    let status = |word: &'static str| Some(Val::from(word));
    match ping {
        Ping::Answered { latency, served } => present([
            ("status", status("answered")),
            ("latency_ms", Some(Val::F(latency.as_micros() as f64 / 1e3))),
            ("served_model", served.clone().map(Val::from)),
        ]),
        Ping::Failed(reason) => present([("status", status("failed")), ("problem", Some(Val::from(reason.clone())))]),
        Ping::Skipped => present([("status", status("skipped"))]),
    }
}

fn present<const N: usize>(members: [(&'static str, Option<Value>); N]) -> Value {
    Val::Map(members.into_iter().filter_map(|(name, it)| Some((name, it?))).collect::<Map<'static>>())
}
