//! Reading columns.

use crate::error::Result;
use crate::limits::{CHUNK_ITEMS_MAX, PROCESS_ITEMS_MAX};
use crate::model::{FieldKind, FieldSpec, ProcessItem};
use crate::store::codec::{Decoder, damaged};
use crate::store::telemetry::rows::{ABSENT, NULL, Rows, VALUE, items_bits};
use crate::timestamp::Timestamp;

use super::decimals::{Float, Scale};
use super::head::{Head, Relation};
use super::integers;

/// The columns of records, or of the process items in them.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    specs: &'static [FieldSpec],
    /// How many records or items.
    count: usize,
    /// As many as `specs`; `None` until it is read.
    read: Vec<Option<Column<'a>>>,
}

/// One field of all records.
#[derive(Debug, Default)]
pub(super) struct Column<'a> {
    /// Of all records; `None` when they differ.
    presence: Option<u64>,
    /// Then that of each record.
    marks: Vec<i64>,
    /// A value for each record that has one: its bits as in [`Rows`], but the place of a text in `texts` and the count of process
    /// items.
    values: Vec<i64>,
    /// The different texts.
    texts: Vec<&'a str>,
    /// The process items of all records.
    items: Option<Box<Columns<'a>>>,
}

impl<'a> Columns<'a> {
    /// Columns of `count` records, which the caller bounds: a column of equal values is short, however many they are.
    pub(super) fn new(specs: &'static [FieldSpec], count: usize) -> Self {
        Self {
            specs,
            count,
            read: specs.iter().map(|_| None).collect(),
        }
    }

    /// Reads the columns of text fields, which come first.
    pub(super) fn read_texts(&mut self, decoder: &mut Decoder<'a>) -> Result<()> {
        self.read_where(decoder, &[], |_, kind| kind == FieldKind::Text)
    }

    /// Reads the columns of the other fields up to the field at `last`. Times are stored relative to `filed`.
    pub(super) fn read_others(
        &mut self,
        decoder: &mut Decoder<'a>,
        filed: &[i64],
        last: usize,
    ) -> Result<()> {
        self.read_where(decoder, filed, |index, kind| {
            kind != FieldKind::Text && index <= last
        })
    }

    fn read_where(
        &mut self,
        decoder: &mut Decoder<'a>,
        filed: &[i64],
        is_wanted: impl Fn(usize, FieldKind) -> bool,
    ) -> Result<()> {
        for (index, spec) in self.specs.iter().enumerate() {
            if is_wanted(index, spec.kind) {
                let column = self.read_column(decoder, spec, filed)?;
                if let Some(place) = self.read.get_mut(index) {
                    *place = Some(column);
                }
            }
        }
        Ok(())
    }

    fn read_column(
        &self,
        decoder: &mut Decoder<'a>,
        spec: &FieldSpec,
        filed: &[i64],
    ) -> Result<Column<'a>> {
        let head = Head::read(decoder)?;
        let mut column = Column {
            presence: head.presence,
            ..Column::default()
        };
        if head.presence.is_none() {
            column.marks = integers::read(decoder, self.count)?;
        }
        let count = column.check_marks(spec, self.count)?;
        if spec.kind == FieldKind::Text {
            let texts = Column::of_texts(decoder, count)?;
            return Ok(Column {
                presence: column.presence,
                marks: column.marks,
                ..texts
            });
        }
        column.values = integers::read(decoder, count)?;
        match spec.kind {
            FieldKind::Int32 | FieldKind::Int64 => {
                if let Some(relation) = head.relation {
                    self.relate(relation, &mut column.values)?;
                }
                let is_small = |value: &i64| i32::try_from(*value).is_ok();
                if spec.kind == FieldKind::Int32 && !column.values.iter().all(is_small) {
                    return Err(damaged());
                }
            }
            FieldKind::Float => make_floats::<f32>(head.scale, &mut column.values)?,
            FieldKind::Double => make_floats::<f64>(head.scale, &mut column.values)?,
            FieldKind::Time => column.add_filed(filed),
            FieldKind::Items => column.read_items(decoder)?,
            FieldKind::Text => {}
        }
        Ok(column)
    }

    /// Undoes the relation to an earlier column of integers.
    fn relate(&self, (relation, place): (Relation, u8), values: &mut [i64]) -> Result<()> {
        let place = usize::from(place);
        let kind = self.specs.get(place).map(|spec| spec.kind);
        let other = self.read.get(place).and_then(Option::as_ref);
        let (Some(other), Some(FieldKind::Int32 | FieldKind::Int64)) = (other, kind) else {
            return Err(damaged());
        };
        if other.values.len() != values.len() {
            return Err(damaged());
        }
        for (value, other) in values.iter_mut().zip(&other.values) {
            *value = match relation {
                Relation::Sum => value.wrapping_sub(*other),
                Relation::Above => value.wrapping_add(*other),
            };
        }
        Ok(())
    }

    /// The different texts of the field at `index`.
    pub(super) fn take_texts(&mut self, index: usize) -> Vec<&'a str> {
        let column = self.read.get_mut(index).and_then(Option::as_mut);
        column
            .map(|column| std::mem::take(&mut column.texts))
            .unwrap_or_default()
    }

    /// The column of the field at `index`, when it was read.
    pub(super) fn column(&self, index: usize) -> Result<&Column<'a>> {
        let column = self.read.get(index).and_then(Option::as_ref);
        column.ok_or_else(damaged)
    }

    /// Stores the columns by `set`: the number of the record, the field, its presence and the bits of its value.
    pub(super) fn store(
        &self,
        rows: &mut Rows,
        set: impl Fn(&mut Rows, usize, usize, (u64, u64)),
    ) -> Result<()> {
        for (index, column) in self.read.iter().enumerate() {
            let Some(column) = column else { continue };
            let texts = column.texts.iter().map(|text| rows.texts.intern(text));
            let texts: Vec<_> = texts.collect();
            let mut item = match &column.items {
                Some(items) => store_items(items, rows)?,
                None => 0,
            };
            let mut values = column.values.iter();
            for record in 0..self.count {
                let mark = column.mark(record);
                let mut bits = 0;
                if mark == VALUE {
                    bits = values.next().ok_or_else(damaged)?.cast_unsigned();
                    if !texts.is_empty() {
                        let text = usize::try_from(bits).ok().and_then(|at| texts.get(at));
                        bits = (*text.ok_or_else(damaged)?).into();
                    } else if column.items.is_some() {
                        let count = usize::try_from(bits).map_err(|_| damaged())?;
                        bits = items_bits(item, count);
                        item += count;
                    }
                }
                set(rows, record, index, (mark, bits));
            }
        }
        Ok(())
    }
}

