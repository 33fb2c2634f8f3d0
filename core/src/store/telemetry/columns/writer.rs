//! Writing the columns of a table.

use crate::model::{FieldKind, FieldSpec, FieldValue, Fields, ProcessItem};
use crate::store::codec::Encoder;

use super::decimals::{self, Scale};
use super::head::{ABSENT, Head, NULL, Part, Presence, Relation, VALUE};
use super::{integers, texts};

/// Appends the columns of one part. Date-times are written against `filed`, a time for each row.
pub(super) fn write(
    out: &mut Encoder,
    specs: &[FieldSpec],
    rows: &[&dyn Fields],
    filed: &[i64],
    part: Part,
) {
    let mut earlier = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        if part.holds(spec) {
            let cells = rows.iter().map(|row| row.get(index));
            let column = Column {
                place: u8::try_from(index).unwrap_or(u8::MAX),
                cells: cells.collect(),
            };
            column.write(out, spec.kind, filed, &mut earlier);
        }
    }
}

/// Columns of integers that are not all alike, with their places in the table.
type Earlier = Vec<(u8, Vec<i64>)>;

/// What the rows have of one field.
struct Column<'r> {
    place: u8,
    cells: Vec<Option<FieldValue<'r>>>,
}

impl Column<'_> {
    fn write(&self, out: &mut Encoder, kind: FieldKind, filed: &[i64], earlier: &mut Earlier) {
        let (presence, marks) = self.presence();
        let mut head = Head {
            presence,
            relation: Relation::None,
            scale: Scale::Digits(0),
        };
        let mut start = |head: Head| {
            head.write(out);
            integers::write(out, &marks);
        };
        match kind {
            FieldKind::Int32 | FieldKind::Int64 => {
                let (relation, values) = related(self.place, self.integers(), earlier);
                head.relation = relation;
                start(head);
                integers::write(out, &values);
            }
            FieldKind::Float | FieldKind::Double => {
                let (scale, values) = self.floats(kind);
                head.scale = scale;
                start(head);
                integers::write(out, &values);
            }
            FieldKind::Time => {
                start(head);
                integers::write(out, &self.times(filed));
            }
            FieldKind::Text => {
                start(head);
                if presence != Presence::Alike(ABSENT) && presence != Presence::Alike(NULL) {
                    texts::write(out, &self.texts());
                }
            }
            FieldKind::Items => {
                start(head);
                self.write_items(out);
            }
        }
    }

    /// What the rows have, and one by one where they differ.
    fn presence(&self) -> (Presence, Vec<i64>) {
        let mut marks = self.cells.iter().map(|cell| mark(cell.as_ref()));
        let first = marks.next().unwrap_or(ABSENT);
        if marks.all(|mark| mark == first) {
            return (Presence::Alike(first), Vec::new());
        }
        (
            Presence::Mixed,
            self.cells.iter().map(|cell| mark(cell.as_ref())).collect(),
        )
    }

    fn integers(&self) -> Vec<i64> {
        let integer = |cell: &Option<FieldValue<'_>>| match cell {
            Some(FieldValue::Int(value)) => Some(*value),
            _ => None,
        };
        self.cells.iter().filter_map(integer).collect()
    }

    fn floats(&self, kind: FieldKind) -> (Scale, Vec<i64>) {
        let single = |cell: &Option<FieldValue<'_>>| match cell {
            Some(FieldValue::Float(value)) => Some(*value),
            _ => None,
        };
        let double = |cell: &Option<FieldValue<'_>>| match cell {
            Some(FieldValue::Double(value)) => Some(*value),
            _ => None,
        };
        if kind == FieldKind::Float {
            let values: Vec<f32> = self.cells.iter().filter_map(single).collect();
            return decimals::whole_numbers(&values);
        }
        let values: Vec<f64> = self.cells.iter().filter_map(double).collect();
        decimals::whole_numbers(&values)
    }

    fn times(&self, filed: &[i64]) -> Vec<i64> {
        let filed = filed.iter().copied().chain(std::iter::repeat(0));
        let rows = self.cells.iter().zip(filed);
        let after = rows.filter_map(|(cell, filed)| match cell {
            Some(FieldValue::Time(time)) => Some(time.ticks().wrapping_sub(filed)),
            _ => None,
        });
        after.collect()
    }

    fn texts(&self) -> Vec<&str> {
        let text = |cell| match cell {
            &Some(FieldValue::Text(ref text)) => Some(text.as_ref()),
            _ => None,
        };
        self.cells.iter().filter_map(text).collect()
    }

    /// How many items each row has, then the columns of all items in a row.
    fn write_items(&self, out: &mut Encoder) {
        let mut counts = Vec::new();
        let mut rows: Vec<&dyn Fields> = Vec::new();
        for cell in &self.cells {
            if let Some(FieldValue::Items(items)) = cell {
                counts.push(i64::try_from(items.len()).unwrap_or(i64::MAX));
                rows.extend(items.iter().map(|item| item as &dyn Fields));
            }
        }
        integers::write(out, &counts);
        if !rows.is_empty() {
            for part in [Part::Texts, Part::Others] {
                write(out, ProcessItem::FIELDS, &rows, &[], part);
            }
        }
    }
}

fn mark(cell: Option<&FieldValue<'_>>) -> i64 {
    match cell {
        None => ABSENT,
        Some(FieldValue::Null) => NULL,
        Some(_) => VALUE,
    }
}

/// What to write of `values`: themselves, or the one integer by which they follow from an earlier column, as the memory in
/// use follows from that which is free.
fn related(place: u8, values: Vec<i64>, earlier: &mut Earlier) -> (Relation, Vec<i64>) {
    if values.iter().min() == values.iter().max() {
        return (Relation::None, values);
    }
    for (other, others) in earlier
        .iter()
        .filter(|(_, others)| others.len() == values.len())
    {
        let pairs = || values.iter().zip(others);
        let sums = || pairs().map(|(value, other)| value.wrapping_add(*other));
        if let Some(sum) = only(sums()) {
            return (Relation::SumWith(*other), vec![sum; values.len()]);
        }
        let above = || pairs().map(|(value, other)| value.wrapping_sub(*other));
        if let Some(above) = only(above()) {
            return (Relation::Above(*other), vec![above; values.len()]);
        }
    }
    earlier.push((place, values.clone()));
    (Relation::None, values)
}

/// The one integer that all are.
fn only(mut integers: impl Iterator<Item = i64>) -> Option<i64> {
    let first = integers.next()?;
    integers.all(|integer| integer == first).then_some(first)
}
