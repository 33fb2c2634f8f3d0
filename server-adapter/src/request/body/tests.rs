use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::SystemTime;

use deskfleet::{Engine, NewKey, Scope};
use http::{HeaderValue, Request};

use crate::limits::budget::Room;
use crate::limits::sources::{Bounds, Sources};
use crate::request::gzip::STATE_BYTES;

use super::*;

/// An import that has begun.
fn import() -> Exchange {
    let builder = Engine::builder().clock(SystemTime::now).seed(1);
    let engine = builder.open_in_memory().unwrap();
    let new = NewKey::new("admin", [Scope::Admin]);
    let request = Request::post("/operator/workspaces")
        .header("content-type", "application/x-ndjson")
        .header("x-api-key", engine.issue_key(new).unwrap().secret);
    let exchange = engine.begin(request.body(()).unwrap().into_parts().0);
    assert!(!exchange.is_refused());
    exchange
}

fn progress() -> Progress {
    let sources = Sources::new(Bounds::default());
    let peer = std::net::Ipv4Addr::LOCALHOST.into();
    Progress::new(peer, sources.find_or_add(peer))
}

fn intake<'i, 'r>(
    exchange: &'i mut Exchange,
    share: &'i mut Share<'r>,
    progress: &'i Progress,
) -> Intake<'i, 'r> {
    Intake {
        exchange,
        share,
        progress,
        room_wait_max: Duration::ZERO,
        handed_on: 0,
    }
}

fn lines(count: usize) -> Vec<u8> {
    let line = |id| {
        format!(
            "{{\"workSpId\":\"ws-{id}\",\"username\":\"u{id}\",\"region\":\"eu-central-1\",\"state\":\"AVAILABLE\"}}\n"
        )
    };
    (0..count).map(line).collect::<String>().into_bytes()
}

#[test]
fn import_of_which_nothing_is_accepted_gives_others_their_turn() {
    let room = Room::new(0, 1024 * 1024);
    let (mut exchange, mut share) = (import(), Share::none(&room, &room));
    let progress = progress();
    let mut intake = intake(&mut exchange, &mut share, &progress);
    let mut turns = 0;
    // Half of them in one large frame, half as gzip is decoded.
    let large = b"x\n".repeat(4 * TURN_BYTES / 2);
    for frame in [&large[..]].into_iter().chain(large.chunks(TURN_BYTES)) {
        let mut handing = pin!(intake.hand_on(frame));
        let mut context = Context::from_waker(Waker::noop());
        while handing.as_mut().poll(&mut context).is_pending() {
            turns += 1;
        }
    }
    assert_eq!(turns, 7, "between eight pieces");
}

#[tokio::test]
async fn import_gives_back_the_room_of_what_is_committed() {
    let (total, largest) = (1024 * 1024 + STATE_BYTES, 1024 * 1024);
    let (all, source) = (Room::new(0, largest), Room::new(0, largest));
    let (mut exchange, mut share) = (import(), Share::none(&source, &all));
    // A part gathers while the one before is committed, and is then itself committed.
    let lines = lines(2000);
    let progress = progress();
    intake(&mut exchange, &mut share, &progress)
        .hand_on(&lines)
        .await
        .unwrap();
    let mut beyond = Share::none(&source, &all);
    beyond.grow(total + 1).await.unwrap();
    let rest = total - exchange.bytes().next_multiple_of(1024);
    let mut other = Share::none(&source, &all);
    let grown = in_time(Duration::ZERO, other.grow(rest)).await;
    assert_eq!(grown.unwrap(), Ok(()));
    // No room is left: another import waits for it no longer than it may.
    let mut late = Share::none(&source, &all);
    let handed_on = intake(&mut import(), &mut late, &progress)
        .hand_on(&lines)
        .await;
    assert_eq!(handed_on, Err(Unread::NoRoom));
}

#[tokio::test]
async fn body_that_waits_for_room_is_not_waited_for() {
    let largest = 1024 * 1024;
    let (all, source) = (Room::new(0, largest), Room::new(0, largest));
    let [mut held, mut beyond, mut late] = [(); 3].map(|()| Share::none(&source, &all));
    for share in [&mut held, &mut beyond] {
        share.grow(largest + STATE_BYTES).await.unwrap();
    }
    let (mut exchange, progress) = (import(), Arc::new(progress()));
    let _request = (progress.handling(), progress.receiving());
    assert!(progress.idleness().is_some(), "its body is waited for");
    let lines = lines(100);
    let mut intake = Intake {
        room_wait_max: Duration::MAX,
        ..intake(&mut exchange, &mut late, &progress)
    };
    let mut handing = Box::pin(intake.hand_on(&lines));
    let mut context = Context::from_waker(Waker::noop());
    assert!(handing.as_mut().poll(&mut context).is_pending());
    assert!(progress.idleness().is_none());
    drop(handing);
    assert!(progress.idleness().is_some());
}

#[test]
fn gzip_of_any_length_decodes_to_200_times_its_length_after_the_first_mebibyte() {
    for (sent, decoded, refused) in [
        (1, RATIO_FREE_BYTES, false),
        (20, RATIO_FREE_BYTES + 4000, false),
        (20, RATIO_FREE_BYTES + 4001, true),
    ] {
        assert_eq!(is_bomb(sent, decoded), refused, "{sent} to {decoded}");
    }
}

#[test]
fn only_a_lone_gzip_is_undone() {
    let undone = |values: &[&str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(CONTENT_ENCODING, HeaderValue::from_str(value).unwrap());
        }
        is_gzip(&headers)
    };
    for good in [
        &["gzip"][..],
        &["GZip"],
        &["X-GZIP"],
        &["identity , gzip", ""],
    ] {
        assert!(undone(good), "{good:?}");
    }
    for other in [
        &[][..],
        &["identity"],
        &["gzip, gzip"],
        &["gzip", "gzip"],
        &["gzip, br"],
        &["gzip;q=1"],
    ] {
        assert!(!undone(other), "{other:?}");
    }
}
