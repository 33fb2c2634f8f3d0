//! What is wrong with the server itself, as conditions of the engine's list.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use deskfleet::{Condition, Severity, Timestamp};

use crate::backups::BackupState;

use super::Metrics;

/// The age from which on the newest backup is old, where none is written by itself more rarely.
const BACKUP_OLD: Duration = Duration::from_secs(26 * 60 * 60);
/// Days before the end of a certificate from which on that is a warning, and from which on it is critical.
const CERTIFICATE_DAYS: [i64; 2] = [14, 2];
const DAY_SECONDS: i64 = 24 * 60 * 60;
/// How long connections that were refused are a condition, in seconds.
const REFUSED_SECONDS: i64 = 5 * 60;

/// What the server observes of itself. Times are in ticks; 0 is never.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// When a connection was refused last.
    pub(super) refused_at: AtomicI64,
    /// Whether the last round of maintenance failed.
    pub(super) is_maintenance_failing: AtomicBool,
    /// The end of the certificate.
    certificate_ends: AtomicI64,
}

/// The time that the ticks say, if any.
fn moment(ticks: &AtomicI64) -> Option<Timestamp> {
    let ticks = ticks.load(Ordering::Relaxed);
    (ticks != 0).then(|| Timestamp::from_ticks(ticks))
}

impl Metrics {
    /// Sets when the certificate of the server ends, where it has one.
    #[cfg(any(feature = "tls", test))]
    pub(crate) fn set_certificate_end(&self, end: Option<Timestamp>) {
        let ticks = end.map_or(0, Timestamp::ticks);
        self.0
            .observed
            .certificate_ends
            .store(ticks, Ordering::Relaxed);
    }

    /// When the certificate of the server ends, where it has one.
    pub(crate) fn certificate_end(&self) -> Option<Timestamp> {
        moment(&self.0.observed.certificate_ends)
    }

    /// What is wrong with the server now. `backups` is how the last backups went, where there is a folder for them, and `every` how often they are
    /// written by themselves.
    #[must_use]
    pub fn conditions(
        &self,
        backups: Option<&BackupState>,
        every: Option<Duration>,
    ) -> Vec<Condition> {
        let now = Timestamp::from(SystemTime::now());
        let observed = &self.0.observed;
        let mut all = Vec::new();
        if observed.is_maintenance_failing.load(Ordering::Relaxed) {
            let text = "The last round of maintenance failed; the log says why. Without it telemetry is not filed and nothing old is removed.";
            all.push(Condition::new(
                "MaintenanceFailing",
                Severity::Critical,
                text,
                now,
            ));
        }
        if let Some(at) = moment(&observed.refused_at)
            .filter(|at| (*at..at.plus_seconds(REFUSED_SECONDS)).contains(&now))
        {
            let text = "Connections or requests are refused for want of room: deskfleet_connections_refused_total says why, and the log whose they are. \
                        Give the server more connections, or make the clients send fewer.";
            all.push(Condition::new(
                "ConnectionsRefused",
                Severity::Warning,
                text,
                at,
            ));
        }
        if let Some(end) = self.certificate_end() {
            let begins = |days: i64| end.plus_seconds(-days * DAY_SECONDS);
            let [soon, now_or_never] = CERTIFICATE_DAYS.map(begins);
            let severity = if now >= now_or_never {
                Severity::Critical
            } else {
                Severity::Warning
            };
            if now >= soon {
                let text = format!(
                    "The certificate of the server ends at {end}: renew it, and reload the server."
                );
                all.push(Condition::new("CertificateExpires", severity, text, soon));
            }
        }
        #[cfg(feature = "cluster")]
        all.extend(self.0.node.conditions(now));
        all.extend(self.receivers_condition());
        all.extend(backups.and_then(|state| backup_condition(state, every, now)));
        all
    }
}

