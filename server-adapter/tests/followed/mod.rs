//! A client of `GET /query/events` that takes a stream apart.
#![allow(dead_code, reason = "each suite uses a part of it")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long a test waits for bytes before it fails; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// A stream of events over HTTP/1.1.
pub(crate) struct Followed {
    reader: BufReader<TcpStream>,
    /// Status line and headers.
    pub(crate) head: String,
    text: String,
    /// Whether the body came to its end.
    pub(crate) ended: bool,
}

/// An event as it was sent.
#[derive(Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) id: Option<u64>,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

impl Followed {
    /// Follows the events; `headers` end with line breaks. An error when the server is gone.
    pub(crate) fn begin(
        address: SocketAddr,
        key: &str,
        query: &str,
        headers: &str,
    ) -> std::io::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let request = format!(
            "GET /query/events{query} HTTP/1.1\r\nhost: localhost\r\nx-api-key: {key}\r\n\
             accept: text/event-stream\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(Self {
            reader,
            head: head.to_lowercase(),
            text: String::new(),
            ended: false,
        })
    }

    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// The next event or comment; `None` at the end of the body, or where the server is gone.
    fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                return Some(block);
            }
            let mut line = String::new();
            self.reader.read_line(&mut line).ok()?;
            let length = usize::from_str_radix(line.trim_end(), 16).ok()?;
            let mut chunk = vec![0; length + 2];
            self.reader.read_exact(&mut chunk).ok()?;
            if length == 0 {
                self.ended = true;
                return None;
            }
            self.text
                .push_str(std::str::from_utf8(chunk.get(..length)?).unwrap());
        }
    }

    /// The next comment.
    pub(crate) fn comment(&mut self) {
        assert_eq!(self.block().unwrap(), ":");
    }
}

impl Iterator for Followed {
    type Item = Sent;

    /// The next event; comments are passed over.
    fn next(&mut self) -> Option<Sent> {
        loop {
            let block = self.block()?;
            if block == ":" {
                continue;
            }
            let (mut id, mut kind, mut data) = (None, None, None);
            for line in block.lines() {
                match line.split_once(": ").unwrap() {
                    ("id", value) => id = Some(value.parse().unwrap()),
                    ("event", value) => kind = Some(value.to_owned()),
                    ("data", value) => data = serde_json::from_str(value).ok(),
                    _ => unreachable!("{line}"),
                }
            }
            return Some(Sent {
                id,
                kind: kind.unwrap(),
                data: data.unwrap(),
            });
        }
    }
}
