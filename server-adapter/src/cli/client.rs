//! A client of a running server, for the commands that take `--url`: HTTP/1.1, a connection for each request.

use std::error::Error;
use std::io;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use deskfleet_server::{Problem, api_key, read_api_key, visible};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
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
/// The time within which the next piece of a file must come.
#[cfg(feature = "cluster")]
const PIECE_MAX: Duration = Duration::from_secs(60);

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

    /// Posts nothing, with `headers`, and returns the file in the response, piece by piece. A server may take long to begin with it.
    #[cfg(feature = "cluster")]
    pub(crate) fn post_for_file(
        &self,
        target: &str,
        headers: HeaderMap,
    ) -> Result<Download<'_>, NoFile> {
        let exchanged = self.exchange(Method::POST, target, headers, Pieces::default(), "");
        let mut download = exchanged.map_err(NoFile::for_now)?;
        let status = download.status;
        if status.is_success() {
            download.piece_max = Some(PIECE_MAX);
            return Ok(download);
        }
        let is_final = status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS;
        let failure = self.refusal(download);
        Err(NoFile { failure, is_final })
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

    /// The same for a response that is a success.
    fn send(
        &self,
        method: Method,
        target: &str,
        body: Pieces,
        advice: &str,
    ) -> Result<Download<'_>, Failure> {
        let download = self.exchange(method, target, HeaderMap::new(), body, advice)?;
        if download.status.is_success() {
            return Ok(download);
        }
        Err(self.refusal(download))
    }

    /// The failure that a response reports.
    fn refusal(&self, download: Download<'_>) -> Failure {
        let status = download.status;
        match download.collect() {
            Ok(body) => refused(&self.url, status, &body),
            Err(error) => broken_off(&self.url, &*error),
        }
    }

    /// Sends a request with `more` headers; returns the response. `advice` is the advice when a connection ends before that.
    fn exchange(
        &self,
        method: Method,
        target: &str,
        more: HeaderMap,
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
        request.headers_mut().extend(more);
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
        let (head, body) = responded.map_err(broke_off)?.into_parts();
        Ok(Download {
            client: self,
            status: head.status,
            headers: head.headers,
            body: Some(body),
            piece_max: None,
        })
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

/// Why a file did not come.
#[cfg(feature = "cluster")]
pub(crate) struct NoFile {
    pub(crate) failure: Failure,
    /// Whether another attempt would fail as well.
    pub(crate) is_final: bool,
}

#[cfg(feature = "cluster")]
impl NoFile {
    pub(crate) fn for_now(failure: Failure) -> Self {
        Self {
            failure,
            is_final: false,
        }
    }

    pub(crate) fn for_good(failure: Failure) -> Self {
        Self {
            failure,
            is_final: true,
        }
    }
}

/// A response, whose body comes piece by piece.
pub(crate) struct Download<'c> {
    client: &'c Client,
    status: StatusCode,
    #[cfg_attr(
        not(feature = "cluster"),
        expect(dead_code, reason = "a copy has some")
    )]
    headers: HeaderMap,
    /// The time within which the next piece must come; `None`: never.
    piece_max: Option<Duration>,
    /// `None` after its end or a failure.
    body: Option<Incoming>,
}

impl Download<'_> {
    #[cfg(feature = "cluster")]
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn header(&self, name: HeaderName) -> Option<&HeaderValue> {
        self.headers.get(name)
    }

    /// The next piece; `None` at the end.
    fn next_piece(&mut self) -> Result<Option<Bytes>, BrokenOff> {
        while let Some(body) = &mut self.body {
            let frame = self.client.runtime.block_on(async {
                match self.piece_max {
                    None => Ok(body.frame().await),
                    Some(most) => timeout(most, body.frame()).await,
                }
            });
            let Ok(frame) = frame else {
                self.body = None;
                return Err("nothing came in time".into());
            };
            match frame.transpose() {
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
