//! A raw HTTP/1.1 client over a blocking socket, which shows the bytes of a response as they arrive.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};

use crate::transport::Transport;

/// How long a response may take before the test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// One connection for each request to a server at this address.
#[derive(Debug)]
pub struct Socket(pub SocketAddr);

impl Transport for Socket {
    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        exchange(self.0, &request).expect("an answer from the server")
    }
}

fn exchange(address: SocketAddr, request: &Request<Bytes>) -> io::Result<Response<Bytes>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // A server that refuses a body before it has read it all may close; its response arrives nevertheless.
    let sent = stream
        .write_all(&head(request))
        .and_then(|()| stream.write_all(request.body()));
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    if answer.is_empty() {
        sent?;
        read?;
    }
    parse(&answer, request.method() == http::Method::HEAD)
}

fn head(request: &Request<Bytes>) -> Vec<u8> {
    let target = request
        .uri()
        .path_and_query()
        .map_or("/", |target| target.as_str());
    let mut head = format!(
        "{} {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n",
        request.method()
    )
    .into_bytes();
    for (name, value) in request.headers() {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    let bodiless = matches!(*request.method(), http::Method::GET | http::Method::HEAD);
    if !bodiless || !request.body().is_empty() {
        head.extend_from_slice(format!("content-length: {}\r\n", request.body().len()).as_bytes());
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// The chunks of a body joined; `None` when the last one is missing.
fn joined(mut chunks: &[u8]) -> Option<Bytes> {
    let mut body = Vec::new();
    loop {
        let end = chunks.windows(2).position(|window| window == b"\r\n")?;
        let length = std::str::from_utf8(&chunks[..end]).ok()?;
        let length = usize::from_str_radix(length, 16).ok()?;
        let rest = &chunks[end + 2..];
        let (chunk, rest) = rest.split_at_checked(length)?;
        body.extend_from_slice(chunk);
        chunks = rest.strip_prefix(b"\r\n")?;
        if length == 0 {
            return chunks.is_empty().then(|| body.into());
        }
    }
}

/// The response, with the length of its body as the head declares it.
fn parse(answer: &[u8], head_only: bool) -> io::Result<Response<Bytes>> {
    let broken = || {
        io::Error::other(format!(
            "not an answer: {:?}",
            String::from_utf8_lossy(answer)
        ))
    };
    let end = answer
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .ok_or_else(broken)?;
    let head = std::str::from_utf8(&answer[..end]).map_err(|_| broken())?;
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1.1 "))
        .ok_or_else(broken)?;
    let status = status.get(..3).ok_or_else(broken)?;
    let mut builder = Response::builder().status(status);
    for line in lines {
        let (name, value) = line.split_once(": ").ok_or_else(broken)?;
        builder = builder.header(name, value);
    }
    let body = Bytes::copy_from_slice(&answer[end + 4..]);
    let mut response = builder.body(body).map_err(|_| broken())?;
    if let Some(coding) = response.headers_mut().remove("transfer-encoding") {
        let body = joined(response.body())
            .filter(|_| coding == "chunked")
            .ok_or_else(broken)?;
        return Ok(response.map(|_| body));
    }
    let length = response
        .headers()
        .get("content-length")
        .and_then(|length| length.to_str().ok()?.parse().ok());
    if !head_only && length != Some(response.body().len()) {
        return Err(broken());
    }
    Ok(response)
}
