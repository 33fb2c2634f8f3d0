//! Why a command ends with an exit code other than 0.

use std::error::Error;
use std::fmt;

use deskfleet::EngineError;

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
        Self::Failed(format!("{what}: {}", chain(error)))
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
        Self::Failed(chain(&error))
    }
}

/// The error and its causes, outermost first.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
