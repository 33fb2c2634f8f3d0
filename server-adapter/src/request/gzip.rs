//! Undoing gzip (RFC 1952) piece by piece as a body arrives, and no further than bytes are wanted.

use flate2::{Crc, Decompress, FlushDecompress, Status};

/// What decoding takes in memory, in bytes, rounded up: deflate's window and tables, and one decoded piece.
pub(crate) const STATE_BYTES: usize = 64 * 1024;
/// Most bytes of a decoded piece.
const PIECE_BYTES: usize = 16 * 1024;
/// Members in one body. Beginning one costs more than its least 20 bytes should; tools that write many write 64 KiB each.
const MEMBERS_MAX: u16 = 1024;

const HEAD_CRC: u8 = 1 << 1;
const EXTRA: u8 = 1 << 2;
const NAME: u8 = 1 << 3;
const COMMENT: u8 = 1 << 4;
/// Flags that have no meaning; RFC 1952 wants a body that sets one refused.
const RESERVED: u8 = 0b1110_0000;

/// Why a body cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// There is more than is wanted.
    TooLong,
    /// It is no gzip, or damaged; a sentence for the sender.
    Broken(&'static str),
}

/// The part of a member that the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The ten bytes that every member begins with, from the one at this place. At 0 the body may also end.
    Fixed(u8),
    /// The length of the extra field: two bytes.
    ExtraLength(u8),
    /// The bytes of the extra field that are left.
    Extra(u64),
    /// A file name or a comment, up to a zero.
    Text,
    /// Two bytes to check the head by.
    HeadCrc(u8),
    Deflated,
    /// CRC and length of what was decoded: eight bytes.
    Trailer(u8),
}

/// A gzip body on its way in.
#[derive(Debug)]
pub(crate) struct Gunzip {
    inflate: Decompress,
    part: Part,
    /// Of the head: what of it is still to come.
    flags: u8,
    /// The number that is being read, lowest byte first.
    number: u64,
    /// Over the head, then over the decoded bytes of this member.
    crc: Crc,
    members: u16,
    piece: Box<[u8]>,
    /// Bytes that may still be decoded.
    left: usize,
}

impl Gunzip {
    /// Decodes at most `decoded_max` bytes; one more is a fault.
    pub(crate) fn new(decoded_max: usize) -> Self {
        Self {
            inflate: Decompress::new(false),
            part: Part::Fixed(0),
            flags: 0,
            number: 0,
            crc: Crc::new(),
            members: 0,
            piece: vec![0; PIECE_BYTES.min(decoded_max.saturating_add(1))].into(),
            left: decoded_max,
        }
    }

    /// The next bytes of the body, decoded, a piece at a time: as long as there are some, `input` is to be handed back as it
    /// was left, also when nothing of it is left.
    pub(crate) fn next(&mut self, input: &mut &[u8]) -> Result<Option<&[u8]>, Fault> {
        loop {
            if self.part == Part::Deflated {
                let written = self.inflate(input)?;
                if written > 0 {
                    return Ok(self.piece.get(..written));
                }
            }
            let Some((byte, rest)) = input.split_first() else {
                return Ok(None);
            };
            if self.part != Part::Deflated {
                self.frame(*byte)?;
                *input = rest;
            }
        }
    }

    /// To be asked at the end of the body. A body of no bytes is a body of no bytes.
    pub(crate) fn finish(&self) -> Result<(), Fault> {
        if self.part == Part::Fixed(0) {
            Ok(())
        } else {
            Err(Fault::Broken("The gzip body ends before its end."))
        }
    }

    /// One byte of a head or a trailer.
    fn frame(&mut self, byte: u8) -> Result<(), Fault> {
        match self.part {
            Part::Fixed(at) => self.fixed(at, byte)?,
            Part::ExtraLength(at) => {
                self.head_byte(byte);
                if self.number_byte(at, byte, 2) {
                    self.part = Part::Extra(self.number);
                    if self.number == 0 {
                        self.next_part();
                    }
                } else {
                    self.part = Part::ExtraLength(at + 1);
                }
            }
            Part::Extra(left) => {
                self.head_byte(byte);
                self.part = Part::Extra(left - 1);
                if left == 1 {
                    self.next_part();
                }
            }
            Part::Text => {
                self.head_byte(byte);
                if byte == 0 {
                    self.next_part();
                }
            }
            Part::HeadCrc(at) => {
                self.part = Part::HeadCrc(at + 1);
                if self.number_byte(at, byte, 2) {
                    if self.number != u64::from(self.crc.sum() & 0xffff) {
                        return Err(Fault::Broken("The head of the gzip body is damaged."));
                    }
                    self.next_part();
                }
            }
            // Not framing: `next` hands these bytes on.
            Part::Deflated => {}
            Part::Trailer(at) => {
                self.part = Part::Trailer(at + 1);
                if self.number_byte(at, byte, 8) {
                    let expected = u64::from(self.crc.amount()) << 32 | u64::from(self.crc.sum());
                    if self.number != expected {
                        return Err(Fault::Broken(
                            "The gzip body is damaged: its checksum or its length is wrong.",
                        ));
                    }
                    self.part = Part::Fixed(0);
                }
            }
        }
        Ok(())
    }

