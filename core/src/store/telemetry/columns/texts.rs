//! A column of texts: each text once, and which one stands where.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::model::FieldSpec;
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::telemetry::texts::Texts as Numbered;

use super::head::{Head, Part, Presence, VALUE};
use super::integers::{self, IntegerWriter};

/// Different texts that are looked through one by one.
const FEW: usize = 8;

/// Collects the texts of a column.
#[derive(Debug)]
pub(super) struct TextWriter<'r> {
    texts: &'r Numbered,
    /// The number of the text before.
    before: Option<u32>,
    /// Its place in the dictionary.
    at: usize,
    dictionary: Vec<&'r str>,
    /// Places in the dictionary, by text, once there are many.
    places: BTreeMap<&'r str, usize>,
    column: Vec<i64>,
}

impl<'r> TextWriter<'r> {
    pub(super) fn new(texts: &'r Numbered, count: usize) -> Self {
        Self {
            texts,
            before: None,
            at: 0,
            dictionary: Vec::new(),
            places: BTreeMap::new(),
            column: Vec::with_capacity(count),
        }
    }

    pub(super) fn push(&mut self, number: u32) {
        // Nearly always the text of the record before.
        if self.before != Some(number) {
            self.before = Some(number);
            self.at = self.place(self.texts.text(number));
        }
        self.column.push(i64::try_from(self.at).unwrap_or(i64::MAX));
    }

    /// The place of a text in the dictionary, a new one if need be.
    fn place(&mut self, text: &'r str) -> usize {
        let next = self.dictionary.len();
        let place = if next < FEW {
            let mut before = self.dictionary.iter();
            before.position(|before| *before == text).unwrap_or(next)
        } else {
            if next == FEW && self.places.is_empty() {
                self.places = self.dictionary.iter().copied().zip(0..).collect();
            }
            *self.places.entry(text).or_insert(next)
        };
        if place == next {
            self.dictionary.push(text);
        }
        place
    }

    /// Appends the column; how many texts it has is known to who reads.
    pub(super) fn write(&self, out: &mut Encoder, integers: &mut IntegerWriter) {
        if self.column.is_empty() {
            return;
        }
        out.count(self.dictionary.len());
        for text in &self.dictionary {
            out.text(text);
        }
        if self.dictionary.len() > 1 {
            integers.write(out, &self.column);
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

    /// The different texts.
    pub(super) fn dictionary(&self) -> &[&'a str] {
        &self.dictionary
    }

    /// The numbers of the texts in the dictionary.
    pub(super) fn numbers(&self, texts: &mut Numbered) -> Vec<u32> {
        let texts = self.dictionary.iter().map(|text| texts.intern(text));
        texts.collect()
    }

    /// The place in the dictionary of a text.
    pub(super) fn place(&self, index: usize) -> Result<usize> {
        match self.column.get(index) {
            Some(place) => usize::try_from(*place).map_err(|_| damaged()),
            None => Ok(0),
        }
    }

    pub(super) fn get(&self, index: usize) -> Result<&'a str> {
        let text = self.dictionary.get(self.place(index)?);
        text.copied().ok_or_else(damaged)
    }
}

/// Passes over the columns of texts of a table of `rows` rows.
pub(super) fn skip_columns(
    decoder: &mut Decoder<'_>,
    specs: &[FieldSpec],
    rows: usize,
) -> Result<()> {
    for _ in specs.iter().filter(|spec| Part::Texts.holds(spec)) {
        let count = match Head::read(decoder)?.presence {
            Presence::Alike(VALUE) => rows,
            Presence::Alike(_) => 0,
            Presence::Mixed => {
                let marks = integers::read(decoder, rows)?;
                marks.iter().filter(|mark| **mark == VALUE).count()
            }
        };
        if count == 0 {
            continue;
        }
        let distinct = decoder.count()?;
        for _ in 0..distinct {
            let length = decoder.count()?;
            decoder.raw(length)?;
        }
        if distinct > 1 {
            integers::read(decoder, count)?;
        }
    }
    Ok(())
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
            (0..20).map(|at| &"aaaaaaaaaaaaaaaaaaaa"[at..]).collect(),
        ] {
            let mut out = Encoder::default();
            let mut numbered = Numbered::default();
            let numbers: Vec<_> = texts.iter().map(|text| numbered.intern(text)).collect();
            let mut writer = TextWriter::new(&numbered, numbers.len());
            for number in numbers {
                writer.push(number);
            }
            writer.write(&mut out, &mut IntegerWriter::default());
            let bytes = out.finish();
            assert!(bytes.len() < 64 || texts.len() == 20);
            let mut decoder = Decoder::new(&bytes);
            let read = Texts::read(&mut decoder, texts.len()).unwrap();
            decoder.end().unwrap();
            let read: Vec<_> = (0..texts.len()).map(|at| read.get(at).unwrap()).collect();
            assert_eq!(read, texts);
        }
    }
}
