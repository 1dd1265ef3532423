//! What is seen of files on this machine, what hooks answer, and what agents work on and with.

mod hooks;
mod looks;
#[cfg(unix)]
mod programs;
#[cfg(unix)]
mod workspaces;
