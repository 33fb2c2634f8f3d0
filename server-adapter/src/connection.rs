//! One connection and the requests on it.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use deskfleet::{Code, Upload};
use http::request::Parts;
use http::{HeaderValue, Request, Response, Version, header};
use hyper::body::{Body as _, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::access_log::Entry;
use crate::body::{self, Unread};
use crate::budget::Share;
#[cfg(feature = "http2")]
use crate::http2;
use crate::operation::Operation;
use crate::pages;
use crate::progress::Progress;
use crate::refusal::{self, Guesser};
use crate::response_body::AnswerBody;
use crate::sources::{RequestPlace, Source};
use crate::state::ServerState;
use crate::stream::{End, Stream};

/// What connections are to do; only ever moves on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Serve.
    Serving,
    /// Answer what is in flight, then close.
    Draining,
    /// Close at once.
    Closed,
}

/// Serves one connection to its end, or until its place is another's. What goes wrong on it is the client's affair and is not
/// reported.
pub(crate) async fn serve(
    socket: TcpStream,
    progress: Arc<Progress>,
    shared: Arc<ServerState>,
    phase: watch::Receiver<Phase>,
) {
    let _connected = shared.options.metrics.connected();
    tokio::select! {
        () = serve_either(socket, Arc::clone(&progress), shared, phase) => {}
        () = progress.evicted() => {}
    }
}

/// Serves a connection of either version.
async fn serve_either(
    socket: TcpStream,
    progress: Arc<Progress>,
    shared: Arc<ServerState>,
    mut phase: watch::Receiver<Phase>,
) {
    let stream = Stream::new(socket, Arc::clone(&progress), &shared.options);
    #[cfg(feature = "http2")]
    match http2::begins(&stream, &mut phase).await {
        // A place that is kept for one `/livez` is no place for many requests at once.
        Some(true) if progress.is_kept_for_livez() => return,
        Some(true) => return Box::pin(http2::serve(stream, shared, progress, phase)).await,
        Some(false) => {}
        None => return,
    }
    serve_http1(&stream, &shared, &progress, &mut phase).await;
}

/// Serves a connection of HTTP/1.1 as long as requests come. While none does, hyper and its buffers are put away.
async fn serve_http1(
    stream: &Stream,
    shared: &ServerState,
    progress: &Arc<Progress>,
    phase: &mut watch::Receiver<Phase>,
) {
    loop {
        // In a box, as the task of a connection has the size of the largest it ever waits for.
        match Box::pin(serve_requests(stream, shared, progress, phase)).await {
            End::Over => return,
            End::Rest => {}
        }
        tokio::select! {
            biased;
            more = poll_fn(|cx| stream.poll_next(cx)) => if !more {
                return;
            },
            _ = phase.wait_for(|phase| *phase >= Phase::Draining) => return,
        }
    }
}

/// Requests come one after another, also when the client does not wait for the answers (pipelining): hyper begins with one
/// when the one before is answered. So pipelined posts do not share a commit; streams of HTTP/2 and batches do.
async fn serve_requests(
    stream: &Stream,
    shared: &ServerState,
    progress: &Arc<Progress>,
    phase: &mut watch::Receiver<Phase>,
) -> End {
    let service = service_fn(|request| {
        let turn = progress.begin();
        async move {
            let place = shared.begin(progress, request.headers());
            let mut response = answer(shared, progress, request, &place, None).await;
            if progress.is_kept_for_livez() {
                refusal::close(&mut response, Version::HTTP_11);
            }
            Ok::<_, Infallible>(response.map(|body| body.sent_on(progress).ending(turn)))
        }
    });
    let io = TokioIo::new(stream.clone());
    stream.unpark();
    let mut connection = shared.http1.serve_connection(io, service);
    let end = tokio::select! {
        biased;
        end = driven(stream, Pin::new(&mut connection)) => Some(end),
        _ = phase.wait_for(|phase| *phase >= Phase::Draining) => None,
    };
    match end {
        Some(End::Over) => return End::Over,
        Some(End::Rest) => {
            stream.park(&connection.into_parts().read_buf);
            return End::Rest;
        }
        None => {}
    }
    let mut connection = Pin::new(&mut connection);
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        biased;
        _ = driven(stream, connection) => {}
        _ = phase.wait_for(|phase| *phase == Phase::Closed) => {}
    }
    End::Over
}

