//! Work that ends early once something has happened.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

/// The output of `work`, or that of `event` if it is ready before. `event` is polled once, and again only when `has_happened`: a
/// pending `Notified` takes a lock in each poll, and that of the server's end is shared by all connections.
///
/// The future must stay in one task.
///
/// # Errors
///
/// The output of `event`.
pub(crate) async fn unless<W: Future, E: Future>(
    mut work: Pin<&mut W>,
    event: E,
    has_happened: impl Fn() -> bool,
) -> Result<W::Output, E::Output> {
    let mut event = pin!(event);
    let mut is_registered = false;
    poll_fn(|cx| {
        if let Poll::Ready(output) = work.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        if is_registered && !has_happened() {
            return Poll::Pending;
        }
        is_registered = true;
        event.as_mut().poll(cx).map(Err)
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::sync::watch;
    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn work_ends_early_by_an_event_before_or_after_its_begin() {
        for is_late in [false, true] {
            let sender = watch::Sender::new(false);
            let mut receiver = sender.subscribe();
            let seen = sender.subscribe();
            let sending = async {
                if is_late {
                    yield_now().await;
                }
                sender.send_replace(true);
                pending::<()>().await;
            };
            let event = receiver.wait_for(|happened| *happened);
            let work = pin!(sending);
            assert!(unless(work, event, || *seen.borrow()).await.is_err());
        }
        let work = pin!(async { 7 });
        assert_eq!(unless(work, pending::<()>(), || false).await, Ok(7));
    }
}
