//! Servers with tools: whether those that are named are there.

use jurat_format::codes;
use jurat_format::problem::{Problem, Problems, listed_all, nearest};
use jurat_format::value::Spanned;

use crate::section::lost::Part;
use crate::suite::{ServerSpec, Suite};

/// Looks at the servers whose tools may be used, and at those of which a filter takes tools away.
pub(super) fn examine(suite: &Suite, named: &[Spanned<String>], filtered: &[Spanned<String>], problems: &mut Problems) {
    // Where there are no tools at all, a filter takes none away, as in scenarios that were written for another program.
    let filtered = filtered.iter().filter(|_| !suite.tools.is_empty());
    for name in named.iter().chain(filtered) {
        let is_known = suite.tools.iter().any(|it| it.name.value == name.value);
        if !is_known && !suite.lost.has(Part::Server, &name.value) && problems.has_room(&codes::UNKNOWN_SERVER) {
            problems.push(unknown_server(&suite.tools, name));
        }
    }
}

fn unknown_server(servers: &[ServerSpec], name: &Spanned<String>) -> Problem {
    let message = format!("there is no server with tools `{}`", name.value);
    let problem = Problem::new(&codes::UNKNOWN_SERVER, message).at(name.span, "unknown server");
    let names = || servers.iter().map(|it| it.name.value.as_str());
    let near = nearest(&name.value, names()).and_then(|near| servers.iter().find(|it| it.name.value == near));
    let problem = match near {
        Some(near) => problem
            .at(near.name.span, "a server with a similar name")
            .help(format!("did you mean `{}`?", near.name.value)),
        None => problem,
    };
    match servers {
        [] => problem.help(format!("define it: `tools: {{ {}: {{ command: […] }} }}`", name.value)),
        _ => problem.help(format!("`tools` of the suite has {}", listed_all(names()))),
    }
}
