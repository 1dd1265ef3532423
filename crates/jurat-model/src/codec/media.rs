//! Images, audio and documents in requests: what a provider takes of them, and how their bytes are written.

use jurat_core::effect::{Media, MediaKind, ModelRequest};

use super::Unsupported;

/// The images that the most providers take.
pub(super) const USUAL_IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Refuses what a provider does not take, and what has no bytes to send.
pub(super) fn need(request: &ModelRequest, provider: &str, takes: &[(MediaKind, &[&str])]) -> Result<(), Unsupported> {
    request.messages.media().try_for_each(|it| {
        let Some((_, types)) = takes.iter().find(|(kind, _)| *kind == it.kind) else {
            return Err(Unsupported(format!("{provider} takes no {}", plural(it.kind))));
        };
        if !types.is_empty() && !types.contains(&it.media_type.as_str()) {
            let (kind, types) = (plural(it.kind), types.join(", "));
            return Err(Unsupported(format!("{provider} takes {kind} of the types {types}, not {}", it.media_type)));
        }
        match it.bytes() {
            Some(_) => Ok(()),
            None => Err(Unsupported(format!("the bytes of {} are not at hand", it.summary()))),
        }
    })
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
