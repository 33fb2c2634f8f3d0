//! Responses of a server that are more than their body: refusals, and lists of several pages.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The members of a problem body that people need.
#[derive(Debug, Clone, Deserialize)]
pub struct Problem {
    /// What went wrong, for programs.
    pub code: String,
    title: String,
    detail: Option<String>,
    errors: Option<Errors>,
}

/// What is wrong with a request.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Errors {
    /// Messages by the parameter or the place in the body that they are about.
    ByPlace(BTreeMap<String, Vec<String>>),
    /// A list, of a response to several records.
    List(IgnoredAny),
}

impl Problem {
    /// What went wrong, for people: `One or more validation errors occurred. $.name: The field name must not be empty.`
    #[must_use]
    pub fn message(&self) -> String {
        let mut message = self.detail.as_ref().unwrap_or(&self.title).clone();
        if let Some(Errors::ByPlace(errors)) = &self.errors {
            for (place, messages) in errors {
                for error in messages {
                    message.extend([" ", place, ": ", error]);
                }
            }
        }
        message
    }
}

/// The tokens of the pages of a list that were read.
///
/// ```
/// use deskfleet_client::PageTokens;
///
/// let mut tokens = PageTokens::default();
/// assert_eq!(tokens.next(Some("a".into())), Ok(Some("a".into())));
/// assert_eq!(tokens.next(None), Ok(None));
/// assert!(tokens.next(Some("a".into())).is_err());
/// ```
#[derive(Debug, Default)]
pub struct PageTokens(BTreeSet<String>);

/// A page has the token of an earlier one, so reading on would never end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatedToken;

impl PageTokens {
    /// The token that a page names for the next one; `None` at the end.
    ///
    /// # Errors
    /// When a page before it named the same one.
    pub fn next(&mut self, token: Option<String>) -> Result<Option<String>, RepeatedToken> {
        match token {
            Some(token) if !self.0.insert(token.clone()) => Err(RepeatedToken),
            token => Ok(token),
        }
    }
}

impl fmt::Display for RepeatedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the list does not end: a page has the nextToken of one before it; report this to who runs the server")
    }
}

impl std::error::Error for RepeatedToken {}
