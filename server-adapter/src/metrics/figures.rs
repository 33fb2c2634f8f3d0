//! Figures that the engine has: of the fleet and of the store.

use deskfleet::{Engine, Timestamp};

use super::exposition::Exposition;
use crate::backups::BackupState;
use crate::notifications::ReceiverState;

/// The figures at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Figures {
    ready: bool,
    /// The text of [`Engine::metrics`]; empty where they were not read.
    text: String,
}

impl Figures {
    /// Reads them. Takes as long as [`Engine::metrics`].
    pub(crate) fn read(engine: &Engine) -> Self {
        Self {
            ready: engine.is_ready(),
            text: engine.metrics(),
        }
    }

    /// The text if they cannot be read.
    pub(crate) fn unread() -> Self {
        Self {
            ready: false,
            text: String::new(),
        }
    }

    /// `is_log_used`: whether the log, where there is one, makes the node no less ready.
    pub(super) fn write(&self, text: &mut Exposition, is_log_used: bool) {
        text.gauge(
            "ready",
            "Whether the store can be read and takes writes, and a node has what the log has: whether /readyz is 200.",
            u8::from(self.ready && is_log_used),
        );
        text.families(&self.text);
    }
}

/// Writes how the last backups went.
pub(super) fn write_backups(text: &mut Exposition, backups: &BackupState) {
    if let Some(last_ok) = backups.last_ok {
        text.gauge(
            "backup_last_success_timestamp_seconds",
            "Begin of the newest backup that was written and checked, since the epoch.",
            unix_seconds(last_ok),
        );
    }
    text.counter(
        "backup_failures_total",
        "Backups that could not be written, or were not whole.",
        backups.failures,
    );
}

/// Writes how webhooks and the heartbeat take what is sent; nothing where there are none.
pub(super) fn write_receivers(text: &mut Exposition, receivers: &[ReceiverState]) {
    if receivers.is_empty() {
        return;
    }
    let name = text.family(
        "notifications_total",
        "counter",
        "Requests to webhooks and to the monitor of the heartbeat, by whether they were taken; those that were not are sent again.",
    );
    for state in receivers {
        let label = state.receiver.label();
        for (result, count) in [("taken", state.taken), ("failed", state.failures)] {
            let series = format!("{name}{{receiver=\"{label}\",result=\"{result}\"}}");
            text.sample(&series, count);
        }
    }
    let name = text.family(
        "notifications_failing",
        "gauge",
        "Whether a receiver took none of the last requests.",
    );
    for state in receivers {
        let series = format!("{name}{{receiver=\"{}\"}}", state.receiver.label());
        text.sample(&series, u8::from(state.failing_since.is_some()));
    }
}

/// Seconds since the epoch; nothing here is older.
pub(super) fn unix_seconds(moment: Timestamp) -> f64 {
    moment.duration_since(Timestamp::UNIX_EPOCH).as_secs_f64()
}
