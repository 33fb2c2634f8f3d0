//! All suites of the package in one program. They need real servers, and skip where those cannot be had.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod access;
mod contract;
mod faults;

// What they share with each other and with the suites of the server.
#[path = "../../../tests/src/log_contract.rs"]
#[allow(unreachable_pub, reason = "a part of another package")]
mod log_contract;
#[path = "../../../tests/src/log_under_faults.rs"]
#[allow(dead_code, unreachable_pub, reason = "each package uses a part of it")]
mod log_under_faults;
#[path = "../../../tests/src/servers/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "each package uses a part of it")]
mod servers;
