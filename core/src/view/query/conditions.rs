//! What is wrong with the fleet, as far as its tables say it.

use crate::config::Alerts;
use crate::domain::keys::is_accepted;
use crate::error::Result;
use crate::limits::{
    CONDITION_SUBJECTS_MAX, KEY_EXPIRES_SECONDS, STALLED_SECONDS, UNATTENDED_SECONDS,
};
use crate::model::{AuditAction, AuditResult, Condition, KeyInfo, Severity, State};
use crate::store::fleet::workspaces;
use crate::store::fleet::{audit, pending};
use crate::store::table::Step;
use crate::timestamp::{TICKS_PER_SECOND, Timestamp};
use crate::view::{Reader, actions};

use super::desktops::figures_of;
use super::startup::{StartupPoint, StartupQuery};
use super::{Fleet, FleetQuery as _};

const HOUR_SECONDS: i64 = 60 * 60;
/// A desktop that was silent for longer is not missed: it is idle, or gone.
const SILENT_MAX_SECONDS: i64 = 7 * 24 * HOUR_SECONDS;
/// The most recent logons that say something of the fleet, at least.
const LOGONS_MIN: u64 = 5;
/// The audit rows of the last hour that are examined, newest first.
const ROWS_EXAMINED_MAX: u64 = 10_000;

/// What is counted for a condition.
#[derive(Debug, Default)]
struct Found {
    count: u64,
    since: Option<Timestamp>,
    subjects: Vec<String>,
}

impl Found {
    fn add(&mut self, since: Timestamp, subject: impl FnOnce() -> String) {
        self.count += 1;
        self.since = Some(self.since.map_or(since, |known| known.min(since)));
        if self.subjects.len() < CONDITION_SUBJECTS_MAX {
            self.subjects.push(subject());
        }
    }

    /// The condition, if anything was found.
    fn condition(
        self,
        code: &str,
        severity: Severity,
        text: impl Into<String>,
    ) -> Option<Condition> {
        let since = self.since?;
        Some(Condition::new(code, severity, text, since).about(self.count, self.subjects))
    }
}

/// Every condition of the fleet itself, in no order.
pub(crate) fn conditions(fleet: &Fleet<'_>, keys: &[KeyInfo]) -> Result<Vec<Condition>> {
    let alerts = &fleet.readers.config().alerts;
    let reader = fleet.readers.tables()?;
    let mut all = desktops(&reader, alerts)?;
    all.extend(actions_of(&reader)?);
    all.extend(expiring(keys, reader.now));
    all.extend(logons(fleet, reader.now, alerts)?);
    Ok(all)
}

