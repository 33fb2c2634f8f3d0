//! HTTP/2, with hand-made frames.

use super::{Attack, RECORD, Then, row};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// A GET of `/`.
const GET: &[u8] = b"\x82\x86\x84\x41\x09localhost";
/// A ping with this payload is answered after all frames before it were handled.
const PING: &[u8; 8] = b"are you?";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING_FRAME: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// One frame.
fn frame(kind: u8, flags: u8, stream: u32, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    let [_, a, b, c] = length;
    [&[a, b, c, kind, flags][..], &stream.to_be_bytes(), bytes].concat()
}

/// A request without a body.
fn request(stream: u32, fields: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, fields)
}

/// A literal field, neither compressed nor remembered.
fn field(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).unwrap();
    let (name_length, value_length) = (length(name), length(value));
    [
        &[0, name_length][..],
        name.as_bytes(),
        &[value_length],
        value.as_bytes(),
    ]
    .concat()
}

/// The verdict of the frames: that the connection is over and why, or that one stream is, or neither.
fn judge(message: &[u8]) -> String {
    let mut rest = message;
    let mut verdict = String::from("serves on");
    while let Some(([a, b, c, kind, _, _, _, _, _], tail)) = rest.split_first_chunk() {
        let length = u32::from_be_bytes([0, *a, *b, *c]);
        let Some((bytes, tail)) = tail.split_at_checked(length.try_into().unwrap()) else {
            break;
        };
        rest = tail;
        match (*kind, bytes) {
            (GOAWAY, [_, _, _, _, 0, 0, 0, code, ..]) if *code > 0 => {
                return format!("GOAWAY {}", reason(*code));
            }
            (RESET, [0, 0, 0, code]) if *code > 0 => {
                verdict = format!("the stream is reset, {}", reason(*code));
            }
            _ => {}
        }
    }
    verdict
}

fn reason(code: u8) -> &'static str {
    match code {
        1 => "PROTOCOL_ERROR",
        3 => "FLOW_CONTROL_ERROR",
        5 => "STREAM_CLOSED",
        6 => "FRAME_SIZE_ERROR",
        7 => "REFUSED_STREAM",
        8 => "CANCEL",
        9 => "COMPRESSION_ERROR",
        11 => "ENHANCE_YOUR_CALM",
        _ => "another reason",
    }
}

/// Frames after the preface, and a GOAWAY, so that a connection that stays is closed too.
fn frames(
    name: &'static str,
    frames: impl IntoIterator<Item = Vec<u8>>,
    verdict: &'static str,
) -> Attack {
    let mut bytes = PREFACE.to_vec();
    bytes.extend(frame(SETTINGS, 0, 0, b""));
    bytes.extend(frames.into_iter().flatten());
    bytes.extend(frame(PING_FRAME, 0, 0, PING));
    bytes.extend(frame(GOAWAY, 0, 0, &[0; 8]));
    row(name, bytes, verdict, Then::Frames(judge))
}

pub(super) fn attacks() -> Vec<Attack> {
    let mut attacks = floods();
    attacks.extend(broken());
    attacks.extend(requests());
    attacks
}

fn floods() -> Vec<Attack> {
    let odd = |count: u32| (0..count).map(|n| 2 * n + 1);
    let rapid = odd(1_000)
        .flat_map(|stream| [request(stream, GET), frame(RESET, 0, stream, &[0, 0, 0, 8])]);
    let headers = || [frame(HEADERS, END_STREAM, 1, GET)];
    let continued = |count: usize, bytes: &[u8]| {
        let more = frame(CONTINUATION, 0, 1, bytes);
        headers()
            .into_iter()
            .chain(std::iter::repeat_n(more, count))
    };
    let large = field(&"x".repeat(100), &"y".repeat(100));
    let begun = odd(1_000).map(|stream| frame(HEADERS, END_HEADERS, stream, POST));
    vec![
        frames(
            "HTTP/2: 1 000 requests, each reset at once (rapid reset)",
            rapid,
            "GOAWAY ENHANCE_YOUR_CALM",
        ),
        frames(
            "HTTP/2: 1 000 requests that do not end",
            begun,
            "the stream is reset, REFUSED_STREAM",
        ),
        frames(
            "HTTP/2: 10 000 empty CONTINUATION frames",
            continued(10_000, b""),
            "GOAWAY ENHANCE_YOUR_CALM",
        ),
        frames(
            "HTTP/2: 400 KiB of headers in CONTINUATION frames",
            continued(2_000, &large),
            "GOAWAY ENHANCE_YOUR_CALM",
        ),
        frames(
            "HTTP/2: 20 000 SETTINGS",
            std::iter::repeat_n(frame(SETTINGS, 0, 0, b""), 20_000),
            "serves on",
        ),
        frames(
            "HTTP/2: 20 000 PINGs",
            std::iter::repeat_n(frame(PING_FRAME, 0, 0, b"12345678"), 20_000),
            "serves on",
        ),
        frames(
            "HTTP/2: 20 000 unrequested SETTINGS acknowledgements",
            std::iter::repeat_n(frame(SETTINGS, ACK, 0, b""), 20_000),
            "GOAWAY PROTOCOL_ERROR",
        ),
        frames(
            "HTTP/2: 20 000 empty DATA frames",
            begin()
                .into_iter()
                .chain(std::iter::repeat_n(frame(DATA, 0, 1, b""), 20_000)),
            "GOAWAY ENHANCE_YOUR_CALM",
        ),
    ]
}

