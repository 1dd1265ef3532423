//! Looking at files: kinds, links, limits, and the bounds of a run.

use std::fs;
use std::path::Path;

use jurat_core::check::{Base, Files, Look, Seen, Wants};
use jurat_host::HostFiles;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a directory can be made");
    fs::create_dir_all(folder.path().join("run/ws")).expect("directories can be made");
    fs::write(folder.path().join("run/ws/report.md"), "text").expect("files can be written");
    fs::write(folder.path().join("secret.txt"), "secret").expect("files can be written");
    folder
}

#[track_caller]
fn seen(folder: &Path, base: Base, path: &str, expected: &str) {
    let host_files = HostFiles { definition: folder.to_owned(), run: folder.join("run") };
    let look = Look { path: path.to_owned(), base, wants: Wants::Text(100) };
    let shown = match host_files.look(&look) {
        Seen::File(file) => format!("file {} {:?}", file.size, file.text.as_deref().unwrap_or("-")),
        Seen::Nothing => "nothing".to_owned(),
        Seen::Directory => "directory".to_owned(),
        Seen::Other => "other".to_owned(),
        Seen::Outside => "outside".to_owned(),
        Seen::Hidden(_) => "hidden".to_owned(),
    };
    assert_eq!(shown, expected, "{path}");
}

#[test]
fn paths_are_resolved_whether_or_not_they_are_there() {
    let folder = folder();
    let at = folder.path();
    seen(at, Base::Definition, "run/ws/report.md", "file 4 \"text\"");
    seen(at, Base::Definition, "run/ws/report.md/", "file 4 \"text\"");
    seen(at, Base::Definition, "missing/../secret.txt", "file 6 \"secret\"");
    seen(at, Base::Definition, "", "directory");
    seen(at, Base::Definition, "run/ws", "directory");
    seen(at, Base::Definition, "run/ws/none", "nothing");
    seen(at, Base::Definition, "secret.txt/below", "nothing");
    seen(at, Base::Definition, "nul\0byte", "nothing");
    seen(at, Base::Run, "ws/report.md", "file 4 \"text\"");
}

#[test]
fn a_run_is_not_left() {
    let folder = folder();
    let at = folder.path();
    let secret = at.join("secret.txt");
    seen(at, Base::Run, "../secret.txt", "outside");
    seen(at, Base::Run, secret.to_str().expect("a path of ours is text"), "outside");
    seen(at, Base::Run, "ws/../../secret.txt", "outside");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_do_not_lead_out() {
    use std::os::unix::fs::symlink;
    let folder = folder();
    let at = folder.path();
    for (target, name) in [
        ("ws/report.md", "run/inside"),
        ("../secret.txt", "run/outside"),
        ("none", "run/dangling"),
        ("circle", "run/circle"),
        ("..", "run/up"),
    ] {
        symlink(target, at.join(name)).expect("links can be made");
    }
    seen(at, Base::Run, "inside", "file 4 \"text\"");
    seen(at, Base::Run, "outside", "outside");
    seen(at, Base::Definition, "run/outside", "file 6 \"secret\"");
    seen(at, Base::Run, "dangling", "nothing");
    seen(at, Base::Run, "circle", "nothing");
    seen(at, Base::Run, "up/secret.txt", "outside");
    seen(at, Base::Run, "up/run/ws/report.md", "file 4 \"text\"");
}

#[test]
fn what_is_too_long_is_cut() {
    let folder = folder();
    let path = folder.path().join("run/long.txt");
    fs::write(&path, "é".repeat(60)).expect("files can be written");
    let host_files = HostFiles { definition: folder.path().to_owned(), run: folder.path().join("run") };
    let look = |wants| host_files.look(&Look { path: "long.txt".to_owned(), base: Base::Run, wants });
    let cut = look(Wants::Text(101));
    let cut = cut.file().expect("it is a file");
    assert_eq!((cut.size, cut.is_cut, cut.text.as_ref().map(String::len)), (120, true, Some(100)));
    let searched = look(Wants::Search("éé".to_owned()));
    assert_eq!(searched.file().and_then(|it| it.found), Some(true));
    fs::write(&path, [0xff, 0xfe]).expect("files can be written");
    let broken = look(Wants::Search("x".to_owned()));
    assert_eq!(broken.file().and_then(|it| it.unread.as_deref()), Some("it is not UTF-8 text"));
}
