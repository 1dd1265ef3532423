//! The runners of the core: their table in `docs/reference/agents.md`, and the list of programs that `cargo xtask agents` installs.

use jurat_core::agent::{Package, Performer, RUNNERS, Runner};

const START: &str = "<!-- runners -->\n";
const END: &str = "<!-- end of runners -->";

/// The page with its table made anew; any other page as it is.
pub(crate) fn filled(page: String) -> String {
    let Some((before, rest)) = page.split_once(START) else { return page };
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    let rows: String = RUNNERS.iter().copied().map(row).collect();
    format!("{before}{START}{HEAD}{rows}\n{END}{after}")
}

const HEAD: &str = "| runner | program | tested version | asks its model as | several turns | obeys `limits.turns` | MCP servers | skills |\n|---|---|---|---|---|---|---|---|\n";

fn row(runner: &Runner) -> String {
    let (program, tested, model) = match &runner.performer {
        Performer::Program(it) => (format!("`{}`", it.name), it.tested, it.wire.provider()),
        Performer::Command => ("any".to_owned(), "", "any: `$JURAT_BASE_URL`"),
        Performer::Function => ("none: a function is called".to_owned(), "", "any: `model` of its input"),
        Performer::Model => ("none: jurat asks the model itself".to_owned(), "", "any model of `models`"),
        Performer::Recorded => ("none: the artifact is read".to_owned(), "", ""),
    };
    let model = if runner.wire().is_some() { format!("`{model}`") } else { model.to_owned() };
    let yes = |it: bool| if it { "yes" } else { "no" };
    let (turns, steps, servers) = (yes(runner.takes_turns), yes(runner.limits_steps), yes(runner.takes_servers));
    let skills = runner.skills.map_or("no".to_owned(), |it| format!("`~/{it}`"));
    format!("| `{}` | {program} | {tested} | {model} | {turns} | {steps} | {servers} | {skills} |\n", runner.name)
}

/// A line for each program that jurat knows: runner, registry, package, version, program. `xtask` reads it, because it depends on
/// no crate of jurat and so is quick to build.
pub(crate) fn installed() -> String {
    let line = |runner: &&Runner| {
        let program = runner.program()?;
        let (registry, package) = match program.package {
            Package::Npm(package) => ("npm", package),
            Package::PyPi(package) => ("pypi", package),
        };
        Some(format!("{} {registry} {package} {} {}\n", runner.name, program.tested, program.name))
    };
    RUNNERS.iter().filter_map(line).collect()
}
