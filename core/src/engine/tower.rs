//! `tower_service::Service`, so that an engine nests in axum or any other tower stack.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use tower_service::Service;

use super::{Engine, ResponseFuture};

impl Service<Request<Bytes>> for Engine {
    type Response = Response<Bytes>;
    type Error = Infallible;
    type Future = ServiceFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> ServiceFuture {
        ServiceFuture(Engine::call(self, request))
    }
}

/// The future of the [`Service`]: every failure is a response already.
#[derive(Debug)]
pub struct ServiceFuture(ResponseFuture);

impl Future for ServiceFuture {
    type Output = Result<Response<Bytes>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(Ok)
    }
}
