//! A definition as every command reads it: from disk.

use std::path::Path;

use jurat_engine::Examined;
use jurat_sandbox::Program;
use jurat_store::Disk;

/// The suite that is found by itself.
pub(crate) const DEFAULT: &str = "jurat.yaml";

/// Reads a definition and finds everything that is wrong with it.
pub(crate) fn read(file: &Path) -> Examined {
    Examined::read(file, &Disk)
}

/// The same, with the code of its evaluators parsed by the interpreters that would run it.
pub(crate) fn read_with_code(file: &Path) -> Examined {
    let mut examined = read(file);
    // A program that does not know where it is has no workers; `run` says so.
    if let Ok(worker) = Program::this() {
        examined.parse_code(worker);
    }
    examined
}
