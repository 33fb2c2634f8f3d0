//! What the environment of a process says of AWS.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use super::{Credentials, CredentialsError};

/// The environment that credentials and region are looked for in.
#[derive(Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// That of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self {
            variables: std::env::vars_os()
                .filter_map(|(name, value)| {
                    Some((name.into_string().ok()?, value.into_string().ok()?))
                })
                .filter(|(name, _)| {
                    name.starts_with("AWS_") || matches!(name.as_str(), "HOME" | "USERPROFILE")
                })
                .collect(),
        }
    }

    /// One with these variables alone.
    #[must_use]
    pub fn from_variables(variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            variables: variables.iter().map(owned).collect(),
        }
    }

    /// A variable that is set and not empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name)?.trim();
        (!value.is_empty()).then_some(value)
    }

    /// A file below the home folder, if there is one.
    pub(super) fn in_home(&self, path: &str) -> Option<PathBuf> {
        let home = self.get("HOME").or_else(|| self.get("USERPROFILE"))?;
        Some(PathBuf::from(home).join(path))
    }

    /// Credentials that the variables hold themselves.
    pub(super) fn credentials(&self) -> Result<Option<Credentials>, CredentialsError> {
        let id = self.get("AWS_ACCESS_KEY_ID");
        let secret = self.get("AWS_SECRET_ACCESS_KEY");
        match (id, secret) {
            (Some(id), Some(secret)) => {
                let token = self.get("AWS_SESSION_TOKEN");
                Ok(Some(Credentials::new(id, secret, token, None)))
            }
            (None, None) => Ok(None),
            (Some(_), None) => Err(half("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")),
            (None, Some(_)) => Err(half("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID")),
        }
    }
}

fn half(set: &str, unset: &str) -> CredentialsError {
    CredentialsError(format!(
        "{set} is set, and {unset} is not: set both or neither"
    ))
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.variables.keys();
        f.debug_list().entries(names).finish()
    }
}
