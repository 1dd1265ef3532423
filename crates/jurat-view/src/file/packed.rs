//! Data in a document: compressed, and written in letters that no document takes for markup.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A text as gzip in base64. Equal texts give equal letters: gzip's field for the time is left empty.
pub(super) fn packed(text: &str) -> String {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let bytes = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).unwrap_or_default();
    base64(&bytes)
}

/// A hash in the form that content security policies have.
pub(super) fn policy_hash(text: &str) -> String {
    format!("'sha256-{}'", base64(ring::digest::digest(&ring::digest::SHA256, text.as_bytes()).as_ref()))
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |ix: usize| u32::from(three.get(ix).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_the_standard() {
        for (bytes, letters) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), letters);
        }
        let empty = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='";
        assert_eq!(policy_hash(""), empty);
        assert_eq!(packed("the same"), packed("the same"));
    }
}
