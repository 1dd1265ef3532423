//! Images, audio and documents in requests: what a provider takes of them, and how their bytes are written.

use std::borrow::Cow;

use jurat_core::effect::{Media, MediaKind, Message, ModelRequest, Part};

use super::Unsupported;

/// The images that the most providers take.
pub(super) const USUAL_IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The kinds that a provider takes, each with its types; no types stand for all.
pub(super) type Takes<'t> = &'t [(MediaKind, &'t [&'t str])];

/// Refuses what a provider does not take, and what has no bytes to send. What a tool returned is never refused: where a provider does not take it, the words
/// about it in the result are all that is sent.
pub(super) fn need(request: &ModelRequest, provider: &str, takes: Takes<'_>) -> Result<(), Unsupported> {
    request.messages.iter().try_for_each(|message| {
        let is_result = matches!(message, Message::Tool { .. });
        message.media().try_for_each(|it| match refusal(takes, it) {
            Some(_) if is_result => Ok(()),
            Some(why) => Err(Unsupported(format!("{provider} takes {why}"))),
            None if it.bytes().is_some() => Ok(()),
            None => Err(Unsupported(format!("the bytes of {} are not available", it.summary()))),
        })
    })
}

/// What a provider takes instead; `None` when it takes this.
fn refusal(takes: Takes<'_>, it: &Media) -> Option<String> {
    let Some((_, types)) = takes.iter().find(|(kind, _)| *kind == it.kind) else {
        return Some(format!("no {}", plural(it.kind)));
    };
    let is_taken = types.is_empty() || types.contains(&it.media_type.as_str());
    (!is_taken).then(|| format!("{} of the types {}, not {}", plural(it.kind), types.join(", "), it.media_type))
}

/// Whether a provider takes it.
pub(super) fn takes(takes: Takes<'_>, it: &Media) -> bool {
    refusal(takes, it).is_none()
}

/// What a tool returned beside words, as far as a provider takes it in results.
pub(super) fn of_result<'m>(message: &'m Message, takes: Takes<'_>) -> Vec<&'m Media> {
    message.media().filter(|it| self::takes(takes, it)).collect()
}

/// A conversation in which what tools returned beside words follows their results as a message of the user, for a provider whose results cannot hold it. Results
/// that belong to one turn stay together: providers refuse anything between them.
pub(super) fn followed(messages: &[Message], goes_behind: impl Fn(&Media) -> bool) -> Cow<'_, [Message]> {
    let is_result = |it: &Message| matches!(it, Message::Tool { .. });
    if !messages.iter().filter(|it| is_result(it)).flat_map(Message::media).any(&goes_behind) {
        return Cow::Borrowed(messages);
    }
    let turns = messages.chunk_by(|one, next| is_result(one) && is_result(next));
    let with_media = turns.flat_map(|turn| {
        let parts: Vec<Part> = turn.iter().filter(|it| is_result(it)).flat_map(|it| shown(it, &goes_behind)).collect();
        turn.iter().cloned().chain((!parts.is_empty()).then(|| Message::of_parts(parts)))
    });
    Cow::Owned(with_media.collect())
}

/// What a tool returned beside words, after a line that says so.
fn shown(result: &Message, goes_behind: impl Fn(&Media) -> bool) -> Vec<Part> {
    let media: Vec<Part> = result.media().filter(|it| goes_behind(it)).cloned().map(Part::Media).collect();
    let name = if let Message::Tool { name, .. } = result { name.as_str() } else { "" };
    let line = (!media.is_empty()).then(|| Part::Text(format!("The tool `{name}` returned:")));
    line.into_iter().chain(media).collect()
}

fn plural(kind: MediaKind) -> &'static str {
    match kind {
        MediaKind::Image => "images",
        MediaKind::Audio => "audio",
        MediaKind::Pdf => "PDF documents",
    }
}

/// The bytes as base64. [`need`] has seen that they are there.
pub(crate) fn base64(media: &Media) -> String {
    media.base64().unwrap_or_default()
}

/// `data:image/png;base64,…`
pub(super) fn data_url(media: &Media) -> String {
    format!("data:{};base64,{}", media.media_type, base64(media))
}

/// What a file is called, for providers that want a name.
pub(super) fn name_of(media: &Media) -> &str {
    media.name.as_deref().unwrap_or("document.pdf")
}
