//! What the clients of a server have in common, the command and the providers: the key, what a refusal says, the tokens of pages, and
//! text of others as it may be shown.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;

use http::HeaderValue;
use serde::Deserialize;

/// Reads the API key in a file.
///
/// # Errors
/// One sentence with the file.
pub fn read_api_key(file: &Path) -> io::Result<HeaderValue> {
    let place = file.display();
    let text = std::fs::read_to_string(file)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot read {place}: {error}")))?;
    api_key(&text, place)
}

/// The API key that `text` of `place` is.
///
/// # Errors
/// One sentence with the place, where it is none.
pub fn api_key(text: &str, place: impl fmt::Display) -> io::Result<HeaderValue> {
    let key = HeaderValue::from_str(text.trim()).ok();
    let key = key.filter(|key| !key.is_empty());
    let mut key = key.ok_or_else(|| io::Error::other(format!("{place} holds no API key")))?;
    key.set_sensitive(true);
    Ok(key)
}

/// The members of a problem body that people need.
#[derive(Debug, Clone, Deserialize)]
pub struct Problem {
    /// What went wrong, for programs.
    pub code: String,
    title: String,
    detail: Option<String>,
}

impl Problem {
    /// What went wrong, for people.
    #[must_use]
    pub fn message(&self) -> &str {
        self.detail.as_ref().unwrap_or(&self.title)
    }
}

/// `text` from elsewhere, with its control characters as `\u{1b}`: a terminal would obey them.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut visible = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() {
            visible.extend(char.escape_default());
        } else {
            visible.push(char);
        }
    }
    visible
}

/// The tokens of the pages of a list that were read.
///
/// ```
/// use deskfleet_server::PageTokens;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_made_visible() {
        let text = "Zo\u{eb} \u{1b}]0;x\u{7}\u{9b}2J\r\n\t\u{7f}";
        let expected = "Zo\u{eb} \\u{1b}]0;x\\u{7}\\u{9b}2J\\r\\n\\t\\u{7f}";
        assert_eq!(visible(text), expected);
    }
}