/// hyper's connection, with what it writes let go at the end of each turn.
pub(crate) async fn driven<F: Future>(stream: &Stream, mut connection: Pin<&mut F>) -> End {
    poll_fn(|cx| stream.poll_with(connection.as_mut(), cx)).await
}

/// Answers one request, with `refused` where it was refused already; counts it and logs it.
pub(crate) async fn answer(
    shared: &ServerState,
    progress: &Progress,
    request: Request<Incoming>,
    place: &RequestPlace,
    refused: Option<Response<Bytes>>,
) -> Response<AnswerBody> {
    let started = Instant::now();
    let _answering = progress.answering();
    let operation = Operation::of(request.method(), request.uri().path());
    let logged = shared.options.access_log.as_ref().map(|log| {
        (
            Arc::clone(log),
            request.method().clone(),
            request.uri().clone(),
        )
    });
    let refused = refused.or_else(|| refusal::before(shared, progress, place, operation, &request));
    let mut response = match (refused, operation) {
        (Some(refused), _) => {
            if !request.body().is_end_stream() {
                progress.cut();
            }
            refusal::to(request.method(), refused).map(AnswerBody::from)
        }
        (None, Operation::Page(page)) => {
            pages::answer(page, shared, request.method()).map(AnswerBody::from)
        }
        (None, Operation::Route(_) | Operation::None) => {
            let guesser = Guesser::of(shared, progress, operation, &request);
            let response = through_engine(shared, progress, operation, request, place).await;
            match guesser {
                Some(guesser) => guesser.after(shared, response),
                None => response,
            }
        }
    };
    let status = response.status().as_u16();
    let metrics = &shared.options.metrics;
    metrics.answered(operation, status, started.elapsed());
    let Some((log, method, uri)) = logged else {
        return response;
    };
    let time = shared.engine.now();
    let line = move |bytes| {
        let entry = Entry {
            time,
            method: &method,
            path: uri.path(),
            status,
            bytes,
            duration: started.elapsed(),
        };
        log(&entry.line());
    };
    // A body that is made while it is sent is logged at its end, when its length is known.
    match response.body().len() {
        Some(length) => line(length),
        None => response.body_mut().when_over(Box::new(line)),
    }
    response
}

