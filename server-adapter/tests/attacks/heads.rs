//! Heads: slow, large, broken; hosts, methods, paths; content meant for a log or another header.

use super::{Attack, closed, get, open};

pub(super) fn attacks() -> Vec<Attack> {
    let mut attacks = sizes();
    attacks.extend(lines());
    attacks.extend(hosts());
    attacks.extend(methods());
    attacks.extend(paths());
    attacks.extend(injections());
    attacks
}

fn many(count: usize) -> String {
    let fields: Vec<String> = (0..count).map(|n| format!("x-{n}: 1\r\n")).collect();
    fields.concat()
}

fn sizes() -> Vec<Attack> {
    let long = |bytes: usize| "a".repeat(bytes);
    vec![
        closed(
            "half a head, then silence",
            "GET /livez HTTP/1.1\r\nhost:",
            "closed",
        ),
        open(
            "a target of 9 000 bytes",
            get(&format!("/api/Stats/Test?x={}", long(9_000)), ""),
            "414",
        ),
        closed(
            "a target of 66 000 bytes",
            get(&format!("/{}", long(66_000)), ""),
            "431, closed",
        ),
        open(
            "headers of 20 000 bytes",
            get(
                "/api/Stats/Test",
                &format!("a: {0}\r\nb: {0}\r\n", long(10_000)),
            ),
            "431",
        ),
        closed(
            "a head of 70 000 bytes",
            get("/livez", &format!("a: {}\r\n", long(70_000))),
            "431, closed",
        ),
        open("99 header fields", get("/livez", &many(98)), "200"),
        closed(
            "101 header fields",
            get("/livez", &many(100)),
            "431, closed",
        ),
        closed(
            "10 000 header fields",
            get("/livez", &many(10_000)),
            "431, closed",
        ),
    ]
}

fn lines() -> Vec<Attack> {
    vec![
        closed(
            "a request line without a version",
            "GET /livez\r\n\r\n",
            "400, closed",
        ),
        closed(
            "HTTP/3.0 in the request line",
            "GET /livez HTTP/3.0\r\nhost: localhost\r\n\r\n",
            "400, closed",
        ),
        closed(
            "TLS on the clear-text port",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
            "400, closed",
        ),
        open(
            "bare LF as line end, accepted (RFC 9112, 2.2)",
            "GET /livez HTTP/1.1\nhost: localhost\n\n",
            "200",
        ),
        closed(
            "bare CR inside a line",
            get("/livez", "x: a\rb\r\n"),
            "400, closed",
        ),
        closed(
            "a header continued on the next line (obs-fold)",
            get("/livez", "x: a\r\n b\r\n"),
            "400, closed",
        ),
        closed(
            "a space before the colon",
            get("/livez", "content-length : 5\r\n"),
            "400, closed",
        ),
        closed(
            "a space before the first header",
            "GET /livez HTTP/1.1\r\n host: localhost\r\n\r\n",
            "400, closed",
        ),
        closed(
            "a header without a colon",
            get("/livez", "nonsense\r\n"),
            "400, closed",
        ),
        closed(
            "an empty header name",
            get("/livez", ": a\r\n"),
            "400, closed",
        ),
        closed(
            "NUL in a header value",
            get("/livez", "x: a\0b\r\n"),
            "400, closed",
        ),
        closed(
            "NUL in a header name",
            get("/livez", "x\0: a\r\n"),
            "400, closed",
        ),
        closed("NUL in the target", get("/li\0vez", ""), "400, closed"),
        closed("a space in the target", get("/livez /x", ""), "400, closed"),
    ]
}

