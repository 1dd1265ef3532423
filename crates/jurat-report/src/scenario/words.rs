//! What no conversation of a run exercised, in words.

use jurat_core::report::scenario::{ScenarioTotal, Unexercised};

/// What no conversation exercised, in words, what is alike on one line: `edge ask → end (else)`, `never false: knew, held`. What others wrote stands as they wrote it.
pub(crate) fn unexercised(total: &ScenarioTotal) -> Vec<String> {
    let all = total.unexercised();
    let names = |what: &str, of: fn(&Unexercised) -> Option<&str>| {
        let names: Vec<&str> = all.iter().filter_map(of).collect();
        (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
    };
    let edge = |it: &Unexercised| match it {
        Unexercised::Edge { from, to, when } => {
            let to = if to == jurat_core::scenario::END { "end" } else { to };
            Some(format!("edge {from} → {to} ({})", when.as_deref().unwrap_or("else")))
        }
        _ => None,
    };
    let nodes = names("never asked", |it| if let Unexercised::Node(name) = it { Some(name) } else { None });
    let outcomes = [
        names("never true", |it| if let Unexercised::NeverTrue(name) = it { Some(name) } else { None }),
        names("never false", |it| if let Unexercised::NeverFalse(name) = it { Some(name) } else { None }),
        names("never decided", |it| if let Unexercised::NeverDecided(name) = it { Some(name) } else { None }),
    ];
    nodes.into_iter().chain(all.iter().filter_map(edge)).chain(outcomes.into_iter().flatten()).collect()
}
