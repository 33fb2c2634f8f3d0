//! The host allow-list against DNS rebinding: a page of an attacker makes a browser send requests to an address that only the
//! browser's machine can reach. Such requests carry the attacker's host name.

use std::net::{Ipv6Addr, SocketAddr};

use deskfleet::Code;
use http::{HeaderMap, Request, Version, header};

/// The names that requests may carry, beside addresses: a page at an address belongs to the owner of the address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hosts<'a> {
    /// `None`: any.
    names: Option<&'a [String]>,
}

/// A refusal because of the host, with its sentence.
type Refused = (Code, &'static str);

const NO_HOST: Refused = (
    Code::InvalidRequest,
    "A request has one Host header and no more.",
);
const OTHER_HOST: Refused = (
    Code::MisdirectedRequest,
    "This server does not serve that host; its operator can allow the name.",
);

/// Whether `text` is a host name, without port or path.
#[must_use]
pub fn is_host_name(text: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    !text.is_empty() && text.bytes().all(is_name)
}

/// Whether a request is for a server at `address` that allows no names: on a loopback address it carries an address or a loopback name.
#[must_use]
pub fn is_for_address<B>(request: &Request<B>, address: SocketAddr) -> bool {
    Hosts::new(&[], address).refuse(request).is_none()
}

impl<'a> Hosts<'a> {
    /// `names`, and the loopback names; any name where none is given and other machines reach the server at `address`.
    pub(crate) fn new(names: &'a [String], address: SocketAddr) -> Self {
        let any = names.is_empty() && !address.ip().to_canonical().is_loopback();
        Self {
            names: (!any).then_some(names),
        }
    }

    /// The refusal of a request by its host, if any.
    pub(crate) fn refuse<B>(&self, request: &Request<B>) -> Option<Refused> {
        let host = match host_header(request.headers(), request.version()) {
            Ok(host) => host,
            Err(refusal) => return Some(refusal),
        };
        let names = self.names?;
        let authority = request.uri().authority().map(http::uri::Authority::host);
        let named = [authority.map(str::as_bytes), host.map(without_port)];
        let all = named
            .into_iter()
            .flatten()
            .all(|host| is_allowed(host, names));
        (!all).then_some(OTHER_HOST)
    }
}

/// The one `Host` header, which only HTTP/1.1 must have.
fn host_header(headers: &HeaderMap, version: Version) -> Result<Option<&[u8]>, Refused> {
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => Ok(Some(host.as_bytes())),
        (None, _) if version != Version::HTTP_11 => Ok(None),
        _ => Err(NO_HOST),
    }
}

/// The host of `host:port`; what is not of that form stays as it is, and is no allowed name.
fn without_port(host: &[u8]) -> &[u8] {
    let end = match host.iter().rposition(|byte| *byte == b':') {
        Some(colon) => {
            let (before, port) = host.split_at(colon);
            let is_port = port.iter().skip(1).all(u8::is_ascii_digit);
            let inside = before.contains(&b':') && !before.ends_with(b"]");
            if is_port && !inside {
                colon
            } else {
                host.len()
            }
        }
        None => host.len(),
    };
    host.get(..end).unwrap_or(host)
}

fn is_allowed(host: &[u8], names: &[String]) -> bool {
    let host = host.strip_suffix(b".").unwrap_or(host);
    host.eq_ignore_ascii_case(b"localhost")
        || is_address(host)
        || names
            .iter()
            .any(|name| host.eq_ignore_ascii_case(name.as_bytes()))
}

fn is_address(host: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(host) else {
        return false;
    };
    match text.strip_prefix('[') {
        Some(v6) => v6
            .strip_suffix(']')
            .is_some_and(|v6| v6.parse::<Ipv6Addr>().is_ok()),
        None => text.parse::<std::net::Ipv4Addr>().is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn loopback(names: &[String]) -> Hosts<'_> {
        Hosts::new(names, "127.0.0.1:8080".parse().unwrap())
    }

    fn code(hosts: &Hosts<'_>, uri: &str, host: &[&str]) -> Option<Code> {
        let mut request = Request::get(uri).body(()).unwrap();
        for host in host {
            let value = HeaderValue::from_str(host).unwrap();
            request.headers_mut().append(header::HOST, value);
        }
        hosts.refuse(&request).map(|(code, _)| code)
    }

    #[test]
    fn loopback_server_accepts_only_addresses_localhost_and_named_hosts() {
        let names = ["Fleet.example".to_owned()];
        let hosts = loopback(&names);
        for good in [
            "localhost",
            "LOCALHOST:9000",
            "localhost.",
            "127.0.0.1:8080",
            "127.0.0.1",
            "[::1]",
            "[::1]:8080",
            "10.0.0.7:8080",
            "fleet.EXAMPLE:1",
        ] {
            assert_eq!(code(&hosts, "/", &[good]), None, "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "localhost:80@evil.example",
            "evil.example:localhost",
            "127.0.0.1:80:80",
            "::1",
            "[::1",
            "[evil]",
            "2130706433",
        ] {
            let refused = code(&hosts, "/", &[bad]);
            assert_eq!(refused, Some(Code::MisdirectedRequest), "{bad}");
        }
    }

    #[test]
    fn the_target_may_not_name_another_host() {
        let hosts = loopback(&[]);
        let own = code(&hosts, "http://localhost:8080/livez", &["127.0.0.1"]);
        assert_eq!(own, None);
        for (target, host) in [
            ("http://evil.example/livez", "localhost"),
            ("http://localhost/livez", "evil.example"),
            ("http://localhost@evil.example/livez", "localhost"),
        ] {
            let refused = code(&hosts, target, &[host]);
            assert_eq!(refused, Some(Code::MisdirectedRequest), "{target}");
        }
    }

    #[test]
    fn one_host_header_is_needed_everywhere() {
        let open = Hosts::new(&[], "0.0.0.0:8080".parse().unwrap());
        for hosts in [&open, &loopback(&[])] {
            for count in [&[][..], &["localhost", "localhost"]] {
                assert_eq!(code(hosts, "/", count), Some(Code::InvalidRequest));
            }
        }
        assert_eq!(code(&open, "/", &["anything.example"]), None);
        let names = ["a.example".to_owned()];
        let named = Hosts::new(&names, "0.0.0.0:8080".parse().unwrap());
        assert_eq!(
            code(&named, "/", &["b.example"]),
            Some(Code::MisdirectedRequest)
        );
    }
}
