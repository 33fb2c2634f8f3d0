//! Reading the columns of a table, and making records of them again.

use std::borrow::Cow;

use crate::error::Result;
use crate::limits::{CHUNK_ITEMS_MAX, PROCESS_ITEMS_MAX};
use crate::model::{FieldKind, FieldSpec, FieldValue, Fields, ProcessItem};
use crate::store::codec::{Decoder, damaged};
use crate::store::telemetry::rows::{Rows, items_bits};
use crate::timestamp::Timestamp;

use super::decimals::Scale;
use super::head::{ABSENT, Head, NULL, Part, Presence, Relation, VALUE};
use super::integers;
use super::texts::Texts;

/// The columns of a table, read row by row.
#[derive(Debug)]
pub(super) struct Table<'a> {
    specs: &'static [FieldSpec],
    /// As many as `specs`; `None` until its part is read.
    columns: Vec<Option<Column<'a>>>,
}

impl<'a> Table<'a> {
    pub(super) fn new(specs: &'static [FieldSpec]) -> Self {
        Self {
            specs,
            columns: specs.iter().map(|_| None).collect(),
        }
    }

    /// Takes the columns of one part, of `rows` rows; the caller bounds how many. `filed` as in writing.
    pub(super) fn read(
        &mut self,
        decoder: &mut Decoder<'a>,
        rows: usize,
        filed: &[i64],
        part: Part,
    ) -> Result<()> {
        self.read_to(decoder, rows, filed, part, self.specs.len())
    }

    /// As [`Self::read`], up to the field `last`.
    pub(super) fn read_to(
        &mut self,
        decoder: &mut Decoder<'a>,
        rows: usize,
        filed: &[i64],
        part: Part,
        last: usize,
    ) -> Result<()> {
        for (index, spec) in self.specs.iter().enumerate() {
            if index <= last && part.holds(spec) {
                let column = Column::read(decoder, spec.kind, rows, filed, &self.columns)?;
                if let Some(place) = self.columns.get_mut(index) {
                    *place = Some(column);
                }
            }
        }
        Ok(())
    }

    /// What a column of times has in each of `count` rows.
    pub(super) fn times(&self, index: usize, count: usize) -> Result<Vec<Option<Timestamp>>> {
        let Some(Some(column)) = self.columns.get(index) else {
            return Err(damaged());
        };
        let Values::Times(values) = &column.values else {
            return Err(damaged());
        };
        let mut values = values.iter();
        let mut time = |row| -> Result<Option<Timestamp>> {
            if column.mark(row)? != VALUE {
                return Ok(None);
            }
            let ticks = values.next().ok_or_else(damaged)?;
            Ok(Some(Timestamp::from_ticks(*ticks)))
        };
        (0..count).map(&mut time).collect()
    }

    /// The different texts of a column.
    pub(super) fn texts(&self, index: usize) -> &[&'a str] {
        match self.columns.get(index) {
            Some(Some(Column {
                values: Values::Texts(texts),
                ..
            })) => texts.dictionary(),
            _ => &[],
        }
    }

    /// Passes over rows.
    pub(super) fn skip(&mut self, rows: usize) {
        for column in self.columns.iter_mut().flatten() {
            column.skip(rows);
        }
    }

    /// Sets in `rows` what each row has, by `set`: the row, the field, its mark and the bits of its value.
    pub(super) fn store(
        &self,
        rows: &mut Rows,
        count: usize,
        set: impl Fn(&mut Rows, usize, usize, (u64, u64)) + Copy,
    ) -> Result<()> {
        let columns = self.specs.iter().zip(&self.columns).enumerate();
        for (index, (spec, column)) in columns {
            let Some(column) = column else { continue };
            let (mut texts, mut items) = (Vec::new(), 0);
            if let Values::Texts(column) = &column.values {
                texts = column.numbers(&mut rows.texts);
            } else if let Values::Items(counts, table) = &column.values {
                items = store_items(counts, table, rows)?;
            }
            let mut at = 0;
            for row in 0..count {
                let mark = column.mark(row)?;
                if mark == NULL && !spec.nullable {
                    return Err(damaged());
                }
                let bits = if mark == VALUE {
                    at += 1;
                    column.values.bits(at - 1, spec.kind, &texts, &mut items)?
                } else {
                    0
                };
                set(rows, row, index, (mark.cast_unsigned(), bits));
            }
        }
        Ok(())
    }

