//! A proxy of TCP that fails on command.

use std::io::{Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// What becomes of a new connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Fault {
    /// It goes to the server.
    None,
    /// It is closed at once.
    Closed,
    /// The request arrives, and the response is lost.
    ResponseLost,
}

pub(crate) struct FaultyProxy {
    addr: SocketAddr,
    fault: Arc<AtomicU8>,
    connections: Arc<AtomicUsize>,
}

impl FaultyProxy {
    pub(crate) fn new(server: SocketAddr, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self {
            addr: listener.local_addr().unwrap(),
            fault: Arc::new(AtomicU8::new(fault as u8)),
            connections: Arc::default(),
        };
        let (fault, connections) = (Arc::clone(&proxy.fault), Arc::clone(&proxy.connections));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let fault = fault.load(Ordering::SeqCst);
                if fault != Fault::Closed as u8 {
                    let is_lost = fault == Fault::ResponseLost as u8;
                    thread::spawn(move || forward(&client, server, is_lost));
                }
                connections.fetch_add(1, Ordering::SeqCst);
            }
        });
        proxy
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    pub(crate) fn set(&self, fault: Fault) {
        self.fault.store(fault as u8, Ordering::SeqCst);
    }

    /// Waits until this number of connections more were made.
    pub(crate) fn wait_for_connections(&self, count: usize) {
        let end = self.connections.load(Ordering::SeqCst) + count;
        while self.connections.load(Ordering::SeqCst) < end {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn forward(client: &TcpStream, server: SocketAddr, is_lost: bool) {
    let server = TcpStream::connect(server).unwrap();
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let upwards = thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
    let mut response = [0; 4096];
    let mut client = client;
    // The first bytes come after the records are stored.
    while let Ok(read @ 1..) = (&server).read(&mut response) {
        if is_lost || client.write_all(&response[..read]).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
    let _ = upwards.join();
}
