//! A client of a running server, for the commands that take `--url`: HTTP/1.1, a connection for each request.

use std::error::Error;
use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use deskfleet_server::{Problem, api_key, read_api_key, visible};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;
use tokio::time::timeout;

use super::client_body::Pieces;
use super::client_files::ClientFiles;
use super::client_socket::connect;
#[cfg(feature = "tls")]
use super::client_tls::ClientTls;
use super::failure::Failure;
use super::server_url::ServerUrl;

/// The environment variable that may hold the API key. Not an argument: other users of the machine can read those.
pub(crate) const KEY_VARIABLE: &str = "DESKFLEET_KEY";
/// The time within which a server must begin TLS.
const HANDSHAKE_MAX: Duration = Duration::from_secs(15);
/// The most bytes of a response: a page of 500 rows has a tenth of that.
const RESPONSE_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A server, and the key to use there.
pub(crate) struct Client {
    url: ServerUrl,
    key: HeaderValue,
    /// `None` for clear text.
    #[cfg(feature = "tls")]
    tls: Option<ClientTls>,
    runtime: Runtime,
    /// The time after which a request without a response fails; `None`: never.
    patience: Option<Duration>,
}

impl Client {
    /// A client of the server at `url`, with the files that `files` names; without one the key is that of the variable
    /// [`KEY_VARIABLE`]. Connects to nothing yet.
    pub(crate) fn new(url: ServerUrl, files: &ClientFiles) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Failure::caused("cannot start the runtime", &error))?;
        Ok(Self {
            key: key(files.key_file.as_deref())?,
            #[cfg(feature = "tls")]
            tls: url.is_tls.then(|| ClientTls::new(files)).transpose()?,
            url,
            runtime,
            patience: None,
        })
    }

    /// The address of the server.
    #[cfg(feature = "cluster")]
    pub(crate) fn url(&self) -> &ServerUrl {
        &self.url
    }

    /// Limits the wait for a response to `patience`.
    #[cfg(feature = "cluster")]
    pub(crate) fn within(self, patience: Duration) -> Self {
        Self {
            patience: Some(patience),
            ..self
        }
    }

    /// The body of the response to a GET of `target`.
    pub(crate) fn get(&self, target: &str) -> Result<Bytes, Failure> {
        self.whole(Method::GET, target, Pieces::default(), "")
    }

    /// The same for a body of any length, piece by piece.
    pub(crate) fn download(&self, target: &str) -> Result<Download<'_>, Failure> {
        self.send(Method::GET, target, Pieces::default(), "")
    }

    /// Sends DELETE to `target`; returns the body of the response.
    pub(crate) fn delete(&self, target: &str) -> Result<Bytes, Failure> {
        self.whole(Method::DELETE, target, Pieces::default(), "")
    }

    /// Posts nothing and returns the body of the response, piece by piece.
    #[cfg(feature = "cluster")]
    pub(crate) fn post_for_download(&self, target: &str) -> Result<Download<'_>, Failure> {
        self.send(Method::POST, target, Pieces::default(), "")
    }

    /// Posts a JSON body and returns the body of the response.
    pub(crate) fn post_json(&self, target: &str, body: &Value) -> Result<Bytes, Failure> {
        let body = Pieces::json(body).map_err(|error| Failure::caused("cannot send", &error))?;
        self.whole(Method::POST, target, body, "")
    }

    /// Posts `body`, whose format the server detects, and returns the body of the response.
    pub(crate) fn post(&self, target: &str, body: Pieces) -> Result<Bytes, Failure> {
        let advice = "; a part may have been committed, and it is safe to send the same again";
        self.whole(Method::POST, target, body, advice)
    }

    fn whole(
        &self,
        method: Method,
        target: &str,
        body: Pieces,
        advice: &str,
    ) -> Result<Bytes, Failure> {
        let download = self.send(method, target, body, advice)?;
        download.collect().map_err(|error| {
            let error = broken_off(&self.url, &*error);
            Failure(format!("{error}{advice}"))
        })
    }

    /// `advice` is the advice when a connection ends before the response.
    fn send(
        &self,
        method: Method,
        target: &str,
        body: Pieces,
        advice: &str,
    ) -> Result<Download<'_>, Failure> {
        let invalid = |error: &dyn Error| Failure::caused("cannot write the request", error);
        let target = format!("{}{target}", self.url.path);
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = target
            .parse()
            .map_err(|error: http::uri::InvalidUri| invalid(&error))?;
        let host = HeaderValue::from_str(&self.url.authority).map_err(|error| invalid(&error))?;
        if let Some(media) = request.body().content_type() {
            let media = HeaderValue::from_static(media);
            request.headers_mut().insert(header::CONTENT_TYPE, media);
        }
        let headers = [
            (header::HOST, host),
            (header::ACCEPT, HeaderValue::from_static("application/json")),
            (header::CONNECTION, HeaderValue::from_static("close")),
            (HeaderName::from_static("x-api-key"), self.key.clone()),
        ];
        request.headers_mut().extend(headers);
        let socket = connect(&self.url.host, self.url.port)
            .map_err(|error| Failure::caused(&self.url, &error))?;
        let broke_off = |error: BrokenOff| {
            let error = broken_off(&self.url, &*error);
            Failure(format!("{error}{advice}"))
        };
        let connected = self.runtime.block_on(async {
            let connected = timeout(HANDSHAKE_MAX, self.transport(socket)).await;
            connected.unwrap_or_else(|_| Err(io::Error::other("no handshake in time")))
        });
        let socket = connected.map_err(|error| {
            let error = Failure::caused(format_args!("no connection to {}", self.url), &error);
            if self.url.is_tls {
                Failure(format!(
                    "{error}; give the CA of its certificate with --ca FILE, of --join with --join-ca FILE"
                ))
            } else {
                error
            }
        })?;
        let responded = self.runtime.block_on(async {
            let responded = respond(socket, request);
            match self.patience {
                None => responded.await,
                Some(patience) => timeout(patience, responded)
                    .await
                    .unwrap_or_else(|_| Err("no response in time".into())),
            }
        });
        let response = responded.map_err(broke_off)?;
        let status = response.status();
        let download = Download {
            client: self,
            body: Some(response.into_body()),
        };
        if status.is_success() {
            return Ok(download);
        }
        let body = download.collect().map_err(broke_off)?;
        Err(refused(&self.url, status, &body))
    }
}