    /// Sets in `fields` what the next row has.
    pub(super) fn fill(&mut self, fields: &mut dyn Fields) -> Result<()> {
        for (index, column) in self.columns.iter_mut().enumerate() {
            let Some(column) = column else { continue };
            if let Some(value) = column.next()?
                && !fields.set(index, value)
            {
                return Err(damaged());
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Column<'a> {
    presence: Presence,
    /// What each row has; empty unless the presence is mixed.
    marks: Vec<i64>,
    values: Values<'a>,
    /// The next row, and the next value.
    row: usize,
    at: usize,
}

#[derive(Debug)]
enum Values<'a> {
    Integers(Vec<i64>),
    Singles(Scale, Vec<i64>),
    Doubles(Scale, Vec<i64>),
    Times(Vec<i64>),
    Texts(Texts<'a>),
    /// How many items each row has, and the columns of all of them.
    Items(Vec<usize>, Box<Table<'a>>),
}

impl<'a> Column<'a> {
    fn read(
        decoder: &mut Decoder<'a>,
        kind: FieldKind,
        rows: usize,
        filed: &[i64],
        earlier: &[Option<Self>],
    ) -> Result<Self> {
        let head = Head::read(decoder)?;
        let marks = match head.presence {
            Presence::Alike(_) => Vec::new(),
            Presence::Mixed => integers::read(decoder, rows)?,
        };
        let count = match head.presence {
            Presence::Alike(mark) => {
                if mark == VALUE {
                    rows
                } else {
                    0
                }
            }
            Presence::Mixed => marks.iter().filter(|mark| **mark == VALUE).count(),
        };
        let mut integers = |count| integers::read(decoder, count);
        let values = match kind {
            FieldKind::Int32 | FieldKind::Int64 => {
                Values::Integers(related(head.relation, integers(count)?, earlier)?)
            }
            FieldKind::Float => Values::Singles(head.scale, integers(count)?),
            FieldKind::Double => Values::Doubles(head.scale, integers(count)?),
            FieldKind::Time => {
                let mut times = integers(count)?;
                add_filed(&mut times, head.presence, &marks, filed);
                Values::Times(times)
            }
            FieldKind::Text => Values::Texts(Texts::read(decoder, count)?),
            FieldKind::Items => items(decoder, count)?,
        };
        Ok(Self {
            presence: head.presence,
            marks,
            values,
            row: 0,
            at: 0,
        })
    }

    fn skip(&mut self, rows: usize) {
        let values = match self.presence {
            Presence::Alike(VALUE) => rows,
            Presence::Alike(_) => 0,
            Presence::Mixed => {
                let skipped = self.marks.iter().skip(self.row).take(rows);
                skipped.filter(|mark| **mark == VALUE).count()
            }
        };
        if let Values::Items(counts, table) = &mut self.values {
            table.skip(counts.iter().skip(self.at).take(values).sum());
        }
        self.row += rows;
        self.at += values;
    }

    /// What the next row has.
    fn next(&mut self) -> Result<Option<FieldValue<'a>>> {
        let mark = self.mark(self.row)?;
        self.row += 1;
        match mark {
            ABSENT => Ok(None),
            NULL => Ok(Some(FieldValue::Null)),
            _ => {
                let value = self.values.get(self.at)?;
                self.at += 1;
                Ok(Some(value))
            }
        }
    }

    /// What a row has: [`ABSENT`], [`NULL`] or [`VALUE`].
    fn mark(&self, row: usize) -> Result<i64> {
        let mark = match self.presence {
            Presence::Alike(mark) => mark,
            Presence::Mixed => *self.marks.get(row).ok_or_else(damaged)?,
        };
        match mark {
            ABSENT | NULL | VALUE => Ok(mark),
            _ => Err(damaged()),
        }
    }
}

impl<'a> Values<'a> {
    fn get(&mut self, at: usize) -> Result<FieldValue<'a>> {
        let value = match self {
            Self::Integers(values) => values.get(at).map(|value| FieldValue::Int(*value)),
            Self::Singles(scale, values) => {
                let value = values.get(at).and_then(|value| scale.float(*value));
                value.map(FieldValue::Float)
            }
            Self::Doubles(scale, values) => {
                let value = values.get(at).and_then(|value| scale.float(*value));
                value.map(FieldValue::Double)
            }
            Self::Times(values) => {
                let time = |ticks: &i64| FieldValue::Time(Timestamp::from_ticks(*ticks));
                values.get(at).map(time)
            }
            Self::Texts(texts) => Some(FieldValue::Text(Cow::Borrowed(texts.get(at)?))),
            Self::Items(counts, table) => {
                let count = counts.get(at).copied().unwrap_or_default();
                let mut items = vec![ProcessItem::default(); count];
                for item in &mut items {
                    table.fill(item)?;
                }
                Some(FieldValue::Items(Cow::Owned(items)))
            }
        };
        value.ok_or_else(damaged)
    }
}

impl Values<'_> {
    /// The bits of a value, as rows have them. `texts` are the numbers of the dictionary, `items` the number of the next
    /// process item.
    fn bits(&self, at: usize, kind: FieldKind, texts: &[u32], items: &mut usize) -> Result<u64> {
        let bits = match self {
            Self::Integers(values) => {
                let value = values.get(at).copied();
                let fits = |value: &i64| kind != FieldKind::Int32 || i32::try_from(*value).is_ok();
                value.filter(fits).map(i64::cast_unsigned)
            }
            Self::Singles(scale, values) => {
                let value = values.get(at).and_then(|value| scale.float::<f32>(*value));
                value.map(|value| value.to_bits().into())
            }
            Self::Doubles(scale, values) => {
                let value = values.get(at).and_then(|value| scale.float::<f64>(*value));
                value.map(f64::to_bits)
            }
            Self::Times(values) => {
                let time = values.get(at).map(|ticks| Timestamp::from_ticks(*ticks));
                time.map(|time| time.ticks().cast_unsigned())
            }
            Self::Texts(column) => texts.get(column.place(at)?).map(|number| (*number).into()),
            Self::Items(counts, _) => counts.get(at).map(|count| {
                *items += count;
                items_bits(*items - count, *count)
            }),
        };
        bits.ok_or_else(damaged)
    }
}

/// Stores the items of all rows; answers the number of the first.
fn store_items(counts: &[usize], table: &Table<'_>, rows: &mut Rows) -> Result<usize> {
    let count = counts.iter().sum();
    let first = rows.push_items(count);
    table.store(rows, count, move |rows, item, index, (mark, bits)| {
        rows.set_in_item(first + item, index, mark, bits);
    })?;
    Ok(first)
}

/// The integers of a column of which `written` was made by `relation`.
fn related(
    relation: Relation,
    mut written: Vec<i64>,
    earlier: &[Option<Column<'_>>],
) -> Result<Vec<i64>> {
    let count = written.len();
    let others = |place: u8| match earlier.get(usize::from(place)) {
        Some(Some(Column {
            values: Values::Integers(others),
            ..
        })) if others.len() == count => Ok(others),
        _ => Err(damaged()),
    };
    match relation {
        Relation::None => {}
        Relation::SumWith(place) => {
            for (value, other) in written.iter_mut().zip(others(place)?) {
                *value = value.wrapping_sub(*other);
            }
        }
        Relation::Above(place) => {
            for (value, other) in written.iter_mut().zip(others(place)?) {
                *value = value.wrapping_add(*other);
            }
        }
    }
    Ok(written)
}

/// Makes times of what was written against the times of the rows.
fn add_filed(times: &mut [i64], presence: Presence, marks: &[i64], filed: &[i64]) {
    let add = |(time, filed): (&mut i64, &i64)| *time = time.wrapping_add(*filed);
    match presence {
        Presence::Alike(_) => times.iter_mut().zip(filed).for_each(add),
        Presence::Mixed => {
            let valued = marks.iter().zip(filed).filter(|(mark, _)| **mark == VALUE);
            times
                .iter_mut()
                .zip(valued.map(|(_, filed)| filed))
                .for_each(add);
        }
    }
}

fn items<'a>(decoder: &mut Decoder<'a>, rows: usize) -> Result<Values<'a>> {
    let mut counts = Vec::with_capacity(rows);
    let mut total = 0;
    for count in integers::read(decoder, rows)? {
        let count = usize::try_from(count).map_err(|_| damaged())?;
        if count > PROCESS_ITEMS_MAX || count > CHUNK_ITEMS_MAX - total {
            return Err(damaged());
        }
        total += count;
        counts.push(count);
    }
    let mut table = Table::new(ProcessItem::FIELDS);
    if total > 0 {
        for part in [Part::Texts, Part::Others] {
            table.read(decoder, total, &[], part)?;
        }
    }
    Ok(Values::Items(counts, Box::new(table)))
}
