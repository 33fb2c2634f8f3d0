//! What is wrong with the fleet, as far as its tables say it.

use crate::config::Alerts;
use crate::domain::keys::is_accepted;
use crate::error::Result;
use crate::limits::{CONDITION_SUBJECTS_MAX, KEY_EXPIRES_SECONDS};
use crate::model::{AuditAction, AuditResult, Condition, Severity, State};
use crate::store::fleet::keys::LiveKey;
use crate::store::fleet::{audit, pending, workspaces};
use crate::store::table::Step;
use crate::timestamp::Timestamp;
use crate::view::{Reader, actions};

use super::Fleet;
use super::desktops::figures_of;
use super::startup::{StartupPoint, StartupQuery, startups};

const HOUR_SECONDS: i64 = 60 * 60;
/// A desktop that was silent for longer is not missed: nobody uses it, or its agent was removed.
const SILENT_MAX_SECONDS: i64 = 7 * 24 * HOUR_SECONDS;
/// The most recent logons that say something of the fleet, at least.
const LOGONS_MIN: u64 = 5;
/// The audit rows that are examined, newest first.
const ROWS_EXAMINED_MAX: u64 = 10_000;

// The texts have no figures: the count is beside them, and each text that is put together adds to the WebAssembly module.
const UNHEALTHY: &str =
    "Desktops are UNHEALTHY or ERROR: a recovery reboot, a restore or a rebuild may help.";
const SILENT: &str = "Desktops are AVAILABLE and have sent nothing for longer than alerts.silent_after: the agent or the desktop hangs.";
const FLEET_SILENT: &str = "Many of the AVAILABLE desktops that report have sent nothing for longer than alerts.silent_after: look at the network, and at the clocks \
    and keys of the agents, before you look at single desktops.";
const UNATTENDED: &str = "Actions were not begun by a provider within 15 minutes: start deskfleet-provider, or look at why it waits.";
const STALLED: &str = "Actions have no end 2 hours after their last attempt began: look at the log of the provider and at the cloud, then complete or fail them.";
const FAILED: &str = "Actions failed in the last hour: the audit says why.";
const KEYS_EXPIRE: &str = "API keys expire within 7 days: issue others, and tell who uses them.";
const LOGONS_SLOW: &str = "One of 20 startups of the last hour took longer than alerts.logon_p95, or alerts.logon_times times as long as in the last 30 days: \
    /query/startup says which phase, and where.";

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
    fn condition(self, code: &str, severity: Severity, text: &str) -> Option<Condition> {
        let since = self.since?;
        Some(Condition::new(code, severity, text, since).about(self.count, self.subjects))
    }
}

/// Every condition of the fleet itself but that of its keys, in no order.
pub(crate) fn conditions(fleet: &Fleet<'_>) -> Result<Vec<Condition>> {
    let alerts = &fleet.readers.config().alerts;
    let reader = fleet.readers.tables()?;
    let mut all = desktops(&reader, alerts)?;
    all.extend(actions_of(&reader)?);
    all.extend(logons(&reader, alerts)?);
    Ok(all)
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
    let broken = broken.condition("DesktopsUnhealthy", Severity::Warning, UNHEALTHY);
    let percent = u64::from(alerts.silent_percent);
    let is_fleet = silent.count > 1 && silent.count * 100 >= percent * (silent.count + reporting);
    let silent = if is_fleet {
        silent.condition("FleetSilent", Severity::Critical, FLEET_SILENT)
    } else {
        silent.condition("DesktopsSilent", Severity::Warning, SILENT)
    };
    Ok(broken.into_iter().chain(silent).collect())
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
    // A row has the time of its request, and an action may take hours to fail.
    let [hour, day] = [1, 24].map(|hours| reader.now.plus_seconds(-hours * HOUR_SECONDS));
    let mut examined = 0;
    audit::scan_before(&reader.snapshot, None, &mut |row| {
        examined += 1;
        if row.time < day || examined > ROWS_EXAMINED_MAX {
            return Ok(Step::Break(()));
        }
        let is_action = matches!(row.action, AuditAction::Lifecycle(_));
        if is_action && row.result == AuditResult::Failed {
            let row = row.entry()?;
            if let Some(ended) = row.completed_time.filter(|ended| *ended >= hour) {
                failed.add(ended, || row.workspace_id.unwrap_or_default());
            }
        }
        Ok(Step::Continue(()))
    })?;
    let waiting = waiting.condition("ActionsUnattended", Severity::Warning, UNATTENDED);
    let stalled = stalled.condition("ActionsStalled", Severity::Warning, STALLED);
    let failed = failed.condition("ActionsFailed", Severity::Warning, FAILED);
    Ok([waiting, stalled, failed].into_iter().flatten().collect())
}

/// Keys that will not be accepted much longer.
pub(crate) fn expiring<'k>(
    keys: impl Iterator<Item = &'k LiveKey>,
    now: Timestamp,
) -> Option<Condition> {
    let mut found = Found::default();
    for key in keys
        .map(|key| &key.info)
        .filter(|key| is_accepted(key, now))
    {
        let begins = key.expires.map(|at| at.plus_seconds(-KEY_EXPIRES_SECONDS));
        // A key that was issued for less was meant so.
        if let Some(begins) = begins.filter(|at| *at <= now && key.created < *at) {
            found.add(begins, String::new);
        }
    }
    // Who may read the fleet may not list the keys.
    found.subjects.clear();
    found.condition("KeysExpire", Severity::Warning, KEYS_EXPIRE)
}

/// Logons that take longer than the bound, or than the fleet is used to.
fn logons(reader: &Reader, alerts: &Alerts) -> Result<Option<Condition>> {
    let now = reader.now;
    let bound = i64::try_from(alerts.logon_p95.as_millis()).unwrap_or(i64::MAX);
    let times = i64::from(alerts.logon_times);
    if bound == 0 && times == 0 {
        return Ok(None);
    }
    let over = |seconds: i64| -> Result<Option<StartupPoint>> {
        // What is queued is not filed for this.
        let query = StartupQuery {
            from: Some(now.plus_seconds(-seconds)),
            step: Some(std::time::Duration::from_secs(seconds.unsigned_abs())),
            ..StartupQuery::default()
        };
        let points = startups(reader, &query)?.points.rows;
        // The range may touch two steps.
        let most = points.into_iter().max_by_key(|point| point.count);
        Ok(most.filter(|point| point.count >= LOGONS_MIN))
    };
    let Some(hour) = over(HOUR_SECONDS)? else {
        return Ok(None);
    };
    let p95 = hour.total.p95.unwrap_or_default();
    if bound == 0 || p95 <= bound {
        if times == 0 {
            return Ok(None);
        }
        let month = over(30 * 24 * HOUR_SECONDS)?;
        let usual = month.and_then(|point| point.total.p95).unwrap_or_default();
        if usual == 0 || p95 <= usual.saturating_mul(times) {
            return Ok(None);
        }
    }
    let condition = Condition::new("LogonsSlow", Severity::Warning, LOGONS_SLOW, now);
    Ok(Some(condition.about(hour.count, Vec::new())))
}
