//! Undoing gzip (RFC 1952) piece by piece as a body arrives, into no more bytes than are wanted.

use flate2::{Crc, Decompress, FlushDecompress, Status};

/// What decoding takes in memory beside the decoded bytes, in bytes, rounded up: deflate's window and tables.
pub(crate) const STATE_BYTES: usize = 48 * 1024;
/// Members in one body. Beginning one costs more than its least 20 bytes should; tools that write many write 64 KiB each.
const MEMBERS_MAX: u16 = 1024;
/// Where the room for decoded bytes begins; it doubles from there.
const FIRST_ROOM: usize = 2048;

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
    /// So many bytes of the extra field.
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
    decoded: Vec<u8>,
    decoded_max: usize,
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
            decoded: Vec::new(),
            decoded_max,
        }
    }

    /// Takes the next bytes of the body.
    pub(crate) fn push(&mut self, mut input: &[u8]) -> Result<(), Fault> {
        loop {
            if self.part == Part::Deflated {
                input = self.inflate(input)?;
                if self.part == Part::Deflated {
                    return Ok(());
                }
            }
            let Some((byte, rest)) = input.split_first() else {
                return Ok(());
            };
            self.frame(*byte)?;
            input = rest;
        }
    }

    /// The decoded bytes, at the end of the body. A body of no bytes is a body of no bytes.
    pub(crate) fn finish(self) -> Result<Vec<u8>, Fault> {
        if self.part == Part::Fixed(0) {
            Ok(self.decoded)
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
            // Not framing: `push` hands these bytes on.
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

    /// Byte `at` of a number of so many bytes; whether it is the last.
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

    /// Inflates what it can, and gives back what is left behind the deflated part.
    fn inflate<'i>(&mut self, mut input: &'i [u8]) -> Result<&'i [u8], Fault> {
        const BROKEN: Fault = Fault::Broken("The gzip body is damaged: it cannot be inflated.");
        loop {
            self.make_room();
            let (read, written) = (self.inflate.total_in(), self.decoded.len());
            let status = self
                .inflate
                .decompress_vec(input, &mut self.decoded, FlushDecompress::None)
                .map_err(|_| BROKEN)?;
            let read = usize::try_from(self.inflate.total_in() - read).map_err(|_| BROKEN)?;
            let fresh = self.decoded.get(written..).unwrap_or_default();
            self.crc.update(fresh);
            if self.decoded.len() > self.decoded_max {
                return Err(Fault::TooLong);
            }
            let idle = read == 0 && fresh.is_empty();
            input = input.get(read..).unwrap_or_default();
            match status {
                Status::StreamEnd => {
                    self.part = Part::Trailer(0);
                    return Ok(input);
                }
                // More may be ready than there was room for, even when all input is taken.
                Status::Ok | Status::BufError if self.is_full() => {}
                Status::Ok | Status::BufError if input.is_empty() => return Ok(input),
                Status::Ok | Status::BufError if idle => return Err(BROKEN),
                Status::Ok | Status::BufError => {}
            }
        }
    }

    fn is_full(&self) -> bool {
        self.decoded.len() == self.decoded.capacity()
    }

    /// Makes room for at least one byte more, and never for more than one byte too many.
    fn make_room(&mut self) {
        if self.is_full() {
            let wanted = self.decoded.len().saturating_mul(2).max(FIRST_ROOM);
            let wanted = wanted.min(self.decoded_max.saturating_add(1));
            let more = wanted.saturating_sub(self.decoded.len()).max(1);
            self.decoded.reserve_exact(more);
        }
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

    /// Decodes in pieces of so many bytes.
    fn unzip(body: &[u8], piece: usize, max: usize) -> Result<Vec<u8>, Fault> {
        let mut gunzip = Gunzip::new(max);
        for piece in body.chunks(piece) {
            gunzip.push(piece)?;
        }
        gunzip.finish()
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
        assert_eq!(gunzip.push(&bomb), Err(Fault::TooLong));
        assert_eq!(gunzip.decoded.capacity(), 65_537);
        assert_eq!(gunzip.inflate.total_out(), 65_537);
    }
}