impl Metrics {
    /// Receivers of webhooks and of the heartbeat that take nothing.
    fn receivers_condition(&self) -> Option<Condition> {
        let mut all = self.receivers().all();
        all.retain(|state| state.failing_since.is_some());
        let since = all.iter().filter_map(|state| state.failing_since).min()?;
        let names: Vec<_> = all.iter().map(|state| state.receiver.label()).collect();
        let text = "What is sent to receivers is not taken, and is sent again: the log says why.";
        let condition = Condition::new("ReceiversFailing", Severity::Warning, text, since);
        Some(condition.about(names.len() as u64, names))
    }
}

fn backup_condition(
    state: &BackupState,
    every: Option<Duration>,
    now: Timestamp,
) -> Option<Condition> {
    let old = every.map_or(BACKUP_OLD, |every| BACKUP_OLD.max(every.saturating_mul(2)));
    let old = i64::try_from(old.as_secs()).unwrap_or(i64::MAX);
    // Who may read the fleet may not learn the paths of an error.
    let why = if state.last_error.is_some() {
        " The last attempt failed: the log says why."
    } else {
        ""
    };
    let (text, since) = match state.last_ok {
        Some(last) if now < last.plus_seconds(old) => return None,
        Some(last) => {
            let text = format!("The newest good backup is of {last}.{why}");
            (text, last.plus_seconds(old))
        }
        None if state.failures == 0 && every.is_some() => return None,
        None => (format!("There is no good backup.{why}"), now),
    };
    let text =
        format!("{text} Write one with SIGUSR1 or POST /operator/backups, or set backups.every.");
    Some(Condition::new("BackupOld", Severity::Warning, text, since))
}

#[cfg(test)]
mod tests {
    use deskfleet::{Event, Observer as _};

    use super::*;

    fn codes(metrics: &Metrics, backups: Option<&BackupState>) -> Vec<(String, Severity)> {
        let all = metrics.conditions(backups, None).into_iter();
        all.map(|of| (of.code, of.severity)).collect()
    }

    #[test]
    fn certificate_is_a_warning_two_weeks_before_its_end_and_critical_two_days_before() {
        let metrics = Metrics::default();
        assert!(codes(&metrics, None).is_empty());
        let now = Timestamp::from(SystemTime::now());
        for (days, expected) in [
            (15, None),
            (13, Some(Severity::Warning)),
            (1, Some(Severity::Critical)),
            (-1, Some(Severity::Critical)),
        ] {
            metrics.set_certificate_end(Some(now.plus_seconds(days * DAY_SECONDS)));
            let found = codes(&metrics, None).pop().map(|(_, severity)| severity);
            assert_eq!(found, expected, "{days}");
        }
    }

    #[test]
    fn maintenance_fails_until_a_round_succeeds_or_the_file_is_back() {
        let metrics = Metrics::default();
        let ends: [fn(&Metrics); 2] = [
            |metrics| metrics.maintained(Timestamp::UNIX_EPOCH),
            |metrics| metrics.event(&Event::FileReturned),
        ];
        for end in ends {
            metrics.maintenance_failed();
            let failing = ("MaintenanceFailing".to_owned(), Severity::Critical);
            assert_eq!(codes(&metrics, None), [failing]);
            end(&metrics);
            assert!(codes(&metrics, None).is_empty());
        }
    }

    #[test]
    fn backup_is_old_after_26_hours_and_missing_where_none_was_good() {
        let metrics = Metrics::default();
        let now = Timestamp::from(SystemTime::now());
        let state = |hours: Option<i64>, failures| BackupState {
            last_ok: hours.map(|hours| now.plus_seconds(-hours * 3600)),
            failures,
            ..BackupState::default()
        };
        for (state, is_old) in [
            (state(Some(1), 0), false),
            (state(Some(25), 3), false),
            (state(Some(27), 0), true),
            (state(None, 0), true),
            (state(None, 1), true),
        ] {
            assert_eq!(
                !codes(&metrics, Some(&state)).is_empty(),
                is_old,
                "{state:?}"
            );
        }
    }
}
