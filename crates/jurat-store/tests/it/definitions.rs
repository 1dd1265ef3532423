//! The files of a definition.

use std::path::Path;

use jurat_format::source::{Files, ReadError};
use jurat_store::Disk;

#[test]
fn a_file_is_read_up_to_the_limit() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("suite.yaml");
    std::fs::write(&path, "suite: a\n").unwrap();
    assert_eq!(Disk.read(&path, 9), Ok(b"suite: a\n".to_vec()));
    assert_eq!(Disk.read(&path, u64::MAX), Ok(b"suite: a\n".to_vec()));
    assert_eq!(Disk.read(&path, 8), Err(ReadError::TooLarge { size: 9, limit: 8 }));
}

#[test]
fn what_is_no_file_is_refused_in_words() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("suite.yaml");
    std::fs::write(&file, "").unwrap();
    assert_eq!(Disk.read(&directory.path().join("missing.yaml"), 9), Err(ReadError::NotFound));
    assert_eq!(Disk.read(&file.join("below-a-file.yaml"), 9), Err(ReadError::NotFound));
    let refused = Disk.read(directory.path(), 9).unwrap_err();
    assert_eq!(refused.to_string(), "it is a directory, not a file");
}

#[cfg(unix)]
#[test]
fn a_device_without_end_is_refused() {
    let refused = Disk.read(Path::new("/dev/zero"), 1000).unwrap_err();
    assert_eq!(refused.to_string(), "it is a device, not a file");
}
