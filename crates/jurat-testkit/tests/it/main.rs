//! The endpoint as a client sees it: bytes in, bytes out.

mod client;
mod endpoint;
mod faults;
mod process;
mod schemas;
mod wires;
