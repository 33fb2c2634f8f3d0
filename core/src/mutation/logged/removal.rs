//! The bytes of a removal of telemetry.

use crate::error::Result;
use crate::model::{RemovedTelemetry, Stream, TelemetrySelection};
use crate::mutation::{Derived, RemoveTelemetry, Span};
use crate::store::codec::{Decoder, Encoder, damaged};

use super::fields::{decode_caller, encode_caller, owned};
use super::upkeep::{decode_key, encode_key};
use super::{Logged, Tag};

const BEGIN: u8 = 0;
const TAKE: u8 = 1;
const END: u8 = 2;

impl Logged for RemoveTelemetry {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::RemoveTelemetry)
    }

    fn encode(&self, to: &mut Encoder) {
        match self {
            Self::Begin(selection, by) => {
                to.u8(BEGIN);
                encode_selection(selection, to);
                encode_caller(by, to);
            }
            Self::Take(selection, of, span) => {
                to.u8(TAKE);
                encode_selection(selection, to);
                to.variant(&Derived::ALL, of);
                encode_key(span.from.as_deref(), to);
                encode_key(span.before.as_deref(), to);
            }
            Self::End(row, RemovedTelemetry { removed, kept }) => {
                to.u8(END);
                to.varint(*row);
                to.varint(*removed);
                to.varint(*kept);
            }
        }
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(match from.u8()? {
            BEGIN => Self::Begin(decode_selection(from)?, decode_caller(from)?),
            TAKE => {
                let (selection, of) = (decode_selection(from)?, from.variant(&Derived::ALL)?);
                let (from, before) = (decode_key(from)?, decode_key(from)?);
                Self::Take(selection, of, Span { from, before })
            }
            END => {
                let row = from.varint()?;
                let (removed, kept) = (from.varint()?, from.varint()?);
                Self::End(row, RemovedTelemetry { removed, kept })
            }
            _ => return Err(damaged()),
        })
    }
}

fn encode_selection(selection: &TelemetrySelection, to: &mut Encoder) {
    to.option_text(selection.instance_id.as_deref());
    to.option(selection.stream.as_ref(), |to, stream| {
        to.variant(&Stream::ALL, stream);
    });
    to.option_time(selection.before);
}

fn decode_selection(from: &mut Decoder<'_>) -> Result<TelemetrySelection> {
    Ok(TelemetrySelection {
        instance_id: owned(from.option_text()?),
        stream: from.option(|from| from.variant(&Stream::ALL))?,
        before: from.option_time()?,
    })
}
