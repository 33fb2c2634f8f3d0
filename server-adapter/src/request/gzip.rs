//! Decoding gzip (RFC 1952) in pieces as a body arrives, and no further than needed.

use std::io::{self, BufRead, ErrorKind, Read};

use bytes::{Buf as _, Bytes};
use flate2::bufread::GzDecoder;

/// The memory for decoding, in bytes, rounded up: deflate's window and tables, a head, and one decoded piece.
pub(crate) const STATE_BYTES: usize = 64 * 1024;
/// Most bytes of a decoded piece.
const PIECE_BYTES: usize = 16 * 1024;
/// Bytes of a member's head, which the decoder keeps. That of a member has 10 bytes and often a file name.
const HEAD_BYTES_MAX: usize = 4 * 1024;
/// Members in one body. Beginning one costs more than its least 20 bytes should; tools that write many write 64 KiB each.
const MEMBERS_MAX: u16 = 1024;
/// The first byte of every member.
const FIRST_BYTE: u8 = 0x1f;

/// Why a body cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It decodes to more than the limit.
    TooLong,
    /// It is no gzip, or damaged; a sentence for the sender.
    Broken(&'static str),
}

/// The received part of a body that is not decoded yet. More may come, so reading at its end would block.
#[derive(Debug, Default)]
struct Arrived(Bytes);

impl Read for Arrived {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Arrived {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.0.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(&self.0)
    }

    fn consume(&mut self, bytes: usize) {
        self.0.advance(bytes);
    }
}

/// A gzip body that is arriving.
#[derive(Debug)]
pub(crate) struct Gunzip {
    /// Decodes one member.
    decoder: GzDecoder<Arrived>,
    /// Whether a member has begun and not ended.
    in_member: bool,
    members: u16,
    /// Bytes of the head of this member that were read.
    head_bytes: usize,
    piece: Box<[u8]>,
    /// Bytes that may still be decoded.
    left: usize,
}

impl Gunzip {
    /// Decodes at most `decoded_max` bytes; one more is a fault.
    pub(crate) fn new(decoded_max: usize) -> Self {
        Self {
            decoder: GzDecoder::new(Arrived::default()),
            in_member: false,
            members: 0,
            head_bytes: 0,
            piece: vec![0; PIECE_BYTES.min(decoded_max.saturating_add(1))].into(),
            left: decoded_max,
        }
    }

    /// Takes the next bytes of the body, once [`Self::next`] has returned `None` for those before.
    pub(crate) fn push(&mut self, arrived: Bytes) {
        self.decoder.get_mut().0 = arrived;
    }

    /// The next decoded piece; `None` when more of the body has to arrive first.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Fault> {
        loop {
            let arrived = self.decoder.get_ref().0.len();
            if !self.in_member {
                if arrived == 0 {
                    return Ok(None);
                }
                self.begin_member()?;
            }
            // It never decodes more than one byte above the limit.
            let room = self.piece.len().min(self.left.saturating_add(1));
            let piece = self.piece.get_mut(..room).unwrap_or_default();
            let read = self.decoder.read(piece);
            if self.decoder.header().is_none() {
                self.head_bytes += arrived - self.decoder.get_ref().0.len();
                if self.head_bytes > HEAD_BYTES_MAX {
                    return Err(Fault::Broken("The head of the gzip body is too long."));
                }
            }
            match read {
                Ok(0) => self.in_member = false,
                Ok(written) => {
                    self.left = self.left.checked_sub(written).ok_or(Fault::TooLong)?;
                    return Ok(self.piece.get(..written));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(_) if self.decoder.header().is_none() => return Err(self.no_member()),
                Err(_) => return Err(Fault::Broken("The gzip body is damaged.")),
            }
        }
    }

    /// Checks that the body ended at the end of a member. A body of no bytes is a body of no bytes.
    pub(crate) fn finish(&self) -> Result<(), Fault> {
        if self.in_member {
            return Err(Fault::Broken("The gzip body ends before its end."));
        }
        Ok(())
    }

    fn begin_member(&mut self) -> Result<(), Fault> {
        let arrived = std::mem::take(self.decoder.get_mut());
        if arrived.0.first() != Some(&FIRST_BYTE) {
            return Err(self.no_member());
        }
        if self.members == MEMBERS_MAX {
            return Err(Fault::Broken("The gzip body has more than 1024 members."));
        }
        self.members += 1;
        self.head_bytes = 0;
        self.in_member = true;
        if self.members > 1 {
            self.decoder.reset(arrived);
        } else {
            *self.decoder.get_mut() = arrived;
        }
        Ok(())
    }

    /// The error about bytes in place of the head of a member.
    fn no_member(&self) -> Fault {
        Fault::Broken(if self.members > u16::from(self.in_member) {
            "After the end of the gzip body comes something else."
        } else {
            "The body is not gzip, though its Content-Encoding says so."
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, Crc, GzBuilder, write::GzEncoder};

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
        for piece in body.chunks(piece) {
            gunzip.push(Bytes::copy_from_slice(piece));
            while let Some(piece) = gunzip.next()? {
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
        // The flags of a CRC of the head and of an extra field.
        head[3] = 1 << 1 | 1 << 2;
        head.extend([0, 0]);
        let mut crc = Crc::new();
        crc.update(&head);
        head.extend(&crc.sum().to_le_bytes()[..2]);
        let body = [&head, &plain[10..]].concat();
        assert_eq!(unzip(&body, 3, 100), Ok(b"{}".to_vec()));
        let mut damaged = body;
        damaged[12] ^= 1;
        assert!(matches!(unzip(&damaged, 3, 100), Err(Fault::Broken(_))));

        let name = vec![b'n'; HEAD_BYTES_MAX];
        let long = GzBuilder::new().filename(name);
        let mut encoder = long.write(Vec::new(), Compression::fast());
        encoder.write_all(b"{}").unwrap();
        let body = encoder.finish().unwrap();
        assert!(matches!(unzip(&body, 100, 100), Err(Fault::Broken(_))));
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
        gunzip.push(bomb.into());
        let mut decoded = 0;
        let fault = loop {
            match gunzip.next() {
                Ok(piece) => decoded += piece.unwrap().len(),
                Err(fault) => break fault,
            }
        };
        assert_eq!((fault, decoded), (Fault::TooLong, 65_536));
        assert_eq!(gunzip.left, 0);
    }
}
