//! What is stored before the values of a column.

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder, damaged};

use super::decimals::Scale;

/// How a column of integers follows from an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// The sums of both are stored.
    Sum,
    /// What this column is above the other is stored.
    Above,
}

/// The first byte of a column, and the second where there is a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// The presence of the field in all records; `None` when they differ, and a column of its own says what each has.
    pub(super) presence: Option<u64>,
    /// The other column by its field.
    pub(super) relation: Option<(Relation, u8)>,
    /// Of floats; else [`Scale::WHOLE`].
    pub(super) scale: Scale,
}

impl Head {
    const MIXED: u8 = 3;
    const SUM: u8 = 4;
    const ABOVE: u8 = 8;
    const SCALE_SHIFT: u8 = 4;

    pub(super) fn write(self, out: &mut Encoder) {
        let presence = self.presence.and_then(|mark| u8::try_from(mark).ok());
        let relation = match self.relation {
            None => 0,
            Some((Relation::Sum, _)) => Self::SUM,
            Some((Relation::Above, _)) => Self::ABOVE,
        };
        let scale = self.scale.number() << Self::SCALE_SHIFT;
        out.u8(presence.unwrap_or(Self::MIXED) | relation | scale);
        if let Some((_, other)) = self.relation {
            out.u8(other);
        }
    }

    pub(super) fn read(decoder: &mut Decoder<'_>) -> Result<Self> {
        let byte = decoder.u8()?;
        let presence = byte & Self::MIXED;
        let relation = match byte & (Self::SUM | Self::ABOVE) {
            0 => None,
            Self::SUM => Some((Relation::Sum, decoder.u8()?)),
            Self::ABOVE => Some((Relation::Above, decoder.u8()?)),
            _ => return Err(damaged()),
        };
        Ok(Self {
            presence: (presence != Self::MIXED).then_some(presence.into()),
            relation,
            scale: Scale::numbered(byte >> Self::SCALE_SHIFT).ok_or_else(damaged)?,
        })
    }
}
