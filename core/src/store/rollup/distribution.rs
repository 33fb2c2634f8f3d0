//! A summary and a histogram of the same values.

use crate::error::Result;
use crate::store::codec::{Decoder, Encoder};

use super::histogram::Histogram;
use super::summary::Summary;

/// A summary and a histogram of the same values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Distribution {
    pub(crate) summary: Summary,
    pub(crate) histogram: Histogram,
}

impl Distribution {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: i64) {
        self.summary.add(value);
        self.histogram.add(value);
    }

    pub(super) fn encode(&self, encoder: &mut Encoder) {
        self.summary.encode(encoder);
        self.histogram.encode(encoder);
    }

    pub(super) fn decode(decoder: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            summary: Summary::decode(decoder)?,
            histogram: Histogram::decode(decoder)?,
        })
    }
}
