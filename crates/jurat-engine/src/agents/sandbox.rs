//! The sandbox around a run, from what its definition says.

use std::path::PathBuf;

use jurat_core::agent::{Agent, Isolation};
use jurat_sandbox::{Program, jail};

use super::folders::Folders;

/// The sandbox around the folders of a run, with what its agent may read and take. On the machine itself there is nothing but limits; elsewhere it has no network unless
/// it is given one.
pub(super) fn sandbox(agent: &Agent, folders: &Folders, worker: Program, is_on_host: bool) -> jail::Sandbox {
    let isolation = match &agent.isolation {
        _ if is_on_host => jail::Isolation::Host,
        Isolation::Namespaces => jail::Isolation::Namespaces,
        Isolation::Container { image, engine } => {
            jail::Isolation::Container { engine: PathBuf::from(engine), image: image.clone() }
        }
    };
    let mut sandbox = jail::Sandbox::new(worker, isolation, &folders.workspace, &folders.home, &folders.tmp);
    if is_on_host {
        sandbox.network = jail::Network::Host;
    }
    sandbox.read_only = agent.read_only.iter().filter_map(|it| std::path::absolute(it).ok()).collect();
    let limits = &agent.limits;
    sandbox.limits = jail::Limits {
        time: limits.time,
        output_bytes: limits.output,
        processes: limits.processes,
        memory_bytes: limits.memory,
        disk_bytes: limits.workspace,
        ..jail::Limits::default()
    };
    sandbox
}
