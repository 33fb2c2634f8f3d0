//! skeleton

mod api;
mod clock;
mod config;
mod engine;
mod error;
pub mod limits;
mod model;
mod observer;
mod random;
mod timestamp;
mod wire;

pub use api::routes::{
    Access, Answer, Endpoint, Method, Param, ParamKind, ROUTES, RequestBody, Route,
};
pub use clock::{Clock, ManualClock};
pub use config::{ActionDriver, ActionSeconds, CommitDriver, Config, RetentionDays};
pub use engine::*;
pub use error::{EngineError, ErrorKind, Result};
pub use limits::Limits;
pub use model::*;
pub use observer::{Event, Observer};
pub use redb::StorageBackend;
pub use timestamp::{InvalidTimestamp, Timestamp};
pub use wire::problem::Code;
