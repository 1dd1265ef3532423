//! `jurat completions`: what a shell needs to complete the command.

use std::io::{self, Write};

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use crate::exit::Exit;
use crate::failure::exit;

/// Prints a completion script for a shell
///
/// Bash: put it into `~/.local/share/bash-completion/completions/jurat`. Zsh: into a file `_jurat` of a directory in `$fpath`. Fish: into
/// `~/.config/fish/completions/jurat.fish`.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, command: &mut Command) -> Exit {
        let mut script = Vec::new();
        generate(self.shell, command, "jurat", &mut script);
        exit(io::stdout().write_all(&script).map(|()| Exit::Good).map_err(Into::into))
    }
}
