//! The API key of a client.

use std::fmt;
use std::io;
use std::path::Path;

use http::HeaderValue;

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
