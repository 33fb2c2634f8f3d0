//! `tower_service::Service`, so that an engine nests in axum or any other tower stack.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use tower_service::Service;

use crate::error::EngineError;

use super::{Engine, Exchange, ResponseBody, ResponseFuture};

impl<B: Body> Service<Request<B>> for Engine {
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ServiceFuture<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ServiceFuture<B> {
        let (head, body) = request.into_parts();
        let mut exchange = self.begin(head);
        let max = u64::try_from(exchange.body_bytes_max()).unwrap_or(u64::MAX);
        if body.size_hint().lower() > max {
            exchange.too_large();
        }
        ServiceFuture(State::Reading(Some(exchange), Box::pin(body)))
    }
}

/// The future of the [`Service`]. It reads the body as it arrives, up to the limit of its endpoint; every failure is a response.
///
/// An import, `POST /operator/workspaces`, has any length: each 1000 records are committed while it arrives; see [`Exchange::ready`].
///
/// It has no deadline for a body that stops arriving: the server it runs in must have one.
pub struct ServiceFuture<B>(State<B>);

#[expect(
    clippy::large_enum_variant,
    reason = "every request becomes the large one"
)]
enum State<B> {
    /// `None` once the body is read.
    Reading(Option<Exchange>, Pin<Box<B>>),
    Responding(ResponseFuture<ResponseBody>),
}

impl<B: Body> Future for ServiceFuture<B> {
    type Output = Result<Response<ResponseBody>, Infallible>;

    /// # Panics
    /// When polled again after it has resolved.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let State::Reading(exchange, body) = &mut self.0 {
            if let Some(exchange) = exchange {
                ready!(poll_read(exchange, body.as_mut(), context));
            }
            if let Some(exchange) = exchange.take() {
                self.0 = State::Responding(exchange.finish());
            }
        }
        match &mut self.0 {
            State::Responding(response) => Pin::new(response).poll(context).map(Ok),
            State::Reading(..) => Poll::Pending,
        }
    }
}

/// Ready when the rest of the body does not matter.
fn poll_read<B: Body>(
    exchange: &mut Exchange,
    mut body: Pin<&mut B>,
    context: &mut Context<'_>,
) -> Poll<()> {
    loop {
        // The parts of an import are committed as they arrive; one that fails is refused.
        ready!(exchange.poll_ready(context));
        if exchange.is_refused() || exchange.body_bytes_max() == 0 {
            return Poll::Ready(());
        }
        match ready!(body.as_mut().poll_frame(context)) {
            None => return Poll::Ready(()),
            Some(Err(_)) => exchange.broken("The body could not be read to its end."),
            Some(Ok(frame)) => {
                // Trailers are ignored.
                let Ok(mut data) = frame.into_data() else {
                    continue;
                };
                while data.has_remaining() {
                    let piece = data.chunk();
                    exchange.push(piece);
                    let length = piece.len();
                    data.advance(length);
                }
            }
        }
    }
}

impl<B> fmt::Debug for ServiceFuture<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.0 {
            State::Reading(..) => "reading",
            State::Responding(_) => "responding",
        };
        f.debug_tuple("ServiceFuture").field(&state).finish()
    }
}

/// With the feature `tower`. Making a chunk blocks; see [`ResponseBody::next_chunk`].
impl Body for ResponseBody {
    type Data = Bytes;
    type Error = EngineError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, EngineError>>> {
        Poll::Ready(
            self.next_chunk()
                .map(|chunk| chunk.map(Frame::data))
                .transpose(),
        )
    }

