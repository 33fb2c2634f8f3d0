//! The link that signs a browser in to the console.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use deskfleet_server::ServerHandle;

use super::failure::Failure;
use super::output::{data, flush_log, log};

/// Prints a link with a new one-time code, on standard output as a first key is, away from the access log.
pub(crate) fn print(
    server: &ServerHandle,
    address: SocketAddr,
    hosts: &[String],
) -> Result<(), Failure> {
    let code = server.console_code();
    let code = code.map_err(|error| Failure::caused("cannot make a code", &error))?;
    log!(
        "To sign in to the console, open this link in a browser within 30 minutes. It works once:"
    );
    flush_log();
    data(format_args!(
        "Console: {}/#code={code}",
        origin(address, hosts)
    ))
}

/// Where a browser finds a server that listens at `address`. One that listens at all addresses is found by the first of its `hosts`,
/// or from this machine.
fn origin(address: SocketAddr, hosts: &[String]) -> String {
    if !address.ip().is_unspecified() {
        return format!("http://{address}");
    }
    if let Some(host) = hosts.first() {
        return format!("http://{host}:{}", address.port());
    }
    let loopback = match address.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
    };
    format!("http://{}", SocketAddr::new(loopback, address.port()))
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
            assert_eq!(origin(address.parse().unwrap(), hosts), expected);
        }
    }
}
