//! Why a command ends with an exit code 1.

use std::error::Error;
use std::fmt;
use std::path::Path;

use deskfleet::{EngineError, error_chain};

/// A failure with its sentence for a person.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl Failure {
    /// A failure with an error and its causes after the sentence.
    pub(crate) fn caused(what: impl fmt::Display, error: &dyn Error) -> Self {
        Self(format!("{what}: {}", error_chain(error)))
    }

    pub(crate) fn cannot_read(file: &Path, error: &dyn Error) -> Self {
        Self::caused(format_args!("cannot read {}", file.display()), error)
    }

    /// `place` is a file or what else is written to.
    pub(crate) fn cannot_write(place: impl fmt::Display, error: &dyn Error) -> Self {
        Self::caused(format_args!("cannot write to {place}"), error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self(error_chain(&error))
    }
}
