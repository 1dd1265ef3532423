//! Running programs of others in a sandbox: agents, and the tools that models call.
//!
//! A [`Program`] is run to its end in a [`Sandbox`]; what it writes goes to the caller, as it comes, and [`Ended`] says how it ended and what isolated it.
//!
//! * [`Sandbox`] says where it runs, what it sees of the machine, whom it can speak to and how much it may use;
//! * [`Seen`] is how the program sees its folders, for arguments and files of settings;
//! * [`run`] runs it; when it returns, nothing of the program is left;
//! * [`probe`] starts a sandbox to find out whether this machine can, and names what to change when not;
//! * [`write_within`] writes a file where a program could have left links;
//! * [`remove_folder`] removes what a program left, however it is built.
//!
//! What is deliberately not here: what an agent is and what its output means.

mod cgroup;
mod container;
mod ended;
#[cfg(target_os = "linux")]
pub(crate) mod inside;
mod orders;
mod probe;
mod removal;
mod run;
mod sandbox;
mod size;
#[cfg(target_os = "linux")]
mod spare;
mod stop;
mod within;

pub use container::arguments as container_arguments;
pub use ended::{Ended, Exit, JailError, Limit, Mechanism};
pub use probe::{Available, Unavailable, probe};
pub use removal::remove_folder;
pub use run::{Sink, run};
pub use sandbox::{Forward, Isolation, Limits, Network, Program, Protection, Sandbox, Seen};
pub use stop::StopFlag;
pub use within::write_within;
