//! The address of a running server.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use http::Uri;

use super::origin::scheme;

/// The address of a server: `http://HOST`, `https://HOST:PORT`, with or without a path before its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerUrl {
    /// Whether it is of `https`.
    pub(super) is_tls: bool,
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
        Self::parse(text, cfg!(feature = "tls"))
    }
}

impl ServerUrl {
    fn parse(text: &str, has_tls: bool) -> Result<Self, &'static str> {
        const FORM: &str = "not of the form http://127.0.0.1:8080";
        let uri: Uri = text.parse().map_err(|_| FORM)?;
        let is_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") if has_tls => true,
            Some("https") => {
                return Err(
                    "this deskfleet was built without TLS: run it beside the server, use a tunnel, or build it with\n  \
                    cargo build --release -p deskfleet-server --features tls",
                );
            }
            _ => return Err(FORM),
        };
        let authority = uri.authority().ok_or(FORM)?;
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err(FORM);
        }
        let host = authority.host();
        Ok(Self {
            is_tls,
            authority: authority.to_string(),
            host: host.trim_matches(['[', ']']).to_owned(),
            port: authority
                .port_u16()
                .unwrap_or(if is_tls { 443 } else { 80 }),
            path: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = scheme(self.is_tls);
        write!(f, "{scheme}://{}{}", self.authority, self.path)
    }
}

/// The target of a request: a path, and the parameters that are given.
pub(super) fn target(path: &str, parameters: &[(&str, Option<String>)]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte);
    let mut target = path.to_owned();
    for (name, value) in parameters {
        let Some(value) = value else { continue };
        target.push(if target.len() == path.len() { '?' } else { '&' });
        target.extend([name, "="]);
        for byte in value.bytes() {
            if is_plain(byte) {
                target.push(char::from(byte));
            } else {
                // A text takes all that is written to it.
                let _ = write!(target, "%{byte:02X}");
            }
        }
    }
    target
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
    fn target_has_the_given_parameters() {
        let parameters = [
            ("a", None),
            ("b", Some("2026-11-20T08:00:00Z".to_owned())),
            ("c", Some("a&b%+ä".to_owned())),
        ];
        let encoded = "/path?b=2026-11-20T08:00:00Z&c=a%26b%25%2B%C3%A4";
        assert_eq!(target("/path", &parameters), encoded);
        assert_eq!(target("/path", &[]), "/path");
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
    }

    #[test]
    fn url_of_https_has_its_own_port_and_needs_a_build_with_tls() {
        let text = "https://fleet.example";
        let url = ServerUrl::parse(text, true).unwrap();
        assert_eq!((&*url.host, url.port), ("fleet.example", 443));
        assert_eq!(url.to_string(), text);
        let refused = ServerUrl::parse(text, false).unwrap_err();
        assert!(refused.contains("--features tls"));
    }
}
