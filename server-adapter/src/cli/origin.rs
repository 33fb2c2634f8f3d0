//! The address of a server for clients.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};

use super::failure::Failure;

/// The address for a browser of a server that listens at `address`. For a server that listens at all addresses, or with TLS,
/// whose certificate is for a name, it is the first of its `hosts`, or this machine.
pub(crate) fn origin(address: SocketAddr, hosts: &[String], has_tls: bool) -> String {
    let scheme = scheme(has_tls);
    let is_unspecified = address.ip().is_unspecified();
    if let Some(host) = hosts.first().filter(|_| is_unspecified || has_tls) {
        return format!("{scheme}://{host}:{}", address.port());
    }
    let ip = match address.ip() {
        ip if !is_unspecified => ip,
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    format!("{scheme}://{}", SocketAddr::new(ip, address.port()))
}

/// The first address of `listen`, a host or an address with a port.
pub(crate) fn resolve(listen: &str) -> Result<SocketAddr, Failure> {
    let found = listen.to_socket_addrs();
    let mut addresses =
        found.map_err(|error| Failure::caused(format_args!("cannot find {listen}"), &error))?;
    addresses
        .next()
        .ok_or_else(|| Failure(format!("{listen} has no address")))
}

pub(crate) const fn scheme(has_tls: bool) -> &'static str {
    if has_tls { "https" } else { "http" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_names_an_address_that_a_browser_can_open() {
        let named = ["fleet.example.com".to_owned(), "other.example".to_owned()];
        for (address, hosts, expected) in [
            ("127.0.0.1:8080", &[][..], "http://127.0.0.1:8080"),
            ("[::1]:8080", &named, "http://[::1]:8080"),
            ("192.0.2.7:80", &named, "http://192.0.2.7:80"),
            ("0.0.0.0:8080", &[], "http://127.0.0.1:8080"),
            ("0.0.0.0:80", &named, "http://fleet.example.com:80"),
            ("[::]:8080", &[], "http://[::1]:8080"),
            ("[::]:8080", &named, "http://fleet.example.com:8080"),
        ] {
            assert_eq!(origin(address.parse().unwrap(), hosts, false), expected);
        }
        for (address, hosts, expected) in [
            ("127.0.0.1:8443", &[][..], "https://127.0.0.1:8443"),
            ("127.0.0.1:8443", &named, "https://fleet.example.com:8443"),
            ("0.0.0.0:443", &named, "https://fleet.example.com:443"),
        ] {
            assert_eq!(origin(address.parse().unwrap(), hosts, true), expected);
        }
    }
}