impl Client {
    #[cfg_attr(
        not(feature = "tls"),
        expect(clippy::unused_async, reason = "with TLS it waits for the handshake")
    )]
    async fn transport(&self, socket: TcpStream) -> io::Result<Box<dyn Transport>> {
        socket.set_nonblocking(true)?;
        let socket = tokio::net::TcpStream::from_std(socket)?;
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return Ok(Box::new(tls.connect(&self.url.host, socket).await?));
        }
        Ok(Box::new(socket))
    }
}

/// The transport of a connection.
trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

type BrokenOff = Box<dyn Error + Send + Sync>;

fn broken_off(url: &ServerUrl, error: &dyn Error) -> Failure {
    Failure::caused(format_args!("{url} broke off"), error)
}

/// Sends a request; returns the response. The connection is a task, which proceeds while the runtime waits for the body.
async fn respond(
    socket: Box<dyn Transport>,
    request: Request<Pieces>,
) -> Result<Response<Incoming>, BrokenOff> {
    let (mut sender, connection) = handshake(TokioIo::new(socket)).await?;
    // An error of the connection is the error of the response.
    tokio::spawn(connection);
    Ok(sender.send_request(request).await?)
}

/// The body of a response, piece by piece as it comes.
pub(crate) struct Download<'c> {
    client: &'c Client,
    /// `None` after its end or a failure.
    body: Option<Incoming>,
}

impl Download<'_> {
    /// The next piece; `None` at the end.
    fn next_piece(&mut self) -> Result<Option<Bytes>, BrokenOff> {
        while let Some(body) = &mut self.body {
            match self.client.runtime.block_on(body.frame()).transpose() {
                Ok(Some(frame)) => {
                    if let Ok(piece) = frame.into_data() {
                        return Ok(Some(piece));
                    }
                }
                Ok(None) => self.body = None,
                Err(error) => {
                    self.body = None;
                    return Err(error.into());
                }
            }
        }
        Ok(None)
    }

    /// The whole body.
    fn collect(mut self) -> Result<Bytes, BrokenOff> {
        let mut whole = Vec::new();
        while let Some(piece) = self.next_piece()? {
            whole.extend_from_slice(&piece);
            if whole.len() > RESPONSE_BYTES_MAX {
                return Err("the response is too long".into());
            }
        }
        Ok(whole.into())
    }
}

impl Iterator for Download<'_> {
    type Item = Result<Bytes, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let piece = self.next_piece().transpose()?;
        Some(piece.map_err(|error| broken_off(&self.client.url, &*error)))
    }
}

fn refused(url: &ServerUrl, status: StatusCode, body: &[u8]) -> Failure {
    let Ok(problem) = serde_json::from_slice::<Problem>(body) else {
        return Failure(format!(
            "{url} returned {status}; is that a deskfleet server?"
        ));
    };
    let message = visible(&problem.message());
    let advice = if status == StatusCode::UNAUTHORIZED {
        format!("; the key is that of --key-file or {KEY_VARIABLE}")
    } else {
        String::new()
    };
    Failure(format!(
        "{url} returned {} {}: {message}{advice}",
        status.as_u16(),
        visible(&problem.code)
    ))
}

fn key(file: Option<&Path>) -> Result<HeaderValue, Failure> {
    let key = match (file, std::env::var(KEY_VARIABLE)) {
        (Some(file), _) => read_api_key(file),
        (None, Ok(text)) => api_key(&text, KEY_VARIABLE),
        (None, Err(_)) => {
            return Err(Failure(format!(
                "--url needs an API key: name its file with --key-file, or put it into the variable {KEY_VARIABLE}"
            )));
        }
    };
    key.map_err(|error| Failure(error.to_string()))
}
