//! The byte forms that all tables share: varints, strings, optional values. `core/docs/format.md` describes them.

use crate::error::{EngineError, ErrorKind, Result};
use crate::timestamp::Timestamp;

/// Appends values to a buffer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Encoder(Vec<u8>);

impl Encoder {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// What was written so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Clears the buffer and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Appends the contents of `other`, and leaves it empty.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }

    /// Overwrites the bytes at `place`.
    pub(crate) fn overwrite(&mut self, place: usize, bytes: &[u8]) {
        if let Some(old) = self.0.get_mut(place..place + bytes.len()) {
            old.copy_from_slice(bytes);
        }
    }

    /// Base 128, low group first, as in Protocol Buffers.
    #[inline]
    pub(crate) fn varint(&mut self, value: u64) {
        if let Ok(byte @ ..0x80) = u8::try_from(value) {
            self.0.push(byte);
        } else if value >> 56 == 0 {
            // Each half is shifted by the bits between its groups: four, then two, then one.
            let groups = value & 0x0fff_ffff | (value & 0x00ff_ffff_f000_0000) << 4;
            let groups = groups & 0x0000_3fff_0000_3fff | (groups & 0x0fff_c000_0fff_c000) << 2;
            let groups = groups & 0x007f_007f_007f_007f | (groups & 0x3f80_3f80_3f80_3f80) << 1;
            let unused = groups.leading_zeros() / 8;
            let more = 0x0080_8080_8080_8080 >> (8 * unused);
            // It writes eight bytes and removes the surplus: a length that the compiler knows needs no call.
            self.raw(&(groups | more).to_le_bytes());
            self.0.truncate(self.0.len() - unused as usize);
        } else {
            self.long_varint(value);
        }
    }

    #[cold]
    fn long_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.u8(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.u8(value.to_le_bytes()[0]);
    }

    pub(crate) fn count(&mut self, value: usize) {
        self.varint(value as u64);
    }

    /// [`zigzag`], then [`Self::varint`]: small values of either sign are short.
    pub(crate) fn signed(&mut self, value: i64) {
        self.varint(zigzag(value));
    }

    /// The index of `value` in `all`, as one byte.
    pub(crate) fn variant<T: PartialEq>(&mut self, all: &[T], value: &T) {
        let place = all.iter().position(|each| each == value);
        self.u8(place
            .and_then(|at| u8::try_from(at).ok())
            .unwrap_or(u8::MAX));
    }

    pub(crate) fn time(&mut self, value: Timestamp) {
        self.signed(value.ticks());
    }

    pub(crate) fn text(&mut self, value: &str) {
        self.count(value.len());
        self.raw(value.as_bytes());
    }

    /// A leading byte, 0 or 1, then the value when there is one.
    pub(crate) fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        match value {
            None => self.u8(0),
            Some(value) => {
                self.u8(1);
                write(self, value);
            }
        }
    }

    pub(crate) fn option_text(&mut self, value: Option<&str>) {
        self.option(value, Self::text);
    }

    pub(crate) fn option_time(&mut self, value: Option<Timestamp>) {
        self.option(value, Self::time);
    }
}

/// Takes values off the front of a slice; every method refuses what an [`Encoder`] cannot have written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of bytes left.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes left.
    pub(crate) fn remaining(&self) -> &'a [u8] {
        self.0
    }

    /// Refuses bytes that are left over.
    pub(crate) fn finish(&self) -> Result<()> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(damaged())
        }
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        let (first, rest) = self.0.split_first().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(*first)
    }

    pub(crate) fn raw(&mut self, length: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(*head)
    }

    pub(crate) fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            let group = u64::from(byte & 0x7f);
            if group << shift >> shift != group {
                return Err(damaged());
            }
            value |= group << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(damaged())
    }

    /// A count of things that take at least one byte each, so never more than the bytes left.
    pub(crate) fn count(&mut self) -> Result<usize> {
        let count = usize::try_from(self.varint()?).map_err(|_| damaged())?;
        if count > self.0.len() {
            return Err(damaged());
        }
        Ok(count)
    }

    pub(crate) fn signed(&mut self) -> Result<i64> {
        Ok(unzigzag(self.varint()?))
    }

    /// Reads the index of a value in `all`; returns the value.
    pub(crate) fn variant<T: Copy>(&mut self, all: &[T]) -> Result<T> {
        let place = usize::from(self.u8()?);
        all.get(place).copied().ok_or_else(damaged)
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp> {
        Ok(Timestamp::from_ticks(self.signed()?))
    }

    pub(crate) fn text(&mut self) -> Result<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.raw(length)?).map_err(|_| damaged())
    }

    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Option<T>> {
        match self.u8()? {
            0 => Ok(None),
            1 => read(self).map(Some),
            _ => Err(damaged()),
        }
    }

    pub(crate) fn option_text(&mut self) -> Result<Option<&'a str>> {
        self.option(Self::text)
    }

    pub(crate) fn option_time(&mut self) -> Result<Option<Timestamp>> {
        self.option(Self::time)
    }
}

/// 0, -1, 1, -2, … as 0, 1, 2, 3, …
pub(crate) fn zigzag(value: i64) -> u64 {
    (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned()
}

/// The inverse of [`zigzag`].
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

/// The error for bytes that no version of this format wrote.
pub(crate) fn damaged() -> EngineError {
    EngineError::new(
        ErrorKind::Corrupted,
        "a stored value cannot be read: the file is damaged: restore a backup",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_survive_at_every_width() {
        for shift in 0..64 {
            for value in [1_u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut encoder = Encoder::default();
                encoder.varint(value);
                encoder.signed(value.cast_signed());
                encoder.signed(value.cast_signed().wrapping_neg());
                let bytes = encoder.finish();
                let mut decoder = Decoder::new(&bytes);
                assert_eq!(decoder.varint().unwrap(), value);
                assert_eq!(decoder.signed().unwrap(), value.cast_signed());
                assert_eq!(
                    decoder.signed().unwrap(),
                    value.cast_signed().wrapping_neg()
                );
                decoder.finish().unwrap();
            }
        }
    }

    #[test]
    fn damaged_bytes_are_refused() {
        assert!(Decoder::new(&[0xff; 9]).varint().is_err());
        assert!(Decoder::new(&[0xff; 11]).varint().is_err());
        assert!(Decoder::new(&[5, b'a']).text().is_err());
        assert!(Decoder::new(&[1, 0xff]).text().is_err());
        assert!(Decoder::new(&[2]).option_text().is_err());
        assert!(Decoder::new(&[]).u8().is_err());
        assert!(Decoder::new(&[0]).finish().is_err());
    }
}
