//! What is stored before the values of a column.

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::telemetry::rows::ABSENT;

use super::decimals::Scale;

/// What the records of a chunk have of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// All of them the same.
    Alike(u64),
    /// Not the same: a column of its own says what each has.
    Mixed,
}

impl Default for Presence {
    fn default() -> Self {
        Self::Alike(ABSENT)
    }
}

/// How a column of integers follows from an earlier one, whose place in the table is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    None,
    /// The sums of both are written.
    SumWith(u8),
    /// What this column is above the other is written.
    Above(u8),
}

/// The first byte of a column, and the second where there is a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) presence: Presence,
    pub(super) relation: Relation,
    /// Of floats; else [`Scale::Digits`] of 0.
    pub(super) scale: Scale,
}

impl Head {
    const PRESENCE: u8 = 3;
    const MIXED: u8 = 3;
    const SUM: u8 = 4;
    const ABOVE: u8 = 8;
    const SCALE_SHIFT: u8 = 4;

    pub(super) fn write(self, out: &mut Encoder) {
        let presence = match self.presence {
            Presence::Alike(mark) => u8::try_from(mark).unwrap_or(Self::MIXED),
            Presence::Mixed => Self::MIXED,
        };
        let (relation, other) = match self.relation {
            Relation::None => (0, None),
            Relation::SumWith(other) => (Self::SUM, Some(other)),
            Relation::Above(other) => (Self::ABOVE, Some(other)),
        };
        out.u8(presence | relation | self.scale.number() << Self::SCALE_SHIFT);
        if let Some(other) = other {
            out.u8(other);
        }
    }

    pub(super) fn read(decoder: &mut Decoder<'_>) -> Result<Self> {
        let byte = decoder.u8()?;
        let presence = match byte & Self::PRESENCE {
            Self::MIXED => Presence::Mixed,
            mark => Presence::Alike(mark.into()),
        };
        let relation = match byte & (Self::SUM | Self::ABOVE) {
            0 => Relation::None,
            Self::SUM => Relation::SumWith(decoder.u8()?),
            Self::ABOVE => Relation::Above(decoder.u8()?),
            _ => return Err(damaged()),
        };
        Ok(Self {
            presence,
            relation,
            scale: Scale::numbered(byte >> Self::SCALE_SHIFT).ok_or_else(damaged)?,
        })
    }
}
