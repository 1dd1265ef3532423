//! A definition as every command reads it: from disk.

use std::path::Path;

use jurat_engine::Examined;
use jurat_store::Disk;

/// The suite that is found by itself.
pub(crate) const DEFAULT: &str = "jurat.yaml";

/// Reads a definition and finds everything that is wrong with it.
pub(crate) fn read(file: &Path) -> Examined {
    Examined::read(file, &Disk)
}
