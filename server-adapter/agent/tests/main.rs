//! All suites of the agent in one program, which is compiled and linked once.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod crashes;
mod figures;
mod outages;
mod page;
mod refusals;
mod swarms;

// What they share.
mod agents;
#[path = "../../tests/certificates/mod.rs"]
mod certificates;
mod faulty_proxy;
