//! Where a body ends: bytes that two readers could split differently. A part that were executed as a request would
//! leave a record, and none may be left.

use super::{Attack, RECORD, closed, get, open, post, smuggled};

pub(super) fn attacks() -> Vec<Attack> {
    let mut attacks = lengths();
    attacks.extend(codings());
    attacks.extend(chunks());
    attacks.extend(desync());
    attacks.extend(hidden());
    attacks
}

fn with_length(length: &str) -> String {
    post(&format!("content-length: {length}\r\n"), RECORD)
}

fn lengths() -> Vec<Attack> {
    let length = RECORD.len();
    vec![
        closed(
            "a body that never comes",
            post("content-length: 10\r\n", "{"),
            "408, closed",
        ),
        closed(
            "two different Content-Lengths",
            post(
                &format!("content-length: {length}\r\ncontent-length: 0\r\n"),
                RECORD,
            ),
            "400, closed",
        ),
        open(
            "the same Content-Length twice, accepted as one (RFC 9112, 6.3)",
            post(
                &format!("content-length: {length}\r\ncontent-length: {length}\r\n"),
                RECORD,
            ),
            "200",
        )
        .records(1),
        closed(
            "a list of Content-Lengths",
            with_length(&format!("{length}, {length}")),
            "400, closed",
        ),
        closed(
            "a Content-Length with a plus",
            with_length(&format!("+{length}")),
            "400, closed",
        ),
        closed(
            "a negative Content-Length",
            with_length("-1"),
            "400, closed",
        ),
        closed(
            "a Content-Length in hexadecimal",
            with_length("0x19"),
            "400, closed",
        ),
        closed("an empty Content-Length", with_length(""), "400, closed"),
        closed(
            "a Content-Length beyond 64 bits",
            with_length("99999999999999999999999"),
            "400, closed",
        ),
        closed(
            "a Content-Length of all 64 bits",
            with_length("18446744073709551615"),
            "431, closed",
        ),
        closed(
            "a Content-Length of a petabyte",
            with_length("1125899906842624"),
            "413, closed",
        ),
    ]
}

fn coded(coding: &str) -> String {
    let chunk = format!("{:x}\r\n{RECORD}\r\n0\r\n\r\n", RECORD.len());
    post(&format!("transfer-encoding: {coding}\r\n"), &chunk)
}

fn codings() -> Vec<Attack> {
    vec![
        closed(
            "an unknown Transfer-Encoding",
            coded("xchunked"),
            "400, closed",
        ),
        closed(
            "Transfer-Encoding: identity",
            coded("identity"),
            "400, closed",
        ),
        closed(
            "chunked, followed by another coding",
            coded("chunked, gzip"),
            "400, closed",
        ),
        closed(
            "chunked with a parameter",
            coded("chunked;q=1"),
            "400, closed",
        ),
        closed(
            "chunked with a vertical tab before it",
            coded("\u{b}chunked"),
            "400, closed",
        ),
        closed(
            "another coding before chunked",
            coded("gzip, chunked"),
            "400, closed",
        ),
        closed(
            "two Transfer-Encodings",
            coded("chunked\r\ntransfer-encoding: chunked"),
            "400, closed",
        ),
        closed(
            "Transfer-Encoding in HTTP/1.0",
            coded("chunked").replacen("HTTP/1.1", "HTTP/1.0", 1),
            "400, closed",
        ),
    ]
}

fn chunked(chunks: &str) -> String {
    post("transfer-encoding: chunked\r\n", chunks)
}

