//! The command `jurat`.

fn main() {}
