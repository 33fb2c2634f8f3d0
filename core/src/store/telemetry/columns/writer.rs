//! Writing the columns of a table.

use crate::model::{FieldKind, FieldSpec, ProcessItem};
use crate::store::codec::Encoder;
use crate::store::telemetry::rows::{Cells, Rows, VALUE, items_of};
use crate::store::telemetry::texts::Texts;

use super::decimals::{self, Scale};
use super::head::{Head, Part, Presence, Relation};
use super::integers::{self, IntegerWriter};
use super::texts::TextWriter;

/// The rows of a table that become columns.
#[derive(Clone, Copy)]
pub(super) struct Source<'r> {
    pub(super) rows: &'r Rows,
    pub(super) specs: &'static [FieldSpec],
    pub(super) cells: &'r [Cells<'r>],
    /// Date-times are written against these; none are in a table that has no date-times.
    pub(super) filed: &'r [i64],
}

/// Writes tables, one after the other in the same memory.
#[derive(Debug, Default)]
pub(super) struct TableWriter {
    integers: IntegerWriter,
    marks: Vec<i64>,
    values: Vec<i64>,
    wholes: Vec<i64>,
    /// Columns of integers that are not all alike: their places in the table, and where they begin and end in `earlier`.
    places: Vec<(u8, usize, usize)>,
    earlier: Vec<i64>,
}

impl TableWriter {
    /// Appends a column of integers that is no field.
    pub(super) fn integers(&mut self, out: &mut Encoder, values: &[i64]) {
        self.integers.write(out, values);
    }

    /// Appends the columns of one part.
    pub(super) fn write(&mut self, out: &mut Encoder, source: Source<'_>, part: Part) {
        self.places.clear();
        self.earlier.clear();
        let first = source.cells.first().map_or(0, |cells| cells.presence);
        // The bits in which one row or another has something else than the first.
        let different = source
            .cells
            .iter()
            .fold(0, |different, cells| different | (cells.presence ^ first));
        for (place, spec) in (0_u8..).zip(source.specs) {
            if part.holds(spec) {
                let index = usize::from(place);
                let mixed = different >> (2 * index) & 3 != 0;
                self.column(out, source, spec, (place, mixed));
            }
        }
    }

    fn column(
        &mut self,
        out: &mut Encoder,
        source: Source<'_>,
        spec: &FieldSpec,
        (place, mixed): (u8, bool),
    ) {
        let index = usize::from(place);
        let mark = |cells: &Cells<'_>| i64::try_from(cells.mark(index)).unwrap_or_default();
        let alike = source.cells.first().map_or(0, mark);
        let mut head = Head {
            presence: if mixed {
                Presence::Mixed
            } else {
                Presence::Alike(alike)
            },
            relation: Relation::None,
            scale: Scale::Digits(0),
        };
        self.marks.clear();
        if mixed {
            self.marks.extend(source.cells.iter().map(mark));
        }
        self.take_values(source, spec.kind, index);
        match spec.kind {
            FieldKind::Int32 | FieldKind::Int64 => {
                let (relation, one) = self.related(place);
                head.relation = relation;
                self.start(out, head);
                match one {
                    Some(one) => integers::write_alike(out, one, self.values.len()),
                    None => self.integers.write(out, &self.values),
                }
            }
            FieldKind::Float | FieldKind::Double => {
                head.scale = if spec.kind == FieldKind::Float {
                    decimals::whole_numbers::<f32>(&self.values, &mut self.wholes)
                } else {
                    decimals::whole_numbers::<f64>(&self.values, &mut self.wholes)
                };
                self.start(out, head);
                self.integers.write(out, &self.wholes);
            }
            FieldKind::Time => {
                self.start(out, head);
                self.integers.write(out, &self.values);
            }
            FieldKind::Text => {
                self.start(out, head);
                let mut texts = TextWriter::new(&source.rows.texts, self.values.len());
                for number in &self.values {
                    texts.push(Texts::number(number.cast_unsigned()));
                }
                texts.write(out, &mut self.integers);
            }
            FieldKind::Items => {
                self.start(out, head);
                self.items(out, source.rows);
            }
        }
    }

    fn start(&mut self, out: &mut Encoder, head: Head) {
        head.write(out);
        self.integers.write(out, &self.marks);
    }

    /// Takes the bits of the field from the rows that have a value.
    fn take_values(&mut self, source: Source<'_>, kind: FieldKind, index: usize) {
        self.values.clear();
        let valued = |(_, cells): &(usize, &Cells<'_>)| cells.mark(index) == VALUE;
        let rows = source.cells.iter().enumerate().filter(valued);
        if kind == FieldKind::Time {
            self.values.extend(rows.map(|(row, cells)| {
                let filed = source.filed.get(row).copied().unwrap_or_default();
                cells.bits(index).cast_signed().wrapping_sub(filed)
            }));
        } else {
            let bits = rows.map(|(_, cells)| cells.bits(index).cast_signed());
            self.values.extend(bits);
        }
    }

    /// How many items each row has, then the columns of all items in a row.
    fn items(&mut self, out: &mut Encoder, rows: &Rows) {
        let items = || {
            self.values
                .iter()
                .map(|bits| items_of(bits.cast_unsigned()))
        };
        let counts: Vec<_> = items()
            .map(|items| i64::try_from(items.len()).unwrap_or(i64::MAX))
            .collect();
        let cells: Vec<_> = items().flatten().map(|item| rows.item(item)).collect();
        self.integers.write(out, &counts);
        if cells.is_empty() {
            return;
        }
        let source = Source {
            rows,
            specs: ProcessItem::FIELDS,
            cells: &cells,
            filed: &[],
        };
        let mut table = Self::default();
        table.write(out, source, Part::Texts);
        table.write(out, source, Part::Others);
    }

    /// The one integer by which the values follow from an earlier column, as the memory in use follows from that which is
    /// free.
    fn related(&mut self, place: u8) -> (Relation, Option<i64>) {
        let values = &self.values;
        if only(values.iter().copied()).is_some() {
            return (Relation::None, None);
        }
        for (other, start, end) in &self.places {
            let others = self.earlier.get(*start..*end).unwrap_or_default();
            if others.len() != values.len() {
                continue;
            }
            let pairs = || values.iter().zip(others);
            let sum = only(pairs().map(|(value, other)| value.wrapping_add(*other)));
            if sum.is_some() {
                return (Relation::SumWith(*other), sum);
            }
            let above = only(pairs().map(|(value, other)| value.wrapping_sub(*other)));
            if above.is_some() {
                return (Relation::Above(*other), above);
            }
        }
        let start = self.earlier.len();
        self.earlier.extend_from_slice(&self.values);
        self.places.push((place, start, self.earlier.len()));
        (Relation::None, None)
    }
}

/// The one integer that all are.
fn only(mut integers: impl Iterator<Item = i64>) -> Option<i64> {
    let first = integers.next()?;
    integers.all(|integer| integer == first).then_some(first)
}
