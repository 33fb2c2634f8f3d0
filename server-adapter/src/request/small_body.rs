//! Reading the small body of a server's own operation as a whole.

use std::time::Duration;

use bytes::Bytes;
use deskfleet::Code;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Incoming;

use super::body::{discard, in_time};
use super::context::RequestContext;
use super::refusal::{self, Refused};

/// Most bytes of a body.
const BYTES_MAX: usize = 1024;
/// The longest that a body takes to arrive.
const TIME_MAX: Duration = Duration::from_secs(5);

const TOO_LARGE: Refused = (Code::PayloadTooLarge, "The body has at most 1024 bytes.");

/// The whole body. If it is refused, input is left unread.
pub(crate) async fn receive(
    context: RequestContext<'_>,
    mut body: Incoming,
) -> Result<Bytes, Refused> {
    let RequestContext {
        options, progress, ..
    } = context;
    let time_max = options.body_timeout.min(TIME_MAX);
    let _receiving = progress.receiving();
    let collected = match in_time(time_max, Limited::new(&mut body, BYTES_MAX).collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(TOO_LARGE),
        Ok(Err(_)) => Err(refusal::BROKEN),
        Err(_) => Err(refusal::LATE),
    };
    if collected.is_err() {
        progress.cut();
        discard(context.shared, context.asked.version, body);
    }
    collected
}
