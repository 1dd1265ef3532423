//! Zip archives: stored, deflated and Zstandard members, within limits.
//!
//! Only what is asked for is read and unpacked, and never to the disk. A member says how large it is; one that turns out larger is refused, and so
//! is an archive whose members are larger together than its limit.

use std::collections::HashMap;
use std::io::{Read as _, SeekFrom};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use crate::input::MAX_BYTES;
use crate::source::{Reader, Source};

/// An archive.
pub(crate) struct Archive<'s> {
    reader: Box<dyn Reader + 's>,
    members: Vec<Member>,
    /// The number of each by its name; of several with one name that of the first.
    by_name: HashMap<String, usize>,
    /// How many bytes may still be unpacked.
    left: u64,
}

#[derive(Debug, Clone)]
struct Member {
    name: String,
    method: u16,
    is_encrypted: bool,
    checksum: u32,
    packed: u64,
    unpacked: u64,
    /// Where its header is.
    at: u64,
}

/// The most members of an archive.
const MAX_MEMBERS: u64 = 1_000_000;

impl<'s> Archive<'s> {
    /// Reads the directory of an archive, of which at most `limit` bytes are unpacked.
    pub(crate) fn open(source: &'s dyn Source, limit: u64) -> Result<Archive<'s>, String> {
        let mut reader = source.open().map_err(|error| error.to_string())?;
        let (n_members, start, end) = directory(reader.as_mut(), source.n_bytes())?;
        if n_members > MAX_MEMBERS {
            return Err(format!("the archive has {n_members} members; {MAX_MEMBERS} are the most"));
        }
        let length = end.saturating_sub(start);
        if length > MAX_BYTES {
            return Err(format!("the directory of the archive has {length} bytes; {MAX_BYTES} are the most"));
        }
        let lines = part(reader.as_mut(), start, length).unwrap_or_default();
        let (mut members, mut by_name, mut at) = (Vec::new(), HashMap::new(), 0);
        for ix in 0..n_members {
            let (member, next) = member(&lines, start, at)?;
            by_name.entry(member.name.clone()).or_insert(usize::try_from(ix).unwrap_or_default());
            members.push(member);
            at = next;
        }
        Ok(Archive { reader, members, by_name, left: limit })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|it| it.name.as_str())
    }

    /// The content of a member; `None` when there is no such member.
    pub(crate) fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let Some(member) = self.by_name.get(name).map(|ix| self.members[*ix].clone()) else { return Ok(None) };
        let content = self.unpacked(&member).map_err(|why| format!("member `{name}` (byte {}): {why}", member.at))?;
        self.left -= content.len() as u64;
        Ok(Some(content))
    }

    fn unpacked(&mut self, member: &Member) -> Result<Vec<u8>, String> {
        if member.is_encrypted {
            return Err("it is encrypted".to_owned());
        }
        let left = self.left.min(MAX_BYTES);
        if member.unpacked > left {
            return Err(format!("it unpacks to {} bytes, and the archive may unpack to {left} more", member.unpacked));
        }
        if member.packed > MAX_BYTES {
            return Err(format!("it has {} bytes; {MAX_BYTES} are the most", member.packed));
        }
        let header = part(self.reader.as_mut(), member.at, 30).ok_or(CUT)?;
        if !header.starts_with(b"PK\x03\x04") {
            return Err("there is no header of a member".to_owned());
        }
        let skip = u64::from(short(&header, 26)) + u64::from(short(&header, 28));
        let packed = part(self.reader.as_mut(), member.at + 30 + skip, member.packed).ok_or(CUT)?;
        let packed = packed.as_slice();
        let content = match member.method {
            0 => packed.to_vec(),
            8 => all(DeflateDecoder::new(packed), member.unpacked)?,
            93 => all(zstd::stream::read::Decoder::new(packed).map_err(|error| error.to_string())?, member.unpacked)?,
            other => {
                return Err(format!("it is packed by method {other}; 0, 8 (deflate) and 93 (Zstandard) are known"));
            }
        };
        let mut checksum = Crc::new();
        checksum.update(&content);
        match content.len() as u64 == member.unpacked && checksum.sum() == member.checksum {
            true => Ok(content),
            false => Err("it is damaged: size or checksum differ".to_owned()),
        }
    }
}

