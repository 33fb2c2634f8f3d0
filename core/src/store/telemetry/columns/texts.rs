//! A column of texts: each text once, and which one stands where.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder, damaged};

use super::integers;

/// Collects the texts of a column.
#[derive(Debug, Default)]
pub(super) struct TextWriter<'r> {
    dictionary: Vec<Cow<'r, str>>,
    /// Places in the dictionary, by text.
    places: BTreeMap<Cow<'r, str>, i64>,
    column: Vec<i64>,
    /// The place of the text before.
    before: usize,
}

impl<'r> TextWriter<'r> {
    pub(super) fn push(&mut self, text: Cow<'r, str>) {
        // Nearly always the text of the record before.
        if self.dictionary.get(self.before) != Some(&text) {
            let next = i64::try_from(self.dictionary.len()).unwrap_or(i64::MAX);
            let place = *self.places.entry(text.clone()).or_insert(next);
            if place == next {
                self.dictionary.push(text);
            }
            self.before = usize::try_from(place).unwrap_or(usize::MAX);
        }
        self.column
            .push(i64::try_from(self.before).unwrap_or(i64::MAX));
    }

    /// Appends the column; how many texts it has is known to who reads.
    pub(super) fn write(&self, out: &mut Encoder) {
        if self.column.is_empty() {
            return;
        }
        out.count(self.dictionary.len());
        for text in &self.dictionary {
            out.text(text);
        }
        if self.dictionary.len() > 1 {
            integers::write(out, &self.column);
        }
    }
}

/// Texts of a column, by the records that have one.
#[derive(Debug)]
pub(super) struct Texts<'a> {
    dictionary: Vec<&'a str>,
    /// Places in the dictionary; empty when there is but one.
    column: Vec<i64>,
}

impl<'a> Texts<'a> {
    /// Takes `count` texts that a [`TextWriter`] wrote.
    pub(super) fn read(decoder: &mut Decoder<'a>, count: usize) -> Result<Self> {
        let distinct = if count == 0 { 0 } else { decoder.count()? };
        if distinct > count || (distinct == 0 && count > 0) {
            return Err(damaged());
        }
        let texts = (0..distinct).map(|_| decoder.text());
        let dictionary = texts.collect::<Result<Vec<_>>>()?;
        let column = if distinct > 1 {
            integers::read(decoder, count)?
        } else {
            Vec::new()
        };
        Ok(Self { dictionary, column })
    }

    pub(super) fn get(&self, index: usize) -> Result<&'a str> {
        let place = match self.column.get(index) {
            Some(place) => usize::try_from(*place).map_err(|_| damaged())?,
            None => 0,
        };
        self.dictionary.get(place).copied().ok_or_else(damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_survive_and_repetitions_are_short() {
        for texts in [
            vec![],
            vec![""],
            vec!["a", "a", "b", "", "a", "ü"],
            ["anna", "john"].repeat(100),
        ] {
            let mut out = Encoder::default();
            let mut writer = TextWriter::default();
            for text in &texts {
                writer.push(Cow::Borrowed(text));
            }
            writer.write(&mut out);
            let bytes = out.finish();
            assert!(bytes.len() < 64);
            let mut decoder = Decoder::new(&bytes);
            let read = Texts::read(&mut decoder, texts.len()).unwrap();
            decoder.end().unwrap();
            let read: Vec<_> = (0..texts.len()).map(|at| read.get(at).unwrap()).collect();
            assert_eq!(read, texts);
        }
    }
}