/// Stores the items of all records; returns the number of the first.
fn store_items(items: &Columns<'_>, rows: &mut Rows) -> Result<usize> {
    let first = rows.push_items(items.count);
    items.store(rows, |rows, item, index, (mark, bits)| {
        rows.set_in_item(first + item, index, mark, bits);
    })?;
    Ok(first)
}

impl<'a> Column<'a> {
    /// Refuses what no record can have; returns how many of `count` records have a value.
    fn check_marks(&self, spec: &FieldSpec, count: usize) -> Result<usize> {
        let marks = self.marks.iter().map(|mark| mark.cast_unsigned());
        let is_possible =
            |mark: u64| matches!(mark, ABSENT | VALUE) || mark == NULL && spec.nullable;
        if !marks.clone().chain(self.presence).all(is_possible) {
            return Err(damaged());
        }
        Ok(match self.presence {
            Some(VALUE) => count,
            Some(_) => 0,
            None => marks.filter(|mark| *mark == VALUE).count(),
        })
    }

    #[inline]
    fn mark(&self, record: usize) -> u64 {
        let mark = || self.marks.get(record).map(|mark| mark.cast_unsigned());
        self.presence.or_else(mark).unwrap_or(ABSENT)
    }

    /// Texts of `count` records that have one.
    pub(super) fn of_texts(decoder: &mut Decoder<'a>, count: usize) -> Result<Self> {
        let distinct = if count == 0 { 0 } else { decoder.count()? };
        if distinct > count || (distinct == 0 && count > 0) {
            return Err(damaged());
        }
        let texts = (0..distinct).map(|_| decoder.text());
        Ok(Self {
            texts: texts.collect::<Result<_>>()?,
            values: if distinct > 1 {
                integers::read(decoder, count)?
            } else {
                vec![0; count]
            },
            ..Self::default()
        })
    }

    fn read_items(&mut self, decoder: &mut Decoder<'a>) -> Result<()> {
        let mut total = 0;
        for count in &self.values {
            let count = usize::try_from(*count).map_err(|_| damaged())?;
            if count > PROCESS_ITEMS_MAX || count > CHUNK_ITEMS_MAX - total {
                return Err(damaged());
            }
            total += count;
        }
        let mut items = Columns::new(ProcessItem::FIELDS, total);
        if total > 0 {
            items.read_texts(decoder)?;
            items.read_others(decoder, &[], usize::MAX)?;
        }
        self.items = Some(Box::new(items));
        Ok(())
    }

    /// Makes times of what is stored relative to the filed times of the records.
    fn add_filed(&mut self, filed: &[i64]) {
        let mut values = std::mem::take(&mut self.values);
        let valued = filed
            .iter()
            .enumerate()
            .filter(|(record, _)| self.mark(*record) == VALUE);
        for (value, (_, filed)) in values.iter_mut().zip(valued) {
            *value = Timestamp::from_ticks(value.wrapping_add(*filed)).ticks();
        }
        self.values = values;
    }

    /// The times in a column of times, one for each of `count` records.
    pub(super) fn times(&self, count: usize) -> Vec<Option<Timestamp>> {
        let mut values = self.values.iter();
        let time = |record| {
            let ticks = (self.mark(record) == VALUE).then(|| values.next());
            ticks.flatten().map(|ticks| Timestamp::from_ticks(*ticks))
        };
        (0..count).map(time).collect()
    }
}

/// Makes the bits of floats of what is stored.
fn make_floats<F: Float>(scale: Scale, values: &mut [i64]) -> Result<()> {
    for value in values {
        let float: F = scale.float(*value).ok_or_else(damaged)?;
        *value = float.bits();
    }
    Ok(())
}

#[cfg(test)]
impl<'a> Column<'a> {
    pub(super) fn each_text(&self) -> Vec<&'a str> {
        let text = |place: &i64| self.texts[usize::try_from(*place).unwrap()];
        self.values.iter().map(text).collect()
    }
}
