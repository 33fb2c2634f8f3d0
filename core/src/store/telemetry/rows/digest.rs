//! The content of a record in 32 bytes, by which repetitions are found.

use sha2::{Digest, Sha256};

use crate::model::{FieldKind, FieldSpec, ProcessItem};
use crate::store::telemetry::texts::Texts;

use super::{Cells, Rows, VALUE, items_of, single};

/// SHA-256 over all that an agent sent in a record. Equal digests mean equal records, because no client can find two records that
/// collide. So a flood of nearly equal records costs one digest each.
pub(crate) type ContentDigest = [u8; 32];

impl Rows {
    /// The digest of a record. Of the same stream, records that compare as equal have the same one.
    pub(crate) fn digest(&self, row: usize) -> ContentDigest {
        let mut hasher = Sha256::new();
        self.add_cells(&mut hasher, self.stream(row).fields(), self.cells(row));
        hasher.finalize().into()
    }

    fn add_cells(&self, hasher: &mut Sha256, specs: &[FieldSpec], cells: Cells<'_>) {
        hasher.update(cells.presence.to_le_bytes());
        for (index, spec) in specs.iter().enumerate() {
            if cells.mark(index) != VALUE {
                continue;
            }
            let bits = cells.bits(index);
            match spec.kind {
                FieldKind::Int32 | FieldKind::Int64 | FieldKind::Time => {
                    hasher.update(bits.to_le_bytes());
                }
                // Added to 0, the two zeros are one, as they are when floats are compared.
                FieldKind::Float => hasher.update((single(bits) + 0.0).to_le_bytes()),
                FieldKind::Double => hasher.update((f64::from_bits(bits) + 0.0).to_le_bytes()),
                FieldKind::Text => {
                    let text = self.texts.text(Texts::number(bits));
                    hasher.update((text.len() as u64).to_le_bytes());
                    hasher.update(text.as_bytes());
                }
                FieldKind::Items => {
                    let items = items_of(bits);
                    hasher.update((items.len() as u64).to_le_bytes());
                    for item in items {
                        self.add_cells(hasher, ProcessItem::FIELDS, self.item(item));
                    }
                }
            }
        }
    }
}
