//! Writing the columns of a table.

use std::borrow::Cow;

use crate::model::{FieldKind, FieldSpec, FieldValue, Fields, ProcessItem};
use crate::store::codec::Encoder;

use super::decimals::{self, Scale};
use super::head::{ABSENT, Head, NULL, Part, Presence, Relation, VALUE};
use super::integers;
use super::texts::TextWriter;

/// The columns of a table, filled row by row: a record is larger than what is common to all of them.
pub(super) struct TableWriter<'r> {
    specs: &'static [FieldSpec],
    columns: Vec<Column<'r>>,
}

impl<'r> TableWriter<'r> {
    pub(super) fn new(specs: &'static [FieldSpec], rows: usize) -> Self {
        let columns = specs.iter().map(|spec| Column::new(spec.kind, rows));
        Self {
            specs,
            columns: columns.collect(),
        }
    }

    /// Takes a row; its date-times are written against `filed`.
    pub(super) fn push(&mut self, fields: &'r dyn Fields, filed: i64) {
        for (index, column) in self.columns.iter_mut().enumerate() {
            column.push(fields.get(index), filed);
        }
    }

    /// Appends the columns of one part.
    pub(super) fn write(&self, out: &mut Encoder, part: Part) {
        let mut earlier = Vec::new();
        let columns = (0_u8..).zip(self.specs.iter().zip(&self.columns));
        for (place, (spec, column)) in columns {
            if part.holds(spec) {
                column.write(out, place, &mut earlier);
            }
        }
    }
}

/// Columns of integers that are not all alike, with their places in the table.
type Earlier<'c> = Vec<(u8, &'c [i64])>;

/// What the rows have of one field.
struct Column<'r> {
    rows: usize,
    /// What the first row has; the others too, while `marks` is empty.
    mark: i64,
    marks: Vec<i64>,
    values: Values<'r>,
}

enum Values<'r> {
    Integers(Vec<i64>),
    Singles(Vec<f32>),
    Doubles(Vec<f64>),
    Times(Vec<i64>),
    Texts(TextWriter<'r>),
    Items(Vec<Cow<'r, [ProcessItem]>>),
}

impl<'r> Column<'r> {
    fn new(kind: FieldKind, rows: usize) -> Self {
        Self {
            rows: 0,
            mark: ABSENT,
            marks: Vec::new(),
            values: match kind {
                FieldKind::Int32 | FieldKind::Int64 => Values::Integers(Vec::with_capacity(rows)),
                FieldKind::Float => Values::Singles(Vec::with_capacity(rows)),
                FieldKind::Double => Values::Doubles(Vec::with_capacity(rows)),
                FieldKind::Time => Values::Times(Vec::with_capacity(rows)),
                FieldKind::Text => Values::Texts(TextWriter::default()),
                FieldKind::Items => Values::Items(Vec::new()),
            },
        }
    }

    fn push(&mut self, value: Option<FieldValue<'r>>, filed: i64) {
        let mark = match &value {
            None => ABSENT,
            Some(FieldValue::Null) => NULL,
            Some(_) => VALUE,
        };
        if self.rows == 0 {
            self.mark = mark;
        } else if mark != self.mark && self.marks.is_empty() {
            self.marks = vec![self.mark; self.rows];
        }
        if !self.marks.is_empty() {
            self.marks.push(mark);
        }
        self.rows += 1;
        match (&mut self.values, value) {
            (Values::Integers(values), Some(FieldValue::Int(value))) => values.push(value),
            (Values::Singles(values), Some(FieldValue::Float(value))) => values.push(value),
            (Values::Doubles(values), Some(FieldValue::Double(value))) => values.push(value),
            (Values::Times(values), Some(FieldValue::Time(time))) => {
                values.push(time.ticks().wrapping_sub(filed));
            }
            (Values::Texts(texts), Some(FieldValue::Text(text))) => texts.push(text),
            (Values::Items(items), Some(FieldValue::Items(more))) => items.push(more),
            // Absent, null, or of another type than the table says, which no record is.
            _ => {}
        }
    }

    fn write<'c>(&'c self, out: &mut Encoder, place: u8, earlier: &mut Earlier<'c>) {
        let mut head = Head {
            presence: if self.marks.is_empty() {
                Presence::Alike(self.mark)
            } else {
                Presence::Mixed
            },
            relation: Relation::None,
            scale: Scale::Digits(0),
        };
        let start = |out: &mut Encoder, head: Head| {
            head.write(out);
            integers::write(out, &self.marks);
        };
        match &self.values {
            Values::Integers(values) => {
                let (relation, one) = related(place, values, earlier);
                head.relation = relation;
                start(out, head);
                match one {
                    Some(one) => integers::write_alike(out, one, values.len()),
                    None => integers::write(out, values),
                }
            }
            Values::Singles(values) => {
                let (scale, wholes) = decimals::whole_numbers(values);
                head.scale = scale;
                start(out, head);
                integers::write(out, &wholes);
            }
            Values::Doubles(values) => {
                let (scale, wholes) = decimals::whole_numbers(values);
                head.scale = scale;
                start(out, head);
                integers::write(out, &wholes);
            }
            Values::Times(values) => {
                start(out, head);
                integers::write(out, values);
            }
            Values::Texts(texts) => {
                start(out, head);
                texts.write(out);
            }
            Values::Items(values) => {
                start(out, head);
                write_items(out, values);
            }
        }
    }
}

/// How many items each row has, then the columns of all items in a row.
fn write_items(out: &mut Encoder, values: &[Cow<'_, [ProcessItem]>]) {
    let count = |items: &Cow<'_, [ProcessItem]>| i64::try_from(items.len()).unwrap_or(i64::MAX);
    let counts: Vec<_> = values.iter().map(count).collect();
    integers::write(out, &counts);
    let items = values.iter().flat_map(|items| items.iter());
    let mut table = TableWriter::new(ProcessItem::FIELDS, items.clone().count());
    for item in items {
        table.push(item, 0);
    }
    if counts.iter().any(|count| *count > 0) {
        table.write(out, Part::Texts);
        table.write(out, Part::Others);
    }
}

/// The one integer by which `values` follow from an earlier column, as the memory in use follows from that which is free.
fn related<'c>(place: u8, values: &'c [i64], earlier: &mut Earlier<'c>) -> (Relation, Option<i64>) {
    if only(values.iter().copied()).is_some() {
        return (Relation::None, None);
    }
    for (other, others) in earlier.iter() {
        if others.len() != values.len() {
            continue;
        }
        let pairs = || values.iter().zip(*others);
        let sum = only(pairs().map(|(value, other)| value.wrapping_add(*other)));
        if sum.is_some() {
            return (Relation::SumWith(*other), sum);
        }
        let above = only(pairs().map(|(value, other)| value.wrapping_sub(*other)));
        if above.is_some() {
            return (Relation::Above(*other), above);
        }
    }
    earlier.push((place, values));
    (Relation::None, None)
}

/// The one integer that all are.
fn only(mut integers: impl Iterator<Item = i64>) -> Option<i64> {
    let first = integers.next()?;
    integers.all(|integer| integer == first).then_some(first)
}
