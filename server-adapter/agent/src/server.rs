//! One request to the server, and what its response means.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use deskfleet_client::transport::{self, Bounds, Response};
use deskfleet_client::{api_key, read_api_key};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderValue, Request};
use serde::Deserialize;
use ureq::Agent;

/// The environment variable of the key.
const KEY_VARIABLE: &str = "DESKFLEET_KEY";
const BOUNDS: Bounds = Bounds {
    whole: Duration::from_secs(60),
    connect: Duration::from_secs(10),
    proxied: true,
};
/// A batch of records that the server reads as one.
const PATH: &str = "/operator/telemetry";

/// Where records are sent to.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) url: String,
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) ca: Option<PathBuf>,
}

/// What became of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The server has every record, but for those it refused.
    Accepted {
        refused: Vec<Refused>,
        /// What the server says about others.
        warnings: Vec<String>,
    },
    /// Something on the way takes smaller requests only.
    TooLarge,
    /// The records stay, and are sent again.
    Failed(Failed),
}

/// A record that the server will never take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Its number in the request, from 0.
    pub(crate) index: usize,
    pub(crate) message: String,
}

/// Why a request has to be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    /// What happened and what to do, in one line.
    pub(crate) message: String,
    /// The least time to wait, where the server names one.
    pub(crate) after: Option<Duration>,
}

impl Failed {
    fn because(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            after: None,
        }
    }
}

/// A client of the server; it holds the key and the CAs as they were when it was made.
#[derive(Clone)]
pub(crate) struct Connection {
    agent: Agent,
    key: HeaderValue,
    uri: String,
    /// Where the key is, for messages.
    key_place: String,
}

impl Connection {
    /// # Errors
    /// One sentence: the key or the CAs cannot be read.
    pub(crate) fn new(target: &Target) -> io::Result<Self> {
        let (key, key_place) = key(target.key_file.as_deref())?;
        Ok(Self {
            agent: transport::agent(BOUNDS, target.ca.as_deref())?,
            key,
            uri: format!("{}{PATH}", target.url),
            key_place,
        })
    }

    /// Sends records, one a line. Returns the server's time too, where it says it.
    pub(crate) fn post(&self, lines: &[String]) -> (Outcome, Option<SystemTime>) {
        let request = Request::post(&self.uri)
            .header("x-api-key", self.key.clone())
            .header("content-type", "application/x-ndjson")
            .header("content-encoding", "gzip")
            .body(compressed(lines));
        let sent = request
            .map_err(|error| error.to_string())
            .and_then(|request| {
                transport::send(&self.agent, request).map_err(|failure| failure.text)
            });
        match sent {
            Ok(response) => {
                let date = response.header("date");
                let date = date.and_then(|date| httpdate::parse_http_date(date).ok());
                (self.judge(&response, lines.len()), date)
            }
            Err(text) => (Outcome::Failed(Failed::because(unreachable(&text))), None),
        }
    }

    /// What a response to `count` records means.
    fn judge(&self, response: &Response, count: usize) -> Outcome {
        let body: Body = serde_json::from_slice(&response.body).unwrap_or_default();
        let is_ours = body.code.is_some();
        let message = body.detail.or(body.title).unwrap_or_default();
        let failed = match (response.status, body.code.as_deref()) {
            (200, _) if body.accepted.is_some() => {
                return Outcome::Accepted {
                    refused: body.errors.refused(count),
                    warnings: body.warnings.into_iter().map(|of| of.message).collect(),
                };
            }
            // Nothing was accepted, and each record has an error.
            (400, Some("InvalidBody")) if body.errors.len() == count => {
                return Outcome::Accepted {
                    refused: body.errors.refused(count),
                    warnings: Vec::new(),
                };
            }
            (413, _) => return Outcome::TooLarge,
            (401, _) if is_ours => format!(
                "the server refuses the key of {}: issue one with `deskfleet keys issue --name agent --scope ingest`, and put it there",
                self.key_place
            ),
            (403, Some(_)) => format!(
                "the key of {} may not send telemetry: issue one with `deskfleet keys issue --name agent --scope ingest`, and put it there",
                self.key_place
            ),
            (429 | 503, Some(code)) => {
                format!("the server is busy ({code}: {message}); records wait")
            }
            (status, Some(code)) => {
                format!("the server refuses the request: {status} {code}: {message}")
            }
            (status, None) => format!(
                "no deskfleet server responds at {}, but something with status {status}: check url, and proxies on the way",
                self.uri
            ),
        };
        let after = response
            .header("retry-after")
            .and_then(|text| text.parse().ok());
        Outcome::Failed(Failed {
            message: failed,
            after: after.map(Duration::from_secs),
        })
    }
}

/// The key, and where it is from.
fn key(file: Option<&Path>) -> io::Result<(HeaderValue, String)> {
    match (file, std::env::var(KEY_VARIABLE)) {
        (Some(file), _) => Ok((read_api_key(file)?, file.display().to_string())),
        (None, Ok(text)) => Ok((api_key(&text, KEY_VARIABLE)?, KEY_VARIABLE.to_owned())),
        (None, Err(_)) => Err(io::Error::other(format!(
            "the server needs an API key: name its file with --key-file, or put it into the variable {KEY_VARIABLE}"
        ))),
    }
}

/// What to do where there is no response.
fn unreachable(text: &str) -> String {
    let advice = if text.contains("certificate expired") {
        "renew the certificate of the server, or set the clock of this machine if it is wrong"
    } else if text.contains("not valid yet") {
        "set the clock of this machine, or that of the machine which issued the certificate"
    } else if text.contains("UnknownIssuer") {
        "name the CA of the server's certificate with --ca"
    } else if text.contains("not valid for name") {
        "use a name in --url that is in the server's certificate"
    } else {
        "check --url, and that the server runs"
    };
    format!("the server cannot be reached ({text}): {advice}")
}

fn compressed(lines: &[String]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    for line in lines {
        // Memory takes all that is written to it.
        let _ = encoder.write_all(line.as_bytes());
        let _ = encoder.write_all(b"\n");
    }
    encoder.finish().unwrap_or_default()
}

/// What is read of a response, whatever it is.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Body {
    accepted: Option<u64>,
    errors: Errors,
    warnings: Vec<LineMessage>,
    code: Option<String>,
    title: Option<String>,
    detail: Option<String>,
}

/// Errors of lines: a list where other records were accepted, by name where nothing was.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Errors {
    Listed(Vec<LineMessage>),
    Named(BTreeMap<String, Vec<String>>),
}

#[derive(Debug, Deserialize)]
struct LineMessage {
    #[serde(default)]
    line: usize,
    message: String,
}

impl Default for Errors {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl Errors {
    fn len(&self) -> usize {
        match self {
            Self::Listed(errors) => errors.len(),
            Self::Named(errors) => errors.len(),
        }
    }

    /// Of `count` records.
    fn refused(self, count: usize) -> Vec<Refused> {
        let lines: Vec<(usize, String)> = match self {
            Self::Listed(errors) => errors.into_iter().map(|of| (of.line, of.message)).collect(),
            Self::Named(errors) => errors
                .into_iter()
                .filter_map(|(name, messages)| {
                    let line = name.strip_prefix("line ")?.parse().ok()?;
                    Some((line, messages.join(" ")))
                })
                .collect(),
        };
        let refused = lines.into_iter().filter_map(|(line, message)| {
            let index = line.checked_sub(1).filter(|index| *index < count)?;
            Some(Refused { index, message })
        });
        refused.collect()
    }
}
