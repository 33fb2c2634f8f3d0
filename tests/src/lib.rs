//! The harness of deskfleet's suites: shared by the test targets, so that every transport, the fuzzer and the simulator
//! can drive the same cases.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "a test harness fails by panicking, and a test that drops a result fails to compile its next line"
)]

pub mod cluster;
pub mod conformance;
pub mod crash;
#[cfg(unix)]
pub mod damaged_queue;
pub mod disk;
pub mod event_engine;
pub mod events;
pub mod exported;
pub mod failing;
pub mod files;
pub mod fuzzing;
pub mod http2;
pub mod log_contract;
pub mod model;
pub mod openapi;
pub mod panics;
pub mod posted;
pub mod posting;
pub mod servers;
pub mod simulation;
pub mod socket;
mod sweeps;
pub mod tidy;
pub mod transport;

/// The README's Rust is compiled and run with the tests; the crate alone has no such file.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