/// A POST of activity, with a content type.
const POST: &[u8] =
    b"\x83\x86\x04\x17/api/Stats/PostActivity\x41\x09localhost\x0f\x10\x10application/json";

/// A post whose body is not sent yet.
fn begin() -> [Vec<u8>; 1] {
    [frame(HEADERS, END_HEADERS, 1, POST)]
}

fn broken() -> Vec<Attack> {
    let window = |bytes: u32| frame(WINDOW_UPDATE, 0, 0, &bytes.to_be_bytes());
    vec![
        frames(
            "HTTP/2: a frame above the negotiated size",
            [frame(DATA, 0, 1, &[0; 20_000])],
            "GOAWAY FRAME_SIZE_ERROR",
        ),
        frames(
            "HTTP/2: DATA on stream 0",
            [frame(DATA, 0, 0, b"x")],
            "GOAWAY PROTOCOL_ERROR",
        ),
        frames(
            "HTTP/2: DATA on a stream that is not open",
            [frame(DATA, 0, 1, b"x")],
            "GOAWAY PROTOCOL_ERROR",
        ),
        frames(
            "HTTP/2: a stream with an even number",
            [request(2, GET)],
            "GOAWAY PROTOCOL_ERROR",
        ),
        frames(
            "HTTP/2: streams with decreasing numbers",
            [request(5, GET), request(3, GET)],
            "GOAWAY PROTOCOL_ERROR",
        ),
        frames(
            "HTTP/2: a window that overflows",
            [window(0x7fff_ffff), window(0x7fff_ffff)],
            "GOAWAY FLOW_CONTROL_ERROR",
        ),
        frames(
            "HTTP/2: a window update of 0",
            [window(0)],
            "GOAWAY PROTOCOL_ERROR",
        ),
        frames(
            "HTTP/2: an index outside the tables",
            [request(1, b"\xff\xff\xff\x7f")],
            "GOAWAY PROTOCOL_ERROR",
        ),
        frames(
            "HTTP/2: a PING of 7 bytes",
            [frame(PING_FRAME, 0, 0, b"1234567")],
            "GOAWAY PROTOCOL_ERROR",
        ),
        frames(
            "HTTP/2: a frame of an unknown type",
            [frame(0x63, 0xff, 1, b"x")],
            "serves on",
        ),
        frames(
            "HTTP/2: SETTINGS of a window beyond 31 bits",
            [frame(SETTINGS, 0, 0, b"\0\x04\xff\xff\xff\xff")],
            "GOAWAY PROTOCOL_ERROR",
        ),
    ]
}

fn requests() -> Vec<Attack> {
    let with = |more: Vec<u8>| [request(1, &[GET, &more].concat())];
    let post = |more: Vec<u8>, body: &[u8]| {
        [
            frame(HEADERS, END_HEADERS, 1, &[POST, &more].concat()),
            frame(DATA, END_STREAM, 1, body),
        ]
    };
    let reset = "the stream is reset, PROTOCOL_ERROR";
    let length = RECORD.len();
    vec![
        frames(
            "HTTP/2: an upper-case header",
            with(field("X-A", "b")),
            "GOAWAY PROTOCOL_ERROR",
        ),
        frames(
            "HTTP/2: a line end in a header value",
            with(field("x", "a\r\nx-api-key: b")),
            "GOAWAY PROTOCOL_ERROR",
        ),
        frames(
            "HTTP/2: Connection",
            with(field("connection", "close")),
            reset,
        ),
        frames(
            "HTTP/2: Transfer-Encoding, a request after the body",
            post(field("transfer-encoding", "chunked"), RECORD.as_bytes()),
            reset,
        ),
        frames(
            "HTTP/2: no path",
            [request(1, b"\x82\x86\x41\x09localhost")],
            reset,
        ),
        frames("HTTP/2: two paths", with(vec![0x84]), reset),
        frames(
            "HTTP/2: a Content-Length below the body",
            post(field("content-length", "1"), RECORD.as_bytes()),
            reset,
        ),
        frames(
            "HTTP/2: a Content-Length above the body",
            post(field("content-length", "99"), RECORD.as_bytes()),
            reset,
        ),
        frames(
            "HTTP/2: a body with its length, which is valid",
            post(
                field("content-length", &length.to_string()),
                RECORD.as_bytes(),
            ),
            "serves on",
        )
        .records(1),
        frames(
            "HTTP/2: CONNECT to another host",
            [request(
                1,
                &[&[0x41, 9][..], b"localhost", &field(":method", "CONNECT")].concat(),
            )],
            "serves on",
        ),
    ]
}
