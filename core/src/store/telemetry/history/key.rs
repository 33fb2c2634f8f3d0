//! The keys of history: stream, day, instance, part.

use crate::error::Result;
use crate::model::Stream;
use crate::store::codec::{Decoder, damaged};
use crate::store::telemetry::key_name;
use crate::store::telemetry::rows::Bucket;
use crate::timestamp::Timestamp;

/// The prefix of the keys of a day of a stream.
pub(crate) fn day_prefix(stream: Stream, day: u32) -> Vec<u8> {
    let mut key = vec![stream.number()];
    key.extend_from_slice(&day.to_be_bytes());
    key
}

/// The prefix of the keys of a bucket.
pub(crate) fn bucket_prefix(bucket: Bucket<'_>) -> Vec<u8> {
    let mut key = day_prefix(bucket.stream, bucket.day);
    let name = key_name(bucket.instance);
    key.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
    key.extend_from_slice(&name);
    key
}

/// The name of the instance, by the prefix of the keys of a bucket; `None` if they have its digest.
pub(crate) fn bucket_name(prefix: &[u8]) -> Option<&str> {
    // The stream, the day, and the length of the name.
    const HEAD_BYTES: usize = 6;
    prefix
        .get(HEAD_BYTES..)
        .and_then(|name| std::str::from_utf8(name).ok())
}

pub(in crate::store::telemetry) fn part_key(prefix: &[u8], part: u32) -> Vec<u8> {
    let mut key = prefix.to_vec();
    key.extend_from_slice(&part.to_be_bytes());
    key
}

pub(super) fn part_number(key: &[u8]) -> Result<u32> {
    let number = key.last_chunk().ok_or_else(damaged)?;
    Ok(u32::from_be_bytes(*number))
}

/// The name of a part in a message.
pub(in crate::store) fn part_name(key: &[u8]) -> String {
    let parse = || -> Result<String> {
        let mut decoder = Decoder::new(key);
        let (stream, day) = read_head(&mut decoder)?;
        let day = Timestamp::from_day(day);
        let length = usize::from(decoder.u8()?);
        let instance = String::from_utf8_lossy(decoder.raw(length)?).into_owned();
        let part = u32::from_be_bytes(decoder.array()?);
        Ok(format!(
            "history of {instance}, {} of the day {day}, part {part}",
            stream.name()
        ))
    };
    parse().unwrap_or_else(|_| format!("history part {key:02x?}"))
}

/// The stream and the day of a key.
pub(in crate::store::telemetry) fn key_place(key: &[u8]) -> Result<(Stream, u32)> {
    read_head(&mut Decoder::new(key))
}

/// The head of a key.
fn read_head(decoder: &mut Decoder<'_>) -> Result<(Stream, u32)> {
    let stream = Stream::numbered(decoder.u8()?).ok_or_else(damaged)?;
    Ok((stream, u32::from_be_bytes(decoder.array()?)))
}

/// A key without its part: the prefix of all keys of its bucket, and of no other.
pub(crate) fn key_bucket(key: &[u8]) -> &[u8] {
    key.split_last_chunk::<4>()
        .map_or(key, |(bucket, _)| bucket)
}
