//! The bytes of a segment: a header, then a frame for each commit. See `core/docs/format.md`.

use std::ops::Range;

use twox_hash::xxhash3_64::Hasher;

use crate::store::codec::Decoder;

/// A header and a frame begin at a multiple of this: no sector that holds acknowledged blocks is written again.
pub(super) const SECTOR: usize = 512;
pub(super) const ALIGN: u64 = SECTOR as u64;

const MAGIC: &[u8; 8] = b"dfqueue\x01";
pub(super) const HEADER_BYTES: usize = 48;
/// Bytes of a frame before its body.
pub(super) const FRAME_HEAD_BYTES: usize = 32;
/// Tag and checksum, which the checksum does not cover.
const UNCHECKED_BYTES: usize = 16;

/// The header of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// The id of the log it belongs to.
    pub(super) log: u64,
    /// Its number in the log: that of its first block, so that no two segments of a log ever have the same.
    pub(super) segment: u64,
    /// Every block below this number was acknowledged when the segment was begun, or is void. A block from this number on in an
    /// earlier segment is void: its sync failed.
    pub(super) acknowledged: u64,
    /// The length of the file, in bytes: a shorter file was cut.
    pub(super) bytes: u64,
}

impl Header {
    /// Appends the header and fills its sector.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        let mut bytes = [0; HEADER_BYTES];
        let numbers = [self.log, self.segment, self.acknowledged, self.bytes];
        let words = numbers.map(u64::to_le_bytes);
        let content = MAGIC.iter().chain(words.iter().flatten());
        for (place, byte) in bytes.iter_mut().zip(content) {
            *place = *byte;
        }
        if let Some((covered, sum)) = bytes.split_last_chunk_mut::<8>() {
            *sum = checksum(0, covered).to_le_bytes();
        }
        out.extend_from_slice(&bytes);
        align(out);
    }

    /// `None` without a whole header.
    pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (covered, sum) = bytes.split_last_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != checksum(0, covered) {
            return None;
        }
        let mut decoder = Decoder::new(covered);
        if decoder.array().ok()? != *MAGIC {
            return None;
        }
        let mut number = || Some(u64::from_le_bytes(decoder.array().ok()?));
        Some(Self {
            log: number()?,
            segment: number()?,
            acknowledged: number()?,
            bytes: number()?,
        })
    }

    /// The tag of each frame of this segment. Frames left of an earlier segment in the same file have another tag.
    pub(super) fn tag(self) -> u64 {
        checksum(self.log, &self.segment.to_le_bytes())
    }
}

/// The length of the frame that begins with `head`; `None` if it is no frame with this tag.
pub(super) fn frame_bytes(head: &[u8; FRAME_HEAD_BYTES], tag: u64) -> Option<usize> {
    let (rest, body_bytes) = head.split_last_chunk::<4>()?;
    let body_bytes = usize::try_from(u32::from_le_bytes(*body_bytes)).ok()?;
    rest.starts_with(&tag.to_le_bytes())
        .then(|| FRAME_HEAD_BYTES.checked_add(body_bytes))?
}

/// The number of the first block of a frame, and the ranges of its blocks; `None` if it is damaged.
pub(super) fn read_frame(frame: &[u8], tag: u64) -> Option<(u64, Vec<Range<usize>>)> {
    let mut decoder = Decoder::new(frame);
    let mut number = || Some(u64::from_le_bytes(decoder.array().ok()?));
    let (_tag, sum, first) = (number()?, number()?, number()?);
    if sum != checksum(tag, frame.get(UNCHECKED_BYTES..)?) {
        return None;
    }
    let mut number = || usize::try_from(u32::from_le_bytes(decoder.array().ok()?)).ok();
    let (blocks, _body_bytes) = (number()?, number()?);
    let mut start = FRAME_HEAD_BYTES.checked_add(blocks.checked_mul(4)?)?;
    let lengths = frame.get(FRAME_HEAD_BYTES..start)?.as_chunks::<4>().0;
    let mut places = Vec::with_capacity(blocks);
    for length in lengths {
        let end = start.checked_add(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
        places.push(start..end);
        start = end;
    }
    (start == frame.len()).then_some((first, places))
}

/// Appends a frame of `blocks`, numbered from `first`, and fills its last sector; returns the range of each block in `out`. The
/// sum of all lengths fits 32 bits.
pub(super) fn write_frame(
    out: &mut Vec<u8>,
    tag: u64,
    first: u64,
    blocks: &[&[u8]],
) -> Vec<Range<usize>> {
    let start = out.len();
    let body_bytes = blocks.iter().map(|block| 4 + block.len()).sum::<usize>();
    out.extend_from_slice(&tag.to_le_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&first.to_le_bytes());
    let lengths = blocks.iter().map(|block| block.len());
    for length in [blocks.len(), body_bytes].into_iter().chain(lengths) {
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        out.extend_from_slice(&length.to_le_bytes());
    }
    let mut places = Vec::with_capacity(blocks.len());
    for block in blocks {
        let from = out.len();
        out.extend_from_slice(block);
        places.push(from..out.len());
    }
    let sum = checksum(tag, out.get(start + UNCHECKED_BYTES..).unwrap_or_default());
    if let Some(place) = out.get_mut(start + 8..start + UNCHECKED_BYTES) {
        place.copy_from_slice(&sum.to_le_bytes());
    }
    align(out);
    places
}

pub(super) fn checksum(seed: u64, bytes: &[u8]) -> u64 {
    Hasher::oneshot_with_seed(seed, bytes)
}

fn align(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(SECTOR), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        log: 7,
        segment: 3,
        acknowledged: 40,
        bytes: 2048,
    };

    #[test]
    fn header_reads_as_written_and_none_of_its_bytes_may_differ() {
        let mut written = Vec::new();
        HEADER.write(&mut written);
        assert_eq!(written.len() as u64, ALIGN);
        let header: &[u8; HEADER_BYTES] = written.first_chunk().unwrap();
        assert_eq!(Header::read(header), Some(HEADER));
        for place in 0..HEADER_BYTES {
            let mut damaged = *header;
            damaged[place] ^= 1;
            assert_eq!(Header::read(&damaged), None, "{place}");
        }
    }

    #[test]
    fn frame_reads_as_written_and_none_of_its_bytes_may_differ() {
        let tag = HEADER.tag();
        let blocks: [&[u8]; 3] = [b"one", b"", b"three"];
        let mut written = vec![0; 512];
        let places = write_frame(&mut written, tag, 41, &blocks);
        let read_back: Vec<_> = places.iter().map(|place| &written[place.clone()]).collect();
        assert_eq!(read_back, blocks);
        assert_eq!(written.len(), 1024);
        let head = written[512..].first_chunk().unwrap();
        let bytes = frame_bytes(head, tag).unwrap();
        assert_eq!(bytes, 32 + 3 * 4 + 8);
        assert_eq!(frame_bytes(head, tag + 1), None);
        let frame = &written[512..512 + bytes];
        let (first, places) = read_frame(frame, tag).unwrap();
        let found: Vec<_> = places.into_iter().map(|place| &frame[place]).collect();
        assert_eq!((first, found), (41, blocks.to_vec()));
        for place in 8..bytes {
            let mut damaged = frame.to_vec();
            damaged[place] ^= 0x80;
            assert_eq!(read_frame(&damaged, tag), None, "{place}");
        }
        for length in 0..bytes {
            assert_eq!(read_frame(&frame[..length], tag), None, "{length}");
        }
    }
}
