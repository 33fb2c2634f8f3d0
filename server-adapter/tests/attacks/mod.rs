//! The table of attacks.

mod bodies;
mod framing;
mod heads;
#[cfg(feature = "http2")]
mod http2;
#[cfg(feature = "console")]
mod sign_in;

/// One attack.
pub(crate) struct Attack {
    /// Its row in the document.
    pub(crate) name: &'static str,
    pub(crate) bytes: Box<dyn Fn() -> Vec<u8>>,
    /// The expected statuses; then whether the connection is closed. It serves on otherwise.
    pub(crate) verdict: &'static str,
    pub(crate) then: Then,
    /// Telemetry records that it may leave.
    pub(crate) records: u64,
}

/// What follows the bytes.
#[derive(Clone, Copy)]
pub(crate) enum Then {
    Open,
    Closed,
    /// The server's frames are judged.
    Frames(fn(&[u8]) -> String),
}

impl Attack {
    /// The verdict, as the document writes it.
    pub(crate) fn shown(&self) -> String {
        let verdict = match (self.then, self.verdict) {
            (Then::Open, verdict) => format!("{verdict}, serves on"),
            (Then::Closed | Then::Frames(_), verdict) => verdict.to_owned(),
        };
        match self.records {
            0 => verdict,
            records => format!("{verdict}; {records} accepted"),
        }
    }

    fn records(self, records: u64) -> Self {
        Self { records, ..self }
    }
}

/// Bytes, and the expected statuses; the connection serves on.
fn open(name: &'static str, bytes: impl Into<Vec<u8>>, verdict: &'static str) -> Attack {
    row(name, bytes.into(), verdict, Then::Open)
}

/// Bytes, the expected statuses, and `closed`.
fn closed(name: &'static str, bytes: impl Into<Vec<u8>>, verdict: &'static str) -> Attack {
    row(name, bytes.into(), verdict, Then::Closed)
}

fn row(name: &'static str, bytes: Vec<u8>, verdict: &'static str, then: Then) -> Attack {
    Attack {
        name,
        bytes: Box::new(move || bytes.clone()),
        verdict,
        then,
        records: 0,
    }
}

/// All of them, in the order of the document.
pub(crate) fn all() -> Vec<Attack> {
    let mut attacks = heads::attacks();
    attacks.extend(framing::attacks());
    attacks.extend(bodies::attacks());
    #[cfg(feature = "console")]
    attacks.extend(sign_in::attacks());
    #[cfg(feature = "http2")]
    attacks.extend(http2::attacks());
    attacks
}

/// A record that is accepted wherever it is executed.
const RECORD: &str = r#"{"instanceId":"smuggled"}"#;

/// A whole request that leaves a record.
fn smuggled() -> String {
    let length = RECORD.len();
    format!(
        "POST /api/Stats/PostActivity HTTP/1.1\r\nhost: localhost\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{RECORD}"
    )
}

/// A request without a body.
fn get(target: &str, headers: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n")
}

/// A post of telemetry with these headers, whatever they say of the body.
fn post(headers: &str, body: &str) -> String {
    format!(
        "POST /api/Stats/PostActivity HTTP/1.1\r\nhost: localhost\r\n\
         content-type: application/json\r\n{headers}\r\n{body}"
    )
}

/// The statuses of the responses in `said`, whose bodies contain no text that looks like one.
pub(crate) fn statuses(message: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(message);
    text.split("HTTP/1.")
        .skip(1)
        .filter_map(|answer| answer.get(2..5)?.parse().ok())
        .collect()
}
