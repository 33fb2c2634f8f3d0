//! The address of a running server.

use std::fmt;
use std::str::FromStr;

use http::Uri;

/// The address of a server: `http://HOST`, `http://HOST:PORT`, with or without a path before its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerUrl {
    /// Host and port as written.
    pub(super) authority: String,
    pub(super) host: String,
    pub(super) port: u16,
    /// Empty, or a path without a slash at its end.
    pub(super) path: String,
}

impl FromStr for ServerUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const FORM: &str = "not of the form http://127.0.0.1:8080";
        let uri: Uri = text.parse().map_err(|_| FORM)?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                return Err("this command has no TLS: run it beside the server, or use a tunnel");
            }
            _ => return Err(FORM),
        }
        let authority = uri.authority().ok_or(FORM)?;
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err(FORM);
        }
        let host = authority.host();
        Ok(Self {
            authority: authority.to_string(),
            host: host.trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(80),
            path: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_of_a_server_is_split() {
        let url: ServerUrl = "http://[::1]:8080/fleet/".parse().unwrap();
        assert_eq!((&*url.host, url.port, &*url.path), ("::1", 8080, "/fleet"));
        assert_eq!(url.to_string(), "http://[::1]:8080/fleet");
        let url: ServerUrl = "http://fleet.example".parse().unwrap();
        assert_eq!(
            (&*url.host, url.port, &*url.path),
            ("fleet.example", 80, "")
        );
    }

    #[test]
    fn url_of_another_form_is_refused() {
        for text in [
            "",
            "127.0.0.1:8080",
            "fleet.example",
            "/operator",
            "ftp://fleet.example",
            "http://user:password@fleet.example",
            "http://fleet.example/?apiKey=x",
        ] {
            let refused = text.parse::<ServerUrl>().unwrap_err();
            assert!(refused.contains("form"), "{text}: {refused}");
        }
        let refused = "https://fleet.example".parse::<ServerUrl>().unwrap_err();
        assert!(refused.contains("TLS"));
    }
}