const CUT: &str = "the archive is cut off";

/// Everything that a reader gives, but no more than was announced.
fn all(reader: impl std::io::Read, announced: u64) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    reader
        .take(announced.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(|error| format!("it is damaged: {error}"))?;
    Ok(content)
}

/// A number of bytes from a place; `None` when they are not there.
fn part(reader: &mut dyn Reader, at: u64, length: u64) -> Option<Vec<u8>> {
    reader.seek(SeekFrom::Start(at)).ok()?;
    let mut bytes = Vec::new();
    reader.take(length).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == length).then_some(bytes)
}

/// How many members there are, and where their directory begins and ends.
fn directory(reader: &mut dyn Reader, n_bytes: u64) -> Result<(u64, u64, u64), String> {
    const LONGEST: u64 = 22 + 65_535;
    let from = n_bytes.saturating_sub(LONGEST);
    let tail = part(reader, from, n_bytes - from).ok_or(CUT)?;
    let found = tail.windows(4).rposition(|it| it == b"PK\x05\x06").filter(|it| it + 22 <= tail.len());
    let found = found.ok_or_else(|| format!("{CUT}: it has no directory at its end (byte {n_bytes})"))?;
    let end = from + found as u64;
    let (n_members, at) = (short(&tail, found + 10), word(&tail, found + 16));
    if n_members != u16::MAX && at != u32::MAX {
        return Ok((n_members.into(), at.into(), end));
    }
    // A large archive has a second record; what leads to it stands before the first.
    let locator = end.checked_sub(20).and_then(|it| part(reader, it, 20)).filter(|it| it.starts_with(b"PK\x06\x07"));
    let record_at = locator.map(|it| long(&it, 8));
    let record = record_at.and_then(|it| part(reader, it, 56)).filter(|it| it.starts_with(b"PK\x06\x06"));
    let record = record.ok_or("the archive has no directory of a large archive")?;
    Ok((long(&record, 32), long(&record, 48), end))
}

/// A line of the directory, which begins at a place of the archive, and where in it the next begins.
fn member(bytes: &[u8], directory: u64, start: usize) -> Result<(Member, usize), String> {
    let at = directory + start as u64;
    let cut = || format!("{CUT} in its directory (byte {at})");
    let line = bytes.get(start..start.checked_add(46).ok_or_else(cut)?).ok_or_else(cut)?;
    if !line.starts_with(b"PK\x01\x02") {
        return Err(format!("byte {at}: there is no line of a directory"));
    }
    let [name_length, extra_length, comment_length] = [28, 30, 32].map(|it| usize::from(short(line, it)));
    let name = bytes.get(start + 46..start + 46 + name_length).ok_or_else(cut)?;
    let extra = bytes.get(start + 46 + name_length..start + 46 + name_length + extra_length).ok_or_else(cut)?;
    let name = String::from_utf8_lossy(name).into_owned();
    if crate::folder::inside(&name).is_none() {
        return Err(format!("byte {at}: the member `{name}` leads out of the archive"));
    }
    let mut large = large_numbers(extra).into_iter();
    let mut number = |it: u32| if it == u32::MAX { large.next().unwrap_or(it.into()) } else { u64::from(it) };
    let (unpacked, packed, header) = (number(word(line, 24)), number(word(line, 20)), number(word(line, 42)));
    let member = Member {
        name,
        method: short(line, 10),
        is_encrypted: short(line, 8) & 1 == 1,
        checksum: word(line, 16),
        packed,
        unpacked,
        at: header,
    };
    Ok((member, start + 46 + name_length + extra_length + comment_length))
}

/// The numbers of 64 bits that stand in for those that do not fit 32.
fn large_numbers(mut extra: &[u8]) -> Vec<u64> {
    while extra.len() >= 4 {
        let (kind, length) = (short(extra, 0), usize::from(short(extra, 2)));
        let Some(content) = extra.get(4..4 + length) else { break };
        if kind == 1 {
            return content.chunks_exact(8).map(|it| long(it, 0)).collect();
        }
        extra = &extra[4 + length..];
    }
    Vec::new()
}

fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).and_then(|it| it.try_into().ok()).map_or(0, u16::from_le_bytes)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|it| it.try_into().ok()).map_or(0, u32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|it| it.try_into().ok()).map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    /// An archive with deflated members.
    pub(crate) fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
        let (mut bytes, mut directory) = (Vec::new(), Vec::new());
        for (name, content) in members {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(content).expect("memory can be written to");
            let packed = encoder.finish().expect("memory can be written to");
            let mut checksum = Crc::new();
            checksum.update(content);
            let at = bytes.len() as u32;
            let mut fields = Vec::new();
            fields.extend(20_u16.to_le_bytes());
            fields.extend(0_u16.to_le_bytes());
            fields.extend(8_u16.to_le_bytes());
            fields.extend([0; 4]);
            fields.extend(checksum.sum().to_le_bytes());
            fields.extend((packed.len() as u32).to_le_bytes());
            fields.extend((content.len() as u32).to_le_bytes());
            fields.extend((name.len() as u16).to_le_bytes());
            fields.extend(0_u16.to_le_bytes());
            bytes.extend(b"PK\x03\x04");
            bytes.extend(&fields);
            bytes.extend(name.as_bytes());
            bytes.extend(packed);
            directory.extend(b"PK\x01\x02\x14\x00");
            directory.extend(&fields);
            directory.extend([0; 10]);
            directory.extend(at.to_le_bytes());
            directory.extend(name.as_bytes());
        }
        let at = bytes.len() as u32;
        bytes.extend(&directory);
        bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
        bytes.extend((members.len() as u16).to_le_bytes());
        bytes.extend((members.len() as u16).to_le_bytes());
        bytes.extend((directory.len() as u32).to_le_bytes());
        bytes.extend(at.to_le_bytes());
        bytes.extend([0; 2]);
        bytes
    }

    #[test]
    fn members_are_unpacked() {
        let bytes = archive(&[("a.json", b"{}"), ("b/c.txt", b"hello")]);
        let mut archive = Archive::open(&bytes, 100).expect("an archive");
        assert_eq!(archive.names().collect::<Vec<_>>(), ["a.json", "b/c.txt"]);
        assert_eq!(archive.read("b/c.txt"), Ok(Some(b"hello".to_vec())));
        assert_eq!(archive.read("none"), Ok(None));
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_unpacked() {
        let bytes = archive(&[("a", &[0; 1 << 20])]);
        let error = Archive::open(&bytes, 1 << 16).expect("an archive").read("a").unwrap_err();
        assert_eq!(error, "member `a` (byte 0): it unpacks to 1048576 bytes, and the archive may unpack to 65536 more");
    }

    #[test]
    fn a_member_that_is_larger_than_announced_is_refused() {
        let mut bytes = archive(&[("a", &[0; 1 << 20])]);
        let line = bytes.windows(4).position(|it| it == b"PK\x01\x02").expect("a directory");
        bytes[line + 24..line + 28].copy_from_slice(&10_u32.to_le_bytes());
        let error = Archive::open(&bytes, 1 << 16).expect("an archive").read("a").unwrap_err();
        assert_eq!(error, "member `a` (byte 0): it is damaged: size or checksum differ");
    }

    #[test]
    fn members_that_lead_out_of_the_archive_are_refused() {
        for name in ["../etc/passwd", "/etc/passwd", "a/../../b"] {
            let bytes = archive(&[(name, b"x")]);
            let Err(error) = Archive::open(&bytes, 100) else { panic!("{name}") };
            assert!(error.ends_with(&format!("the member `{name}` leads out of the archive")), "{error}");
        }
    }

    #[test]
    fn every_cut_is_an_error_and_no_panic() {
        let bytes = archive(&[("a.json", b"{\"a\": 1}"), ("b", b"hello hello hello")]);
        for end in 0..bytes.len() {
            let cut = bytes[..end].to_vec();
            let opened = Archive::open(&cut, 1000);
            let read = opened.and_then(|mut it| it.read("b"));
            assert!(read.is_err(), "{end} of {}", bytes.len());
        }
    }
}
