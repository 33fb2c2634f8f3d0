//! Responses: bodies that are made while they are sent, reads off the event loop, and streams of events.

pub(crate) mod body;
pub(crate) mod event_body;
pub(crate) mod event_streams;
pub(crate) mod keyed_responses;
pub(crate) mod slow_reads;
