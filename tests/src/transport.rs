//! The ways a request can reach an engine. Each must return the same response to the same request.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use bytes::Bytes;
use deskfleet::Engine;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use tower_service::Service as _;

/// A way for a request to reach an engine.
pub trait Transport {
    /// Sends one request and waits for its answer.
    fn send(&self, request: Request<Bytes>) -> Response<Bytes>;
}

/// [`Engine::handle`].
#[derive(Debug)]
pub struct Handle(pub Engine);

impl Transport for Handle {
    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        self.0.handle(request)
    }
}

/// [`Engine::handle`] of several engines, each request through the next one.
#[derive(Debug)]
pub struct InTurn {
    engines: Vec<Engine>,
    sent: Cell<usize>,
}

impl InTurn {
    /// Begins with the first engine.
    pub fn new(engines: Vec<Engine>) -> Self {
        let sent = Cell::new(0);
        Self { engines, sent }
    }
}

impl Transport for InTurn {
    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        let sent = self.sent.get();
        self.sent.set(sent + 1);
        self.engines[sent % self.engines.len()].handle(request)
    }
}

/// [`Engine::call`], waited for on this thread.
#[derive(Debug)]
pub struct Call(pub Engine);

impl Transport for Call {
    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        block_on(self.0.call(request))
    }
}

/// [`Engine::service`], with slow work on threads.
#[derive(Debug)]
pub struct Serviced(pub Engine);

impl Transport for Serviced {
    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        let mut service = self.0.service(|work| drop(thread::spawn(work)));
        let Ok(response) = block_on(service.call(request.map(Full::new)));
        let (head, body) = response.into_parts();
        let body = block_on(body.collect()).expect("a store that can be read");
        Response::from_parts(head, body.to_bytes())
    }
}

/// [`Engine::begin`], with the body in pieces of `n` bytes.
#[derive(Debug)]
pub struct InPieces(pub Engine, pub usize);

impl Transport for InPieces {
    fn send(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (head, body) = request.into_parts();
        let mut exchange = self.0.begin(head);
        for piece in body.chunks(self.1) {
            exchange.push(piece);
        }
        let (head, body) = block_on(exchange.finish()).into_parts();
        let body = body.into_bytes().expect("a store that can be read");
        Response::from_parts(head, body)
    }
}

/// Runs a future to its end on this thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
