//! Calls under way, and their responses.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use deskfleet::{EngineError, ErrorKind, ResponseFuture};
use http::{Response, header};

use super::fact::{Answer, Ending, Intent, UpkeepEnd};

/// A call that has not returned yet.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) number: u64,
    pub(super) intent: Intent,
    /// `None` once the client has disconnected.
    pub(super) future: Option<Pin<Box<ResponseFuture>>>,
}

impl Call {
    /// The response, if it is ready. The first poll lets other calls gather; the second commits if no other caller does.
    pub(super) fn poll(&mut self) -> Option<Response<Bytes>> {
        let mut context = Context::from_waker(Waker::noop());
        let future = self.future.as_mut()?;
        for _ in 0..2 {
            if let Poll::Ready(response) = future.as_mut().poll(&mut context) {
                return Some(response);
            }
        }
        None
    }
}

/// An HTTP response as an answer.
pub(super) fn answer(response: &Response<Bytes>) -> Answer {
    let body = String::from_utf8_lossy(response.body()).into_owned();
    Answer {
        status: response.status().as_u16(),
        text: format!("{:?} {:?} {body}", response.status(), response.headers()),
        body,
        retry_after: response.headers().contains_key(header::RETRY_AFTER),
        http: true,
    }
}

/// The result of a typed call, as an answer.
pub(super) fn typed<T: std::fmt::Debug>(result: &Result<T, EngineError>) -> Answer {
    let (status, body) = match result {
        Ok(_) => (200, String::new()),
        Err(error) => {
            let unavailable = matches!(
                error.kind(),
                ErrorKind::StorageUnavailable
                    | ErrorKind::Indeterminate
                    | ErrorKind::Corrupted
                    | ErrorKind::QueueFull
            );
            (
                if unavailable { 503 } else { 409 },
                format!("{:?}", error.kind()),
            )
        }
    };
    Answer {
        status,
        text: format!("{result:?}"),
        body,
        retry_after: false,
        http: false,
    }
}

/// How upkeep ended.
pub(super) fn upkeep_end(result: &Result<(), EngineError>) -> UpkeepEnd {
    match result {
        Ok(()) => UpkeepEnd::Whole,
        Err(error) if error.kind() == ErrorKind::Indeterminate => UpkeepEnd::InDoubt,
        Err(_) => UpkeepEnd::Refused,
    }
}

/// The ending that an answer stands for.
pub(super) fn ending(answer: &Answer) -> Ending {
    let code = || {
        if !answer.http {
            return answer.body.clone();
        }
        let problem: serde_json::Value = serde_json::from_str(&answer.body).unwrap_or_default();
        problem["code"].as_str().unwrap_or_default().to_owned()
    };
    match answer.status {
        200 | 201 => Ending::Done,
        500 => Ending::Unknown,
        503 if code() == "Indeterminate" => Ending::Unknown,
        _ => Ending::Refused(code()),
    }
}