fn chunks() -> Vec<Attack> {
    let size = RECORD.len();
    vec![
        closed("an invalid chunk size", chunked("zz\r\n"), "400, closed"),
        closed(
            "a chunk size beyond 64 bits",
            chunked("fffffffffffffffff\r\nx"),
            "400, closed",
        ),
        closed("a negative chunk size", chunked("-1\r\nx"), "400, closed"),
        closed(
            "a chunk size with 0x",
            chunked(&format!("0x{size:x}\r\n{RECORD}\r\n0\r\n\r\n")),
            "400, closed",
        ),
        closed(
            "a chunk that is longer than it says",
            chunked(&format!("5\r\n{RECORD}\r\n0\r\n\r\n")),
            "400, closed",
        ),
        closed(
            "bare LF after a chunk size",
            chunked(&format!("{size:x}\n{RECORD}\r\n0\r\n\r\n")),
            "400, closed",
        ),
        closed(
            "a chunk extension of 20 000 bytes",
            chunked(&format!(
                "{size:x};{}\r\n{RECORD}\r\n0\r\n\r\n",
                "e".repeat(20_000)
            )),
            "400, closed",
        ),
        closed(
            "trailers of 70 000 bytes",
            chunked(&format!(
                "{size:x}\r\n{RECORD}\r\n0\r\nx: {}\r\n\r\n",
                "t".repeat(70_000)
            )),
            "400, closed",
        ),
        open(
            "a key in a trailer, which is ignored",
            chunked(&format!(
                "{size:x}\r\n{RECORD}\r\n0\r\nx-api-key: dfk_x\r\n\r\n"
            )),
            "200",
        )
        .records(1),
        closed(
            "trailers that end in a bare LF",
            chunked(&format!("{size:x}\r\n{RECORD}\r\n0\r\nx: y\n\n")),
            "408, closed",
        ),
        closed(
            "chunks that do not end",
            chunked(&format!("{size:x}\r\n{RECORD}\r\n")),
            "408, closed",
        ),
    ]
}

fn desync() -> Vec<Attack> {
    let inner = smuggled();
    let length = inner.len();
    let cl_te = format!("content-length: {length}\r\ntransfer-encoding: chunked\r\n");
    let both = format!("{:x}\r\n{inner}\r\n0\r\n\r\n", inner.len());
    vec![
        open(
            "two pipelined requests, which are allowed",
            format!("{}{}", smuggled(), get("/livez", "")),
            "200, 200",
        )
        .records(1),
        closed(
            "Content-Length and chunked, a request inside the chunk: chunked counts (RFC 9112, 6.3)",
            post(&cl_te, &both),
            "400, closed",
        ),
        closed(
            "Content-Length and chunked, a request after the last chunk",
            post(&cl_te, &format!("0\r\n\r\n{inner}")),
            "400, closed",
        ),
        closed(
            "chunked and Content-Length, in the other order",
            post(
                &format!("transfer-encoding: chunked\r\ncontent-length: {length}\r\n"),
                &both,
            ),
            "400, closed",
        ),
    ]
}

fn hidden() -> Vec<Attack> {
    let inner = smuggled();
    let length = inner.len();
    vec![
        open(
            "a request as the body of an endpoint that takes none",
            format!(
                "{}{inner}",
                get("/livez", &format!("content-length: {length}\r\n"))
            ),
            "200",
        ),
        open(
            "a request as the body of a request that is refused by its host",
            format!(
                "POST /livez HTTP/1.1\r\nhost: evil.example\r\ncontent-length: {length}\r\n\r\n{inner}"
            ),
            "421",
        ),
        open(
            "a request as the body for an unknown path",
            format!(
                "POST /nowhere HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{inner}"
            ),
            "404",
        ),
        closed(
            "a request after a body that is too large to be read",
            format!(
                "{}{inner}",
                post("content-length: 70000\r\n", &"x".repeat(70_000))
            ),
            "413, closed",
        ),
        closed(
            "a request after a broken chunk",
            chunked(&format!("zz\r\n\r\n{inner}")),
            "400, closed",
        ),
        closed(
            "a request after a head that is refused",
            format!("GET /livez HTTP/1.1\r\nx : y\r\n\r\n{inner}"),
            "400, closed",
        ),
        closed(
            "a request after one that closes",
            format!("{}{inner}", get("/livez", "connection: close\r\n")),
            "200, closed",
        ),
    ]
}
