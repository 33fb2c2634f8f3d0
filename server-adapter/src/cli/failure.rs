//! Why a command ends with an exit code other than 0.

use std::error::Error;
use std::fmt;

use deskfleet::{EngineError, error_chain};

/// A failure with its sentence for a person.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Exit code 1.
    Failed(String),
    /// Exit code 2.
    Usage(String),
}

impl Failure {
    /// Exit code 1, with an error and its causes after the sentence.
    pub(crate) fn caused(what: impl fmt::Display, error: &dyn Error) -> Self {
        Self::Failed(format!("{what}: {}", error_chain(error)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(sentence) => f.write_str(sentence),
            Self::Usage(sentence) => write!(f, "{sentence}\nTry `deskfleet --help`."),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Failed(error_chain(&error))
    }
}
