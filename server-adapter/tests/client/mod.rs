//! A client that sends exactly the bytes it is given.
#![allow(dead_code, reason = "each suite uses a part of it")]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long a test waits for bytes before it fails; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Client(TcpStream);

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Status line and headers, lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(stream)
    }

    /// From `source`, an address of this host.
    #[cfg(target_os = "linux")]
    pub(crate) fn connect_from(source: std::net::Ipv4Addr, address: SocketAddr) -> Self {
        use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&socket, &SocketAddr::from((source, 0))).unwrap();
        connect(&socket, &address).unwrap();
        let stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(stream)
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    /// Sends a body that the server may not read to its end.
    pub(crate) fn try_send(&mut self, bytes: impl AsRef<[u8]>) {
        // The response arrives nevertheless.
        let _ = self.0.write_all(bytes.as_ref());
    }

    /// Sends nothing more; reads on.
    pub(crate) fn close_sending(&self) {
        self.0.shutdown(std::net::Shutdown::Write).unwrap();
    }

    /// One request without a body, and its response.
    pub(crate) fn ask(&mut self, method: &str, target: &str, headers: &str) -> Answer {
        self.send(format!(
            "{method} {target} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n"
        ));
        self.answer_to(method)
    }

    /// One JSON body, and the response.
    pub(crate) fn post(&mut self, target: &str, headers: &str, body: &str) -> Answer {
        let length = body.len();
        self.send(format!(
            "POST {target} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n{headers}\r\n{body}"
        ));
        self.answer_to("POST")
    }

    /// A JSON body in a content coding, and the response.
    pub(crate) fn post_coded(
        &mut self,
        target: &str,
        headers: &str,
        coding: &str,
        body: &[u8],
    ) -> Answer {
        let length = body.len();
        self.send(format!(
            "POST {target} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-encoding: {coding}\r\ncontent-length: {length}\r\n{headers}\r\n"
        ));
        self.send(body);
        self.answer_to("POST")
    }

    pub(crate) fn answer_to(&mut self, method: &str) -> Answer {
        let head = self.head();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length = header(&head, "content-length").map_or(0, |value| value.parse().unwrap());
        let mut body = vec![0; if method == "HEAD" { 0 } else { length }];
        self.0.read_exact(&mut body).unwrap();
        Answer {
            status,
            head,
            body: String::from_utf8(body).unwrap(),
        }
    }

    /// Reads up to the empty line.
    pub(crate) fn head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        String::from_utf8(head).unwrap().to_lowercase()
    }

    /// The bytes of one read.
    pub(crate) fn read_once(&mut self) -> String {
        let mut bytes = vec![0; 64 * 1024];
        let length = self.0.read(&mut bytes).unwrap();
        bytes.truncate(length);
        String::from_utf8(bytes).unwrap()
    }

    /// Reads that many bytes more.
    pub(crate) fn read_some(&mut self, bytes: &mut Vec<u8>, length: usize) {
        let begin = bytes.len();
        bytes.resize(begin + length, 0);
        self.0.read_exact(bytes.get_mut(begin..).unwrap()).unwrap();
    }

    /// All bytes until the server closes.
    pub(crate) fn read_to_end(&mut self) -> Vec<u8> {
        let (bytes, closed) = self.read_while_open();
        assert!(closed, "it is still open");
        bytes
    }

    /// All bytes, and whether the server closed in the end.
    pub(crate) fn read_while_open(&mut self) -> (Vec<u8>, bool) {
        let mut bytes = Vec::new();
        let closed = match self.0.read_to_end(&mut bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => true,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => false,
            read => read.is_ok(),
        };
        (bytes, closed)
    }

    /// Whether the server closes without another byte.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        match self.0.read(&mut byte) {
            Ok(read) => read == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}