    fn fixed(&mut self, at: u8, byte: u8) -> Result<(), Fault> {
        match (at, byte) {
            (0, 0x1f) => {
                self.members += 1;
                if self.members > MEMBERS_MAX {
                    return Err(Fault::Broken("The gzip body has more than 1024 members."));
                }
                self.crc.reset();
            }
            (1, 0x8b) | (2, 8) | (4..=9, _) => {}
            (3, flags) if flags & RESERVED == 0 => self.flags = flags,
            (0 | 1, _) if self.members > 1 || (at == 0 && self.members == 1) => {
                return Err(Fault::Broken(
                    "After the end of the gzip body comes something else.",
                ));
            }
            _ => {
                return Err(Fault::Broken(
                    "The body is not gzip, though its Content-Encoding says so.",
                ));
            }
        }
        self.head_byte(byte);
        self.part = Part::Fixed(at + 1);
        if at == 9 {
            self.next_part();
        }
        Ok(())
    }

    fn head_byte(&mut self, byte: u8) {
        self.crc.update(&[byte]);
    }

    /// Byte `at` of a number of `bytes` bytes; returns whether it is the last.
    fn number_byte(&mut self, at: u8, byte: u8, bytes: u8) -> bool {
        if at == 0 {
            self.number = 0;
        }
        self.number |= u64::from(byte) << (8 * u32::from(at));
        at + 1 == bytes
    }

    /// Goes on to what the flags say comes next.
    fn next_part(&mut self) {
        for (flag, part) in [
            (EXTRA, Part::ExtraLength(0)),
            (NAME, Part::Text),
            (COMMENT, Part::Text),
            (HEAD_CRC, Part::HeadCrc(0)),
        ] {
            if self.flags & flag != 0 {
                self.flags &= !flag;
                self.part = part;
                return;
            }
        }
        self.crc.reset();
        if self.members > 1 {
            self.inflate.reset(false);
        }
        self.part = Part::Deflated;
    }

