//! The evaluation profile of a campaign in jurat's own form.

use jurat_format::reader::Reading;
use jurat_format::value::{Content, Entry, Node, Val};

use super::tree::{entry, list, map, text};
use super::{Document, asked, unused};
use crate::text_file;

/// An evaluation profile in jurat's own form: judges are asked where the program asks them, at a temperature of 0 unless it says otherwise.
pub(super) fn evaluation_profile<'d>(reading: &mut Reading<'_>, document: &Document, tree: &Node<'d>) -> Node<'d> {
    let Some(entries) = tree.entries() else { return tree.clone() };
    let mut members: Vec<Entry<'d>> = Vec::new();
    for it in entries.iter().filter(|it| !it.value.is_null()) {
        let mut it = it.clone();
        if it.key == "judges"
            && let Some(judges) = it.value.as_list()
        {
            let judges = judges.iter().map(|it| judge(reading, it)).collect();
            it.value = list(it.value.span, judges);
        }
        members.push(it);
    }
    let says = |name: &str| members.iter().any(|it| it.key == name);
    if !says("judge_system_prompt") && !says("judge_system_prompt_path") {
        let default = "prompts/judge_system_default.md";
        let file = document.path.parent().unwrap_or(std::path::Path::new("")).join(default);
        if reading.files.read(&file, text_file::MAX_BYTES).is_ok() {
            members.push(entry("judge_system_prompt_path", text(tree.span, default)));
        }
    }
    map(tree.span, members)
}

fn judge<'d>(reading: &mut Reading<'_>, node: &Node<'d>) -> Node<'d> {
    let Some(entries) = node.entries() else { return node.clone() };
    let mut members: Vec<Entry<'d>> = Vec::new();
    let mut options: Vec<Entry<'d>> =
        vec![entry("temperature", Node { span: node.span, content: Content::Scalar(Val::I(0)) })];
    for it in entries.iter().filter(|it| !it.value.is_null()) {
        match &*it.key {
            "judge_id" | "type" => members.push(it.clone()),
            "model" | "judge_model" | "model_id" if members.iter().all(|it| it.key != "model") => {
                let Some(named) = it.value.as_str() else {
                    members.push(it.clone());
                    continue;
                };
                let (model, gateway) = asked(named, it.value.span);
                members.push(entry("model", text(it.value.span, &model)));
                options.extend(gateway);
            }
            "request_options" => {
                for own in it.value.entries().unwrap_or(&[]) {
                    options.retain(|it| it.key != own.key);
                    options.push(own.clone());
                }
            }
            other => {
                let message = format!("`{other}` of a judge is not used");
                unused(reading, it.key_span, message, "settings of its requests stand in `request_options`");
            }
        }
    }
    members.push(entry("request_options", map(node.span, options)));
    map(node.span, members)
}
