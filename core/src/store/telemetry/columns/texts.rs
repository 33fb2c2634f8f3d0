//! A column of texts: each text once, and which one stands where.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder, damaged};

use super::integers;

/// Appends `texts`; how many they are is known to who reads.
pub(super) fn write(out: &mut Encoder, texts: &[&str]) {
    let mut places: BTreeMap<&str, i64> = BTreeMap::new();
    let mut dictionary: Vec<&str> = Vec::new();
    let mut column = Vec::with_capacity(texts.len());
    let mut before: Option<(&str, i64)> = None;
    for text in texts.iter().copied() {
        // Nearly always the text of the record before.
        let place = match before {
            Some((same, place)) if same == text => place,
            _ => *places.entry(text).or_insert_with(|| {
                dictionary.push(text);
                i64::try_from(dictionary.len() - 1).unwrap_or(i64::MAX)
            }),
        };
        before = Some((text, place));
        column.push(place);
    }
    out.count(dictionary.len());
    for text in &dictionary {
        out.text(text);
    }
    if dictionary.len() > 1 {
        integers::write(out, &column);
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
    /// Takes `count` texts that [`write`] wrote.
    pub(super) fn read(decoder: &mut Decoder<'a>, count: usize) -> Result<Self> {
        let distinct = decoder.count()?;
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
            write(&mut out, &texts);
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
