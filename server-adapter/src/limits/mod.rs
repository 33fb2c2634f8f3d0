//! Bounds on what clients can take: connections and their places, requests of a source, memory of bodies, guesses of keys.

pub(crate) mod budget;
pub(crate) mod connection_slots;
pub(crate) mod counted;
pub(crate) mod places;
pub(crate) mod served_places;
pub(crate) mod source_rates;
pub(crate) mod sources;
