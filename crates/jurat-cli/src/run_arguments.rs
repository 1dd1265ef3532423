//! The options of runs as arguments of the command, made from the list that Rust and Python share.

use std::any::Any;
use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use jurat::{OPTIONS, RerunOf, RunOption, RunOptions, Setting};
use jurat_format::duration::parse_duration;

use crate::count::{at_least_one, count, dollars, repetitions};

/// The options of runs that a verb takes.
pub(crate) struct RunArguments<V> {
    matches: ArgMatches,
    verb: PhantomData<V>,
}

/// A verb that takes options of runs.
pub(crate) trait Verb {
    fn takes(option: &RunOption) -> bool;
}

pub(crate) struct OfRun;
pub(crate) struct OfPlan;
pub(crate) struct OfCheck;
pub(crate) struct OfShards;

impl Verb for OfRun {
    fn takes(_: &RunOption) -> bool {
        true
    }
}

impl Verb for OfPlan {
    fn takes(option: &RunOption) -> bool {
        option.argument.verbs.contains(&"plan")
    }
}

impl Verb for OfCheck {
    fn takes(option: &RunOption) -> bool {
        option.argument.verbs.contains(&"check")
    }
}

impl Verb for OfShards {
    fn takes(option: &RunOption) -> bool {
        option.argument.verbs.contains(&"shards")
    }
}

impl<V: Verb> RunArguments<V> {
    /// The options that were given.
    pub(crate) fn options(&self) -> RunOptions {
        let mut options = RunOptions::new();
        OPTIONS.iter().filter(|it| V::takes(it)).for_each(|it| set(&mut options, it, &self.matches));
        options
    }
}

impl<V: Verb> Args for RunArguments<V> {
    fn augment_args(command: Command) -> Command {
        command.args(OPTIONS.iter().filter(|it| V::takes(it)).map(argument::<V>))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<V: Verb> FromArgMatches for RunArguments<V> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(RunArguments { matches: matches.clone(), verb: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.matches = matches.clone();
        Ok(())
    }
}

/// Where arguments stand whose heading has others, which come first.
const LAST: usize = 1000;

const ALL_ROWS: &str = "all";
const NEEDED_ROWS: &str = "needed";

fn argument<V: Verb>(option: &'static RunOption) -> Arg {
    let jurat::Argument { long, short, alias, value, heading, conflicts, requires, .. } = &option.argument;
    // The command is made once in a process.
    let long = long.unwrap_or_else(|| option.name.replace('_', "-").leak());
    // What the verb does not take conflicts with nothing.
    let is_taken = |name: &&&str| OPTIONS.iter().any(|it| it.name == **name && V::takes(it));
    let conflicts = conflicts.iter().filter(is_taken);
    let mut argument = Arg::new(option.name).long(long).help(option.help.trim()).conflicts_with_all(conflicts);
    if let Some(heading) = heading {
        argument = argument.help_heading(*heading);
    }
    if *heading == Some("Output") {
        argument = argument.display_order(LAST);
    }
    if let Some(short) = short {
        argument = argument.short(*short);
    }
    if let Some(alias) = alias {
        argument = argument.visible_alias(*alias);
    }
    if let Some(other) = requires {
        argument = argument.requires(*other);
    }
    match option.setting {
        Setting::Flag(_) => argument.action(ArgAction::SetTrue),
        _ => parsed(argument.value_name(*value), &option.setting),
    }
}

/// The argument with what reads its value.
fn parsed(argument: Arg, setting: &Setting) -> Arg {
    let number = || argument.clone().allow_negative_numbers(true);
    match setting {
        Setting::Flag(_) | Setting::Text(_) | Setting::Recording(_) => argument,
        Setting::Keep(_) => {
            let needed = PossibleValue::new(NEEDED_ROWS).help("Rows that did not pass, and rows that are in no file");
            let values = PossibleValuesParser::new([needed, PossibleValue::new(ALL_ROWS).help("All rows")]);
            argument.value_parser(values).default_value(NEEDED_ROWS)
        }
        Setting::Count(_) => number().value_parser(count),
        Setting::Times(_) => number().value_parser(repetitions),
        Setting::AtLeastOne(_) => number().value_parser(at_least_one),
        Setting::Dollars(_) => number().value_parser(dollars),
        Setting::Time(_) => argument.value_parser(parse_duration),
        Setting::Texts(_) => argument.action(ArgAction::Append),
        Setting::Models(_) => argument.action(ArgAction::Append).value_parser(role_and_model),
        Setting::Verdicts(_) => {
            let values = PossibleValuesParser::new([
                PossibleValue::new(RerunOf::Failed.name()).help("Cases that failed"),
                PossibleValue::new(RerunOf::Error.name()).help("Cases that ended with an error"),
                PossibleValue::new(RerunOf::NotRun.name()).alias("not-run").help("Cases that were not run"),
            ]);
            argument.action(ArgAction::Append).value_delimiter(',').value_parser(values)
        }
    }
}

/// Sets an option to what was given.
fn set(options: &mut RunOptions, option: &RunOption, matches: &ArgMatches) {
    let name = option.name;
    match option.setting {
        Setting::Flag(field) => *field(options) = matches.get_flag(name),
        Setting::Keep(field) => *field(options) = one::<String>(matches, name).is_some_and(|it| it == ALL_ROWS),
        Setting::Count(field) => *field(options) = one(matches, name),
        Setting::Times(field) => *field(options) = one(matches, name),
        Setting::AtLeastOne(field) => *field(options) = one(matches, name),
        Setting::Dollars(field) => *field(options) = one(matches, name),
        Setting::Time(field) => *field(options) = one(matches, name),
        Setting::Text(field) | Setting::Recording(field) => *field(options) = one(matches, name),
        Setting::Texts(field) => *field(options) = all(matches, name),
        Setting::Models(field) => *field(options) = all(matches, name),
        Setting::Verdicts(field) => {
            let words = all::<String>(matches, name);
            *field(options) = words.iter().filter_map(|it| RerunOf::named(&it.replace('-', "_"))).collect();
        }
    }
}

fn one<T: Any + Clone + Send + Sync>(matches: &ArgMatches, name: &str) -> Option<T> {
    matches.get_one::<T>(name).cloned()
}

fn all<T: Any + Clone + Send + Sync>(matches: &ArgMatches, name: &str) -> Vec<T> {
    matches.get_many::<T>(name).into_iter().flatten().cloned().collect()
}

fn role_and_model(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((role, model)) if !role.is_empty() && model.contains('/') => Ok((role.to_owned(), model.to_owned())),
        _ => Err("write `role=provider/model`, for example `judge=script/replies.jsonl`".to_owned()),
    }
}