    fn is_end_stream(&self) -> bool {
        self.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let exact = |length| SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX));
        self.len().map_or_else(SizeHint::default, exact)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io;
    use std::rc::Rc;

    use http_body_util::Full;

    use crate::config::Config;
    use crate::engine::WorkspaceList;
    use crate::model::{NewKey, Scope};

    use super::*;

    /// Polls to the end; none of the bodies here is pending.
    fn respond<B: Body>(engine: &mut Engine, body: B) -> (u16, String) {
        let request = Request::post("/api/Stats/Post")
            .header("content-type", "application/json")
            .body(body)
            .unwrap();
        let mut future = engine.call(request);
        let mut context = Context::from_waker(std::task::Waker::noop());
        loop {
            if let Poll::Ready(Ok(response)) = Pin::new(&mut future).poll(&mut context) {
                let status = response.status().as_u16();
                let body = response.into_body().into_bytes().unwrap();
                return (status, String::from_utf8(body.to_vec()).unwrap());
            }
        }
    }

    /// A body of these frames.
    struct Frames<I>(I);

    impl<I: Iterator<Item = io::Result<Frame<Bytes>>> + Unpin> Body for Frames<I> {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
            Poll::Ready(self.0.next())
        }
    }

    #[test]
    fn service_commits_an_import_while_its_body_arrives() {
        let mut engine = Engine::builder()
            .clock(crate::clock::ManualClock::new(
                "2026-11-20".parse().unwrap(),
            ))
            .seed(1)
            .config(Config::default())
            .open_in_memory()
            .unwrap();
        let new = NewKey::new("admin", [Scope::Admin]);
        let secret = engine.issue_key(new).unwrap().secret;
        let (watched, stored) = (engine.clone(), Rc::new(Cell::new(0)));
        let seen = Rc::clone(&stored);
        let frames = (0..5).map(move |part| {
            let all = watched.all_workspaces(WorkspaceList::All);
            seen.set(all.count());
            let line = |id| format!("{{\"workSpId\":\"ws-{id}\"}}\n");
            let lines: String = (part * 1000..part * 1000 + 1000).map(line).collect();
            Ok(Frame::data(Bytes::from(lines)))
        });
        let request = Request::post("/operator/workspaces")
            .header("x-api-key", secret)
            .body(Frames(frames))
            .unwrap();
        let mut future = Service::call(&mut engine, request);
        let mut context = Context::from_waker(std::task::Waker::noop());
        let response = loop {
            if let Poll::Ready(Ok(response)) = Pin::new(&mut future).poll(&mut context) {
                break response;
            }
        };
        assert_eq!(response.status(), 200);
        let durable = stored.get();
        assert!(durable >= 3000, "{durable} before the last frame");
        let all = engine.all_workspaces(WorkspaceList::All);
        assert_eq!(all.count(), 5000);
    }

    #[test]
    fn service_reads_a_body_in_frames_up_to_its_limit() {
        let mut engine = Engine::builder()
            .clock(crate::clock::ManualClock::new(
                "2026-11-20".parse().unwrap(),
            ))
            .seed(1)
            .limits(|limits| limits.record_body_bytes = 20)
            .open_in_memory()
            .unwrap();
        let frames = |frames: Vec<io::Result<Frame<Bytes>>>| Frames(frames.into_iter());
        let data = |text: &'static str| Ok(Frame::data(Bytes::from_static(text.as_bytes())));

        let whole = frames(vec![data(r#"{"username""#), data(r#":"jd"}"#)]);
        assert_eq!(respond(&mut engine, whole), (200, String::new()));
        assert_eq!(engine.queue_count(), 1);

        let endless = (0..).map(|_| data("        "));
        let endless = frames(endless.take(1000).collect());
        for (status, refused) in [
            (
                413,
                respond(&mut engine, Full::new(Bytes::from(vec![b' '; 21]))),
            ),
            (413, respond(&mut engine, endless)),
            (
                400,
                respond(
                    &mut engine,
                    frames(vec![data("{"), Err(io::ErrorKind::ConnectionReset.into())]),
                ),
            ),
        ] {
            assert_eq!(refused.0, status, "{}", refused.1);
        }
        assert_eq!(engine.queue_count(), 1);
    }
}
