//! Ports for servers that are started with one in their configuration.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below those that the system gives to connections and to who asks for any.
const FIRST: u16 = 10_000;
const COUNT: u16 = 20_000;

/// Ports that nothing listens at. No other test of this process gets them, and another process begins elsewhere: a server takes a while
/// until it listens.
pub fn free_ports(count: usize) -> Vec<u16> {
    static TRIED: AtomicU16 = AtomicU16::new(0);
    let own = std::process::id().wrapping_mul(61);
    let ports = std::iter::repeat_with(|| {
        let next = u32::from(TRIED.fetch_add(1, Ordering::Relaxed));
        let offset = own.wrapping_add(next) % u32::from(COUNT);
        FIRST + u16::try_from(offset).unwrap()
    });
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.filter(is_free).take(count).collect()
}
