//! Gzip, within a limit: a small file can claim to hold a very large one.

use std::io::Read as _;

use flate2::read::MultiGzDecoder;

/// Whether bytes begin as gzip does.
pub(crate) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// What is in it, or why that cannot be read.
pub(crate) fn unpacked(bytes: &[u8], limit: u64) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(limit + 1).read_to_end(&mut content);
    read.map_err(|error| format!("the gzip stream is damaged or cut off: {error}"))?;
    if content.len() as u64 > limit {
        return Err(format!("it unpacks to more than {limit} bytes"));
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).expect("memory can be written to");
        encoder.finish().expect("memory can be written to")
    }

    #[test]
    fn what_was_packed_comes_back() {
        assert!(is_gzip(&packed(b"hello")));
        assert_eq!(unpacked(&packed(b"hello"), 5).as_deref(), Ok(&b"hello"[..]));
    }

    #[test]
    fn a_bomb_is_refused() {
        let bomb = packed(&vec![0; 1 << 20]);
        assert!(bomb.len() < 4096);
        assert_eq!(unpacked(&bomb, 1 << 16).unwrap_err(), "it unpacks to more than 65536 bytes");
    }

    #[test]
    fn a_cut_stream_is_refused() {
        let packed = packed(b"hello hello hello");
        let error = unpacked(&packed[..packed.len() - 6], 100).unwrap_err();
        assert!(error.starts_with("the gzip stream is damaged or cut off"), "{error}");
    }
}