    /// Inflates one piece and takes from `input` what that needs; returns its length. At 0 nothing is ready that is not
    /// behind the rest of the input.
    fn inflate(&mut self, input: &mut &[u8]) -> Result<usize, Fault> {
        const BROKEN: Fault = Fault::Broken("The gzip body is damaged: it cannot be inflated.");
        // Never for more than one byte too many.
        let room = self.piece.len().min(self.left.saturating_add(1));
        let piece = self.piece.get_mut(..room).unwrap_or_default();
        let (before_in, before_out) = (self.inflate.total_in(), self.inflate.total_out());
        let status = self
            .inflate
            .decompress(input, piece, FlushDecompress::None)
            .map_err(|_| BROKEN)?;
        let moved = |before: u64, now: u64| usize::try_from(now - before).map_err(|_| BROKEN);
        let read = moved(before_in, self.inflate.total_in())?;
        let written = moved(before_out, self.inflate.total_out())?;
        self.crc.update(piece.get(..written).unwrap_or_default());
        self.left = self.left.checked_sub(written).ok_or(Fault::TooLong)?;
        let idle = read == 0 && written == 0 && !input.is_empty();
        *input = input.get(read..).unwrap_or_default();
        match status {
            Status::StreamEnd => self.part = Part::Trailer(0),
            Status::Ok | Status::BufError if idle => return Err(BROKEN),
            Status::Ok | Status::BufError => {}
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, GzBuilder, write::GzEncoder};

    use super::*;

    fn zip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Decodes in pieces of `piece` bytes.
    fn unzip(body: &[u8], piece: usize, max: usize) -> Result<Vec<u8>, Fault> {
        let mut gunzip = Gunzip::new(max);
        let mut decoded = Vec::new();
        for mut piece in body.chunks(piece) {
            while let Some(piece) = gunzip.next(&mut piece)? {
                decoded.extend_from_slice(piece);
            }
        }
        gunzip.finish().map(|()| decoded)
    }

    fn text() -> Vec<u8> {
        let lines = (0_u32..900).map(|n| format!("{{\"id\":{}}}\n", n.wrapping_mul(2_654_435_761)));
        lines.collect::<String>().into_bytes()
    }

    #[test]
    fn whole_in_pieces_and_to_the_last_byte_of_the_limit() {
        let text = text();
        let body = zip(&text);
        for piece in [1, 2, 7, 1000, body.len()] {
            assert_eq!(unzip(&body, piece, text.len()).as_ref(), Ok(&text));
            assert_eq!(unzip(&body, piece, text.len() - 1), Err(Fault::TooLong));
        }
        assert_eq!(unzip(&zip(b""), 5, 0), Ok(Vec::new()));
        assert_eq!(unzip(b"", 5, 0), Ok(Vec::new()));
    }

    #[test]
    fn every_field_of_the_head_is_passed_over() {
        let mut encoder = GzBuilder::new()
            .filename("a.json")
            .comment("for you")
            .extra(vec![1, 2, 3])
            .mtime(7)
            .write(Vec::new(), Compression::fast());
        encoder.write_all(b"{}").unwrap();
        let body = encoder.finish().unwrap();
        assert_eq!(unzip(&body, 1, 100), Ok(b"{}".to_vec()));

        // With a CRC of the head, which the encoder does not write.
        let plain = zip(b"{}");
        let mut head = plain[..10].to_vec();
        head[3] = HEAD_CRC | EXTRA;
        head.extend([0, 0]);
        let mut crc = Crc::new();
        crc.update(&head);
        head.extend(&crc.sum().to_le_bytes()[..2]);
        let body = [&head, &plain[10..]].concat();
        assert_eq!(unzip(&body, 3, 100), Ok(b"{}".to_vec()));
        let mut damaged = body;
        damaged[12] ^= 1;
        assert!(matches!(unzip(&damaged, 3, 100), Err(Fault::Broken(_))));
    }

    #[test]
    fn members_are_joined_and_bounded() {
        let body = [zip(b"{\"id\""), zip(b""), zip(b":1}")].concat();
        for piece in [1, 20, body.len()] {
            assert_eq!(unzip(&body, piece, 8), Ok(b"{\"id\":1}".to_vec()));
            assert_eq!(unzip(&body, piece, 7), Err(Fault::TooLong));
        }
        let many = zip(b"").repeat(usize::from(MEMBERS_MAX));
        assert_eq!(unzip(&many, 4096, 0), Ok(Vec::new()));
        let more = [many, zip(b"")].concat();
        assert!(matches!(unzip(&more, 4096, 0), Err(Fault::Broken(_))));
    }

    #[test]
    fn every_cut_and_every_flipped_bit_that_matters_is_noticed() {
        let text = b"{\"instanceId\":\"ws-1\",\"username\":\"jdoe\"}";
        let body = zip(text);
        for end in 1..body.len() {
            let cut = unzip(&body[..end], 16, 1000);
            assert!(matches!(cut, Err(Fault::Broken(_))), "cut at {end}");
        }
        for bit in 0..body.len() * 8 {
            let mut damaged = body.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            // The bytes of a text can be written down in several ways.
            let other = unzip(&damaged, 16, 1000).is_ok_and(|found| found != text);
            assert!(!other, "bit {bit}");
        }
        for garbage in [&b"x"[..], b"\0", b"\x1f", b"\x1f\x00", b"\x1f\x8b\x08"] {
            let followed = [&body, garbage].concat();
            assert!(matches!(unzip(&followed, 64, 1000), Err(Fault::Broken(_))));
        }
    }

    #[test]
    fn a_bomb_is_inflated_no_further_than_one_byte_too_many() {
        let bomb = zip(&vec![b' '; 100_000_000]);
        let mut gunzip = Gunzip::new(65_536);
        let mut input = &bomb[..];
        let mut decoded = 0;
        let fault = loop {
            match gunzip.next(&mut input) {
                Ok(piece) => decoded += piece.unwrap().len(),
                Err(fault) => break fault,
            }
        };
        assert_eq!((fault, decoded), (Fault::TooLong, 65_536));
        assert_eq!(gunzip.inflate.total_out(), 65_537);
    }
}