/// A time in words: `30 minutes`, `2 hours`.
fn words(seconds: i64) -> String {
    let (count, unit) = match seconds {
        ..120 => (seconds, "second"),
        120..7200 => (seconds / 60, "minute"),
        7200..172_800 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

fn plural(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Desktops that are broken, and those that stopped reporting.
fn desktops(reader: &Reader, alerts: &Alerts) -> Result<Vec<Condition>> {
    let (mut broken, mut silent, mut reporting) = (Found::default(), Found::default(), 0_u64);
    let silent_after = i64::try_from(alerts.silent_after.as_secs()).unwrap_or(i64::MAX);
    let missed = reader.now.plus_seconds(silent_after.saturating_neg());
    let forgotten = reader.now.plus_seconds(-SILENT_MAX_SECONDS);
    workspaces::scan_after(&reader.snapshot, None, &mut |entry| {
        let Some(entry) = reader.listed(entry) else {
            return Ok(Step::Continue(()));
        };
        match entry.state().and_then(State::named) {
            Some(State::Unhealthy | State::Error) => {
                broken.add(entry.state_since, || entry.id().to_owned());
            }
            Some(State::Available) if silent_after > 0 && entry.state_since <= missed => {
                let figures = figures_of(&reader.snapshot, entry.id(), entry.computer_name())?;
                let seen = figures.and_then(|figures| figures.last_seen);
                match seen {
                    Some(seen) if seen > missed => reporting += 1,
                    Some(seen) if seen > forgotten => {
                        let since = seen.plus_seconds(silent_after);
                        silent.add(since.max(entry.state_since), || entry.id().to_owned());
                    }
                    Some(_) | None => {}
                }
            }
            Some(_) | None => {}
        }
        Ok(Step::Continue(()))
    })?;
    let text = format!(
        "{} UNHEALTHY or ERROR: a recovery reboot, a restore or a rebuild may help.",
        are(broken.count, "desktop")
    );
    let broken = broken.condition("DesktopsUnhealthy", Severity::Warning, text);
    let percent = u64::from(alerts.silent_percent);
    let is_fleet = silent.count > 1 && silent.count * 100 >= percent * (silent.count + reporting);
    let (silent_for, of) = (words(silent_after), silent.count + reporting);
    let silent = if is_fleet {
        let text = format!(
            "{} of {of} AVAILABLE desktops that report have sent nothing for {silent_for}: look at the network, the clocks and the keys of the agents \
             before you look at single desktops.",
            silent.count
        );
        silent.condition("FleetSilent", Severity::Critical, text)
    } else {
        let text = format!(
            "{} AVAILABLE and have sent nothing for {silent_for}: the agent or the desktop hangs.",
            are(silent.count, "desktop")
        );
        silent.condition("DesktopsSilent", Severity::Warning, text)
    };
    Ok(broken.into_iter().chain(silent).collect())
}

fn are(count: u64, what: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} {verb}", plural(count, what))
}

/// Actions that nobody carries out, or that failed.
fn actions_of(reader: &Reader) -> Result<Vec<Condition>> {
    let (mut waiting, mut stalled, mut failed) =
        (Found::default(), Found::default(), Found::default());
    pending::scan_after(&reader.snapshot, None, &mut |row| {
        if let Some((is_begun, since)) = actions::without_news(reader, &row)? {
            let found = if is_begun { &mut stalled } else { &mut waiting };
            found.add(since, || row.id.to_string());
        }
        Ok(Step::Continue(()))
    })?;
    let hour = reader.now.plus_seconds(-HOUR_SECONDS);
    let mut examined = 0;
    audit::scan_before(&reader.snapshot, None, &mut |row| {
        examined += 1;
        if row.time < hour || examined > ROWS_EXAMINED_MAX {
            return Ok(Step::Break(()));
        }
        let is_action = matches!(row.action, AuditAction::Lifecycle(_));
        if is_action && row.result == AuditResult::Failed {
            failed.add(row.time, || row.workspace_id.unwrap_or_default().to_owned());
        }
        Ok(Step::Continue(()))
    })?;
    let text = format!(
        "{} not begun by a provider within {}: start deskfleet-provider, or look at why it waits.",
        are(waiting.count, "action"),
        words(UNATTENDED_SECONDS)
    );
    let waiting = waiting.condition("ActionsUnattended", Severity::Warning, text);
    let text = format!(
        "{} without an end {} after the last attempt began: look at the log of the provider and at the cloud, then complete or fail them.",
        are(stalled.count, "action"),
        words(STALLED_SECONDS)
    );
    let stalled = stalled.condition("ActionsStalled", Severity::Warning, text);
    let text = format!(
        "{} in the last hour: the audit says why.",
        match failed.count {
            1 => "1 action failed".to_owned(),
            count => format!("{count} actions failed"),
        }
    );
    let failed = failed.condition("ActionsFailed", Severity::Warning, text);
    Ok([waiting, stalled, failed].into_iter().flatten().collect())
}

/// Keys that will not be accepted much longer.
fn expiring(keys: &[KeyInfo], now: Timestamp) -> Option<Condition> {
    let mut found = Found::default();
    for key in keys.iter().filter(|key| is_accepted(key, now)) {
        let begins = key.expires.map(|at| at.plus_seconds(-KEY_EXPIRES_SECONDS));
        // A key that was issued for less was meant so.
        if let Some(begins) = begins.filter(|at| *at <= now && key.created < *at) {
            found.add(begins, || key.name.clone());
        }
    }
    let verb = if found.count == 1 {
        "expires"
    } else {
        "expire"
    };
    let text = format!(
        "{} {verb} within {}: issue another, and tell who uses it.",
        plural(found.count, "API key"),
        words(KEY_EXPIRES_SECONDS)
    );
    found.condition("KeysExpire", Severity::Warning, text)
}

/// Logons that take longer than the bound, or than the fleet is used to.
fn logons(fleet: &Fleet<'_>, now: Timestamp, alerts: &Alerts) -> Result<Option<Condition>> {
    let bound = i64::try_from(alerts.logon_p95.as_millis()).unwrap_or(i64::MAX);
    let times = i64::from(alerts.logon_times);
    if bound == 0 && times == 0 {
        return Ok(None);
    }
    let over = |seconds: i64| -> Result<Option<StartupPoint>> {
        let query = StartupQuery {
            from: Some(now.plus_seconds(-seconds)),
            step: Some(std::time::Duration::from_secs(seconds.unsigned_abs())),
            ..StartupQuery::default()
        };
        let points = query.answer(fleet)?.points.rows;
        // The range may touch two steps.
        let most = points.into_iter().max_by_key(|point| point.count);
        Ok(most.filter(|point| point.count >= LOGONS_MIN))
    };
    let Some(hour) = over(HOUR_SECONDS)? else {
        return Ok(None);
    };
    let p95 = hour.total.p95.unwrap_or_default();
    let seconds = |ms: i64| format!("{} s", (ms + 500) / 1000);
    let why = if bound > 0 && p95 > bound {
        format!("more than {} (alerts.logon_p95)", seconds(bound))
    } else {
        if times == 0 {
            return Ok(None);
        }
        let month = over(30 * 24 * HOUR_SECONDS)?;
        let usual = month.and_then(|point| point.total.p95).unwrap_or_default();
        if usual == 0 || p95 <= usual.saturating_mul(times) {
            return Ok(None);
        }
        format!("{} in the last 30 days", seconds(usual))
    };
    let text = format!(
        "One of 20 startups of the last hour took {} or longer, {why}: /query/startup says which phase, and where.",
        seconds(p95)
    );
    let condition = Condition::new("LogonsSlow", Severity::Warning, text, now);
    Ok(Some(condition.about(hour.count, Vec::new())))
}

/// The whole seconds between two times.
pub(crate) fn seconds_between(earlier: Timestamp, later: Timestamp) -> i64 {
    later.ticks().saturating_sub(earlier.ticks()) / TICKS_PER_SECOND
}
