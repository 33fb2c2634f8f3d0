//! Responses: bodies that are made while they are sent, in gzip or not, reads off the event loop, and streams of events.

pub(crate) mod body;
pub(crate) mod compression;
pub(crate) mod event_body;
pub(crate) mod event_streams;
pub(crate) mod keyed_responses;
pub(crate) mod slow_reads;
