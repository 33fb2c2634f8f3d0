//! The bytes of what several mutations hold.

use crate::error::Result;
use crate::mutation::Caller;
use crate::store::codec::{Decoder, Encoder, damaged};

pub(super) fn encode_caller(by: &Caller, to: &mut Encoder) {
    to.option(by.key.as_ref(), |to, (id, name)| {
        to.varint(*id);
        to.text(name);
    });
}

pub(super) fn decode_caller(from: &mut Decoder<'_>) -> Result<Caller> {
    let key = from.option(|from| Ok((from.varint()?, from.text()?.to_owned())))?;
    Ok(Caller { key })
}

pub(super) fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

pub(super) fn encode_bool(value: bool, to: &mut Encoder) {
    to.u8(u8::from(value));
}

pub(super) fn decode_bool(from: &mut Decoder<'_>) -> Result<bool> {
    match from.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(damaged()),
    }
}

/// A count, then each.
pub(super) fn encode_all<T>(all: &[T], to: &mut Encoder, mut encode: impl FnMut(&T, &mut Encoder)) {
    to.count(all.len());
    for each in all {
        encode(each, to);
    }
}

/// No memory is taken for more of them than there are.
pub(super) fn decode_all<'b, T>(
    from: &mut Decoder<'b>,
    mut decode: impl FnMut(&mut Decoder<'b>) -> Result<T>,
) -> Result<Vec<T>> {
    let count = from.count()?;
    (0..count).map(|_| decode(from)).collect()
}