/// A refusal and its sentence.
type Refused = (Code, &'static str);

async fn through_engine(
    shared: &ServerState,
    progress: &Progress,
    operation: Operation,
    request: Request<Incoming>,
    place: &RequestPlace,
) -> Response<AnswerBody> {
    let mut share = Share::none(&place.source.bodies, &shared.budget);
    let (mut head, body) = request.into_parts();
    let version = head.version;
    let traceparent = head.headers.get("traceparent").cloned();
    let gzip = body::undo_gzip(&mut head.headers);
    let upload = if operation.is_batch() {
        shared.engine.upload(&head)
    } else {
        None
    };
    let slow = operation.is_slow().then_some(&*place.source);
    let answered = match upload {
        Some(upload) => in_pieces(shared, progress, (head, body), gzip, upload, &mut share).await,
        None => whole(shared, progress, slow, (head, body), gzip, &mut share).await,
    };
    match answered {
        Ok(mut response) => {
            if let Some(codings) = response.headers_mut().get_mut(header::ACCEPT_ENCODING) {
                *codings = HeaderValue::from_static(body::CODINGS);
            }
            response
        }
        Err(refused) => {
            progress.cut();
            let mut response = refusal::respond(&shared.engine, refused, traceparent.as_ref());
            refusal::close(&mut response, version);
            response.map(AnswerBody::from)
        }
    }
}

/// Reads the body and has the request answered, off the event loop where it is a `slow` one of that source; else the refusal.
/// `share` is the body's until the engine has answered.
async fn whole(
    shared: &ServerState,
    progress: &Progress,
    slow: Option<&Source>,
    (mut head, body): (Parts, Incoming),
    gzip: bool,
    share: &mut Share<'_>,
) -> Result<Response<AnswerBody>, Refused> {
    let bytes_max = shared.engine.body_bytes_max(head.uri.path());
    let read = body::read(body, gzip, bytes_max, share);
    let read = received(shared, progress, read).await?;
    if read.cut {
        progress.cut();
    }
    if let Some(broken) = read.broken {
        head.extensions.insert(broken);
    }
    let request = Request::from_parts(head, read.bytes);
    match slow {
        Some(source) => Ok(off_the_loop(shared, source, request).await),
        None => Ok(shared.engine.call(request).await.map(AnswerBody::from)),
    }
}

/// Has a request answered that can take long, on a thread where it holds nobody up.
async fn off_the_loop(
    shared: &ServerState,
    source: &Source,
    request: Request<Bytes>,
) -> Response<AnswerBody> {
    let traceparent = request.headers().get("traceparent").cloned();
    let refuse = |refused| {
        let response = refusal::respond(&shared.engine, refused, traceparent.as_ref());
        response.map(AnswerBody::from)
    };
    let source = source.network();
    let Some(place) = shared.slow_reads.admit(source).await else {
        return refuse(refusal::BUSY);
    };
    let engine = shared.engine.clone();
    let begun = spawn_blocking(move || {
        let response = engine.respond(request);
        drop(place);
        response
    });
    let Ok(response) = begun.await else {
        return refuse(refusal::ENDED);
    };
    let (head, body) = response.await.into_parts();
    if body.len().is_some() {
        let bytes = body.into_bytes().unwrap_or_default();
        return Response::from_parts(head, bytes.into());
    }
    match shared.slow_reads.try_begin(source) {
        Some(room) => {
            let slow_reads = Arc::clone(&shared.slow_reads);
            let body = AnswerBody::streamed(body, slow_reads, source, room);
            Response::from_parts(head, body)
        }
        None => refuse(refusal::BUSY),
    }
}

/// Hands the body to the engine as it comes. Where it does not come to its end nothing of it is accepted.
async fn in_pieces(
    shared: &ServerState,
    progress: &Progress,
    (head, body): (Parts, Incoming),
    gzip: bool,
    mut upload: Upload,
    share: &mut Share<'_>,
) -> Result<Response<AnswerBody>, Refused> {
    let bytes_max = shared.engine.body_bytes_max(head.uri.path());
    let read = body::hand_over(body, gzip, bytes_max, share, &mut upload);
    if received(shared, progress, read).await? {
        progress.cut();
    }
    Ok(upload.finish().await.map(AnswerBody::from))
}

/// What `reading` a body brings within its time.
async fn received<T>(
    shared: &ServerState,
    progress: &Progress,
    reading: impl Future<Output = Result<T, Unread>>,
) -> Result<T, Refused> {
    let _receiving = progress.receiving();
    match in_time(shared.options.body_timeout, reading).await {
        Ok(Ok(read)) => Ok(read),
        // The framing of the body is broken, or the client is gone and nobody reads the answer.
        Ok(Err(Unread::Broken)) => Err(refusal::BROKEN),
        Ok(Err(Unread::NoRoom)) => Err(refusal::BUSY),
        Ok(Err(Unread::Late)) | Err(_) => Err(refusal::LATE),
    }
}

/// `future` with a timeout, for which no timer is made when it is ready at once: most bodies are there already.
async fn in_time<F: Future>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    match poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => timeout(limit, future).await,
    }
}
