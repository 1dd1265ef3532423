//! Running programs of others behind walls: agents, and the tools that models call.
//!
//! A [`Program`] is run to its end inside [`Walls`]; what it writes goes to the caller, as it comes, and [`Ended`] says how it ended and what isolated it.
//!
//! * [`Walls`] say where it runs, what it sees of the machine, whom it can speak to and how much it may use;
//! * [`Seen`] is how the program sees its folders, for arguments and files of settings;
//! * [`run`] runs it; when it returns, nothing of the program is left;
//! * [`probe`] finds out by doing whether this machine can put up the walls, and names what to change when not;
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
mod size;
#[cfg(target_os = "linux")]
mod spare;
mod stop;
mod walls;
mod within;

pub use container::arguments as container_arguments;
pub use ended::{Ended, Exit, JailError, Limit, Mechanism};
pub use probe::{Available, Unavailable, probe};
pub use removal::remove_folder;
pub use run::{Sink, run};
pub use stop::StopFlag;
pub use walls::{Forward, Isolation, Limits, Network, Program, Seen, Wall, Walls};
pub use within::write_within;