fn hosts() -> Vec<Attack> {
    let head = |rest: &str| format!("GET /livez HTTP/1.1\r\n{rest}\r\n");
    vec![
        open("no Host", head(""), "400"),
        open(
            "two Hosts",
            head("host: localhost\r\nhost: localhost\r\n"),
            "400",
        ),
        open(
            "a Host of another site (DNS rebinding)",
            head("host: evil.example\r\n"),
            "421",
        ),
        open(
            "a Host that begins with an allowed one",
            head("host: localhost.evil.example\r\n"),
            "421",
        ),
        open(
            "a Host with userinfo before an @",
            head("host: localhost@evil.example\r\n"),
            "421",
        ),
        open(
            "an absolute target with an allowed host",
            get("http://localhost/livez", ""),
            "200",
        ),
        open(
            "an absolute target with a host of another site",
            get("http://evil.example/livez", ""),
            "421",
        ),
        closed(
            "HTTP/1.0 without Host",
            "GET /livez HTTP/1.0\r\n\r\n",
            "200, closed",
        ),
    ]
}

fn methods() -> Vec<Attack> {
    let ask = |line: &str| format!("{line} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    vec![
        open("a lower-case method", ask("get /livez"), "405"),
        open("TRACE", ask("TRACE /livez"), "405"),
        open("OPTIONS for *", ask("OPTIONS *"), "404"),
        open(
            "a method of 1 000 letters",
            ask(&format!("{} /livez", "A".repeat(1_000))),
            "405",
        ),
        closed(
            "a method with a control character",
            ask("G\u{1}T /livez"),
            "400, closed",
        ),
        open(
            "CONNECT to another host",
            ask("CONNECT evil.example:80"),
            "421",
        ),
        open("CONNECT to this server", ask("CONNECT localhost:80"), "404"),
        open(
            "a method override by header",
            get("/livez", "x-http-method-override: DELETE\r\n"),
            "200",
        ),
        open(
            "an upgrade to HTTP/2 or WebSocket",
            get(
                "/livez",
                "connection: upgrade\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n",
            ),
            "200",
        ),
    ]
}

fn paths() -> Vec<Attack> {
    vec![
        open("two slashes", get("//livez", ""), "404"),
        open("two slashes inside", get("/api//Stats/Test", ""), "404"),
        open("dots", get("/api/../livez", ""), "404"),
        open("dots, encoded", get("/api/%2e%2e/livez", ""), "404"),
        open("a slash, encoded", get("/api%2fStats/Test", ""), "404"),
        open("NUL, encoded", get("/livez%00", ""), "404"),
        open("letters, encoded", get("/%6civez", ""), "404"),
        open("encoded twice", get("/operator%252fkeys", ""), "404"),
        open("a path parameter", get("/livez;/operator/keys", ""), "404"),
        open("a backslash", get("/api\\Stats\\Test", ""), "404"),
        open("a fragment", get("/livez#/operator/keys", ""), "200"),
        open("a target without a slash", get("livez", ""), "421"),
        closed(
            "a target that is no HTTP URL",
            get("file:///etc/passwd", ""),
            "400, closed",
        ),
        open(
            "non-ASCII letters in the target",
            get("/live\u{17e}", ""),
            "404",
        ),
        open(
            "a bad escape in the query, without a key",
            get("/api/Information/GetAllWorkSpaces?limit=%zz", ""),
            "401",
        ),
        open(
            "4 000 parameters",
            get(&format!("/api/Stats/Test?{}", "a&".repeat(4_000)), ""),
            "200",
        ),
    ]
}

fn injections() -> Vec<Attack> {
    vec![
        open(
            "line ends, encoded, in the path",
            get("/api%0d%0a2026-01-01T00:00:00Z%20GET%20/forged%20200", ""),
            "404",
        ),
        open(
            "line ends, encoded, in the query",
            get("/api/Stats/Test?x=%0d%0aset-cookie:%20a=b", ""),
            "200",
        ),
        open(
            "a terminal escape sequence, encoded",
            get("/%1b[2J%1b]0;owned%07", ""),
            "404",
        ),
        closed(
            "a terminal escape sequence, raw",
            get("/\u{1b}[2J", ""),
            "400, closed",
        ),
        open(
            "an invalid trace id",
            get(
                "/nowhere",
                "traceparent: 00-<script>alert(1)</script>-1-00\r\n",
            ),
            "404",
        ),
        open(
            "a forged source address, without a proxy",
            get("/livez", "x-forwarded-for: 127.0.0.1, ' OR 1=1\r\n"),
            "200",
        ),
    ]
}
