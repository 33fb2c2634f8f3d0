//! A synthetic fleet of desktops: the inventory, and for any span of time the telemetry that their agents send.
//!
//! Everything depends on a seed, the number of the desktop and the time, so a span may be asked for at once or in parts, with the same
//! records.
//!
//! ```
//! use deskfleet_demo_fleet::{Desktop, Intervals};
//!
//! let desktop = Desktop::new(7, 20_261_120);
//! let noon = 1_763_640_000;
//! let day = desktop.records(noon..noon + 86_400, Intervals::AGENT);
//! let morning = desktop.records(noon..noon + 3600, Intervals::AGENT);
//! assert_eq!(day[..morning.len()], morning);
//! ```

mod days;
mod desktop;
mod random;
mod samples;

pub use days::is_workday;
pub use desktop::{Desktop, Habit};
pub use random::Random;
pub use samples::{Intervals, Sent, Stream};
