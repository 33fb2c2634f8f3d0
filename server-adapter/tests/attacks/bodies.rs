//! Bodies: bombs, and JSON that is deep, doubled, or no text.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Attack, Then, open, row};

pub(super) fn attacks() -> Vec<Attack> {
    let mut attacks = codings();
    attacks.extend(json());
    attacks.extend(types());
    attacks
}

fn body(headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST /api/Stats/PostActivity HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn codings() -> Vec<Attack> {
    let coded = |coding: &str, bytes: &[u8]| {
        let headers = format!("content-type: application/json\r\ncontent-encoding: {coding}\r\n");
        body(&headers, bytes)
    };
    let bomb = gzip(&vec![b' '; 40 * 1024 * 1024]);
    let mut broken = gzip(br#"{"id":1}"#);
    let short = broken.len() - 9;
    broken.truncate(short);
    let members: Vec<u8> = (0..3_000).flat_map(|_| gzip(&[])).collect();
    let whole = gzip(br#"{"id":1}"#);
    let mut more = whole.clone();
    more.extend_from_slice(b"and more");
    vec![
        row(
            "40 MiB in 40 KiB of gzip",
            coded("gzip", &bomb),
            "413, closed",
            Then::Closed,
        ),
        open("gzip in gzip", coded("gzip, gzip", &gzip(&whole)), "415"),
        row(
            "3 000 empty members of gzip",
            coded("gzip", &members),
            "400, closed",
            Then::Closed,
        ),
        open("gzip that does not end", coded("gzip", &broken), "400"),
        open("gzip with trailing bytes", coded("gzip", &more), "400"),
        open("an unsupported coding", coded("br", &whole), "415"),
        open("invalid gzip", coded("gzip", b"{}"), "400"),
    ]
}

fn json() -> Vec<Attack> {
    let json = |bytes: &[u8]| body("content-type: application/json\r\n", bytes);
    let text = |text: String| json(text.as_bytes());
    vec![
        open(
            "JSON 30 000 arrays deep",
            text(format!("{{\"x\":{}", "[".repeat(30_000))),
            "400",
        ),
        open(
            "JSON 33 levels deep",
            text(format!("{{\"x\":{}{}}}", "[".repeat(32), "]".repeat(32))),
            "400",
        ),
        open("a property twice", json(br#"{"id":1,"id":2}"#), "400"),
        open(
            "a property twice, in another case",
            json(br#"{"id":1,"ID":2}"#),
            "400",
        ),
        open("invalid UTF-8", json(b"{\"username\":\"\xff\xfe\"}"), "400"),
        open(
            "overlong UTF-8",
            json(b"{\"username\":\"\xc0\xaf\"}"),
            "400",
        ),
        open(
            "half of a surrogate pair",
            json(br#"{"username":"\ud800"}"#),
            "400",
        ),
        open("UTF-16", json(b"\xff\xfe{\0}\0"), "400"),
        open(
            "a control character in a string",
            json(b"{\"username\":\"a\nb\"}"),
            "400",
        ),
        open(
            "a number of 60 000 digits",
            text(format!("{{\"id\":{}}}", "9".repeat(60_000))),
            "400",
        ),
        open(
            "a number beyond a double",
            json(br#"{"x":1e999999999,"id":1e400}"#),
            "400",
        ),
        open("NaN", json(br#"{"id":NaN}"#), "400"),
        open("bytes after the object", json(b"{}{}"), "400"),
        open("an empty body", json(b""), "400"),
        open("64 KiB of spaces", text(" ".repeat(65_536)), "400"),
        open(
            "escaped line ends and NUL in a username, stored as sent",
            json(br#"{"username":"a\r\n\u0000GET /"}"#),
            "200",
        )
        .records(1),
        open(
            "names with a meaning in JavaScript or JSON Schema",
            json(br#"{"__proto__":{"x":1},"constructor":1,"$ref":"x"}"#),
            "200",
        )
        .records(1),
    ]
}

fn types() -> Vec<Attack> {
    vec![
        open(
            "JSON as text/plain, which any web page can make a browser send",
            body("content-type: text/plain\r\n", b"{}"),
            "415",
        ),
        open(
            "JSON as a form",
            body("content-type: application/x-www-form-urlencoded\r\n", b"{}"),
            "415",
        ),
        open("no content type", body("", b"{}"), "415"),
        open(
            "JSON in another charset",
            body("content-type: application/json; charset=utf-7\r\n", b"{}"),
            "415",
        ),
        open(
            "XML with an entity",
            body(
                "content-type: application/xml\r\n",
                b"<!DOCTYPE x [<!ENTITY y SYSTEM \"file:///etc/passwd\">]><x>&y;</x>",
            ),
            "415",
        ),
    ]
}
