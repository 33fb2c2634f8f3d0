//! Refuses requests by their heads alone.

use deskfleet::Code;
use http::{HeaderMap, HeaderValue, Request, Response, header};

use super::context::RequestContext;
use super::operation::{Own, OwnRoute, Page};
use super::refusal::{self, Refused};
use crate::response::body::OutgoingBody;

/// A body in a transfer coding that is not decoded, or whose name a proxy may read in another way.
const CODED: Refused = (
    Code::InvalidRequest,
    "Transfer-Encoding is `chunked`, once, or there is none.",
);
/// A header list of more fields than are read.
const FIELDS: Refused = (Code::HeadersTooLarge, "");
/// Header fields of one request, as many as hyper takes in HTTP/1.1. A byte of HTTP/2 can stand for a field, so that a list of
/// small fields takes many times its size in memory.
const HEADER_FIELDS_MAX: usize = 100;

/// Refuses a request by its head alone: its fields, host or coding, or a connection or source without room.
pub(crate) fn refuse_head<B>(
    context: RequestContext<'_>,
    own: Option<&OwnRoute>,
    request: &Request<B>,
) -> Option<Response<OutgoingBody>> {
    let has_room = context.turn.request_place().admitted && !context.progress.is_kept_for_livez();
    let is_livez = || own.is_some_and(|row| row.own == Own::Page(Page::Livez));
    let refused = if request.headers().len() > HEADER_FIELDS_MAX {
        FIELDS
    } else if let Some(refused) = context.shared.hosts(context.options).refuse(request) {
        refused
    } else if is_coded(request.headers()) {
        CODED
    } else if !has_room && !is_livez() {
        refusal::BUSY
    } else {
        return None;
    };
    Some(context.refuse(refused))
}

/// Whether the body has another transfer coding than `chunked`, or names it more than once. hyper takes whatever ends in `chunked`.
fn is_coded(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let is_chunked = |coding: &HeaderValue| coding.as_bytes().eq_ignore_ascii_case(b"chunked");
    codings.next().is_some_and(|coding| !is_chunked(coding)) || codings.next().is_some()
}
