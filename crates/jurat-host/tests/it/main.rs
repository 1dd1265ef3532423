//! What is seen of files on this machine, and what hooks answer.

mod hooks;
mod looks;
