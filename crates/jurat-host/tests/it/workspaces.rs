//! Workspaces: what is copied, what is seen, what is retained, and what is never followed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use jurat_core::agent::FileKind;
use jurat_host::workspace::{Root, compare, copy_template, keep, names, walk};

fn root(folder: &Path) -> Root<'_> {
    Root { folder, seen: "/workspace" }
}

fn written(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("directories can be made");
    fs::write(path, text).expect("files can be written");
}

#[test]
fn a_copy_is_equal_to_its_template_and_changes_are_seen_by_content() {
    let folder = tempfile::tempdir().expect("a directory");
    let (template, copy) = (folder.path().join("template"), folder.path().join("copy"));
    written(&template.join("a.txt"), "a\n");
    written(&template.join("d/run.sh"), "#!/bin/sh\n");
    fs::set_permissions(template.join("d/run.sh"), fs::Permissions::from_mode(0o755)).expect("permissions");
    symlink("a.txt", template.join("link")).expect("a link");
    copy_template(&template, &copy).expect("a copy");
    let before = walk(&copy).expect("a look");
    assert_eq!(before.digest(), walk(&template).expect("a look").digest());
    assert!(before.files["d/run.sh"].is_executable);

    written(&copy.join("a.txt"), "a\r\n");
    written(&copy.join("new/empty.txt"), "");
    written(&copy.join("bytes.bin"), "\0");
    fs::write(copy.join("bytes.bin"), [0xff, 0xfe]).expect("written");
    fs::remove_file(copy.join("d/run.sh")).expect("removed");
    written(&copy.join("node_modules/x.js"), "1");
    let workspace = compare(&copy, &before, walk(&copy).expect("a look"));
    assert_eq!(workspace.added, ["bytes.bin", "new/empty.txt"]);
    assert_eq!(workspace.changed, ["a.txt"]);
    assert_eq!(workspace.removed, ["d/run.sh"]);
    assert_eq!(workspace.texts.get("a.txt").map(|it| it.0.as_str()), Some("a\r\n"));
    assert_eq!(workspace.texts.get("bytes.bin"), None);
    assert_eq!(workspace.after.files["link"].kind, FileKind::Link);
}

#[test]
fn templates_that_lead_elsewhere_are_refused() {
    let folder = tempfile::tempdir().expect("a directory");
    let template = folder.path().join("template");
    written(&folder.path().join("secret.txt"), "secret");
    fs::create_dir_all(&template).expect("a directory");
    symlink("../secret.txt", template.join("link")).expect("a link");
    let refused = copy_template(&template, &folder.path().join("copy")).expect_err("it leads out");
    assert!(refused.to_string().contains("leads out of the template"), "{refused}");
    assert!(copy_template(&folder.path().join("nothing"), &folder.path().join("copy")).is_err());
}

#[test]
fn what_an_agent_leaves_is_never_followed_out() {
    let folder = tempfile::tempdir().expect("a directory");
    let (workspace, stored) = (folder.path().join("ws"), folder.path().join("kept"));
    written(&folder.path().join("secret.txt"), "secret");
    written(&workspace.join("out/report.md"), "text");
    symlink(folder.path(), workspace.join("up")).expect("a link");
    symlink(folder.path().join("secret.txt"), workspace.join("file")).expect("a link");
    for (target, link) in [("circle", "circle"), ("nothing", "dangling"), ("out/report.md", "latest.md")] {
        symlink(target, workspace.join(link)).expect("a link");
    }
    symlink("/workspace/out", workspace.join("seen")).expect("a link");
    for path in ["latest.md", "seen/report.md"] {
        let file = keep(root(&workspace), path, &stored, 100).expect("it is stored");
        let text = fs::read_to_string(stored.join(&file.path)).expect("it is there");
        assert_eq!((file.path.to_str(), text.as_str()), (Some(path), "text"), "links within are followed");
    }
    let file = keep(root(&workspace), "out/report.md", &stored, 100).expect("it is stored");
    assert_eq!((file.size, fs::read_to_string(stored.join(&file.path)).expect("it is there").as_str()), (4, "text"));
    for (path, why) in [
        ("up/secret.txt", "a link in its path leads out of the workspace, where it is not followed"),
        ("file", "a link in its path leads out of the workspace, where it is not followed"),
        ("circle", "the links in its path form a cycle"),
        ("dangling", "it is not there"),
        ("../secret.txt", "it would leave the workspace"),
        ("none.md", "it is not there"),
        ("out", "it is no plain file"),
    ] {
        assert_eq!(keep(root(&workspace), path, &stored, 100), Err(why.to_owned()), "{path}");
    }
    assert!(keep(root(&workspace), "out/report.md", &stored, 3).is_err(), "too large");
    let walked = walk(&workspace).expect("a look");
    assert!(!walked.files.keys().any(|it| it.contains("secret")), "links are not followed");
    assert!(compare(&workspace, &walked, walked.clone()).texts.values().all(|(text, _)| text != "secret"));
}

#[test]
fn pipes_and_deep_directories_do_not_block() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut deep = folder.path().to_owned();
    for _ in 0..100 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).expect("directories");
    let status = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().expect("mkfifo");
    assert!(status.success());
    let walked = walk(folder.path()).expect("a look");
    assert!(walked.is_cut);
    assert_eq!(walked.files["pipe"].kind, FileKind::Other);
    assert_eq!(walked.digest(), None);
}

/// Holes cost nothing to make, and would cost seconds to hash.
#[test]
fn large_holes_are_not_hashed_and_still_seen_to_change() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = fs::File::create(folder.path().join("hollow.bin")).expect("made");
    file.set_len(1 << 40).expect("a hole");
    written(&folder.path().join("plain.txt"), "plain");
    let before = walk(folder.path()).expect("a look");
    let hashed = |name: &str| before.files[name].is_hashed;
    assert_eq!((hashed("hollow.bin"), hashed("plain.txt")), (false, true));
    file.set_len(2 << 40).expect("a hole");
    let workspace = compare(folder.path(), &before, walk(folder.path()).expect("a look"));
    assert_eq!(workspace.changed, ["hollow.bin"]);
    let value = workspace.to_value();
    let hollow = value.get("files").and_then(|it| it.get("hollow.bin")).expect("it is there").to_json();
    assert!(hollow.contains(r#""not_hashed":true"#) && !hollow.contains("sha256"), "{hollow}");
}

#[cfg(unix)]
#[test]
fn names_are_not_listed_through_links() {
    let directory = tempfile::tempdir().expect("a directory");
    let (workspace, outside) = (directory.path().join("workspace"), directory.path().join("outside/sessions"));
    fs::create_dir_all(workspace.join("own/sessions")).expect("made");
    fs::create_dir_all(&outside).expect("made");
    for file in
        [workspace.join("own/sessions/b.jsonl"), workspace.join("own/sessions/a.jsonl"), outside.join("secret.jsonl")]
    {
        fs::write(file, "{}").expect("written");
    }
    std::os::unix::fs::symlink(&outside, workspace.join("link")).expect("linked");
    std::os::unix::fs::symlink(directory.path().join("outside"), workspace.join("state")).expect("linked");
    assert_eq!(names(root(&workspace), "own/sessions"), ["a.jsonl", "b.jsonl"]);
    for path in ["link", "state/sessions", "../outside/sessions", "nowhere"] {
        assert!(names(root(&workspace), path).is_empty(), "{path}");
    }
}
