//! What the programs that call a deskfleet server have in common: the command, the providers and the agent.

#[cfg(feature = "transport")]
pub mod backoff;
mod key;
#[cfg(feature = "tls")]
mod pem;
mod response;
#[cfg(feature = "tls")]
pub mod tls;
#[cfg(feature = "transport")]
pub mod transport;
mod visible;
#[cfg(feature = "webhook")]
pub mod webhook;

pub use key::{api_key, read_api_key};
#[cfg(feature = "tls")]
pub use pem::{read_certificates, read_key, read_roots};
pub use response::{PageTokens, Problem, RepeatedToken};
pub use visible::visible;
