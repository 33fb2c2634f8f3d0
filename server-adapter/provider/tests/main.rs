//! All suites of the provider in one program, which is compiled and linked once.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod aws;
mod command;
mod fleet;
mod inventory;
mod lease;
mod mode;
mod webhook;

// What they share.
#[path = "../../tests/client/mod.rs"]
mod client;
mod clouds;
mod fleets;
#[path = "../../tests/gate/mod.rs"]
mod gate;
#[path = "../../tests/served/mod.rs"]
mod served;
