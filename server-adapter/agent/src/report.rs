//! `deskfleet-agent report`: what a script at a logon, a lock or a logoff knows and the agent cannot see.

use std::time::{Duration, SystemTime};

use super::records::{Record, StartupRecord};
use super::running::{Identity, spool_folder};
use super::settings::Settings;
use super::spool;

/// The words that the server knows, and those of the command line.
pub(crate) const ACTIVITIES: [(&str, &str); 6] = [
    ("logon", "Logon"),
    ("logoff", "Logoff"),
    ("lock", "Lock"),
    ("unlock", "Unlock"),
    ("disconnect", "Disconnect"),
    ("reconnect", "Reconnect"),
];
pub(crate) const STARTUP: &str = "startup";
/// The variables that name the user: of PAM, of Windows, of shells.
const USER_VARIABLES: [&str; 3] = ["PAM_USER", "USERNAME", "USER"];

/// What is reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// A word of [`ACTIVITIES`], or [`STARTUP`].
    pub(crate) what: String,
    pub(crate) user: Option<String>,
    pub(crate) profile_ms: Option<i32>,
    pub(crate) group_policy_ms: Option<i32>,
    pub(crate) shell_ms: Option<i32>,
    pub(crate) total_ms: Option<i32>,
}

/// Puts the records into the spool of the agent.
///
/// # Errors
/// One sentence: it needs a user or a time, or the spool cannot be written.
pub(crate) fn run(settings: &Settings, report: &Report) -> Result<(), String> {
    let records = records(
        &Identity::new(settings)?,
        report,
        &user(report)?,
        SystemTime::now(),
    )?;
    let lines: Vec<String> = records.iter().map(Record::line).collect();
    spool::put(&spool_folder(settings), &lines).map_err(|error| error.to_string())
}

fn user(report: &Report) -> Result<String, String> {
    let set = |name: &&str| std::env::var(name).ok().filter(|user| !user.is_empty());
    let user = report
        .user
        .clone()
        .or_else(|| USER_VARIABLES.iter().find_map(set));
    user.ok_or_else(|| "name the user with --user".to_owned())
}

fn records(
    identity: &Identity,
    report: &Report,
    user: &str,
    now: SystemTime,
) -> Result<Vec<Record>, String> {
    let user = Some(user);
    let mut records = Vec::new();
    let word = ACTIVITIES.iter().find(|(name, _)| *name == report.what);
    records.extend(word.map(|(_, word)| identity.activity(user, word, now)));
    let parts = [report.profile_ms, report.group_policy_ms, report.shell_ms];
    let total = report.total_ms.or_else(|| {
        let known: Vec<i32> = parts.into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.into_iter().fold(0, i32::saturating_add))
    });
    match total {
        Some(total) => {
            let millis = u64::try_from(total).unwrap_or(0);
            // The report is made at the end of what it measures.
            let begun = now
                .checked_sub(Duration::from_millis(millis))
                .unwrap_or(now);
            let durations = StartupRecord {
                profile_ms: report.profile_ms,
                group_policy_ms: report.group_policy_ms,
                shell_ms: report.shell_ms,
                total_ms: Some(total),
                ..StartupRecord::default()
            };
            records.push(identity.startup(user, begun, &durations));
        }
        None if report.what == STARTUP => {
            return Err("a startup has a time: give --total-ms, --profile-ms, --group-policy-ms or --shell-ms".to_owned());
        }
        None => {}
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(report: &Report) -> Result<Vec<String>, String> {
        let settings = Settings {
            instance: Some("ws-1".to_owned()),
            ..Settings::default()
        };
        let identity = Identity::new(&settings).unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_763_625_600);
        let records = records(&identity, report, "jdoe", now)?;
        Ok(records.iter().map(Record::line).collect())
    }

    #[test]
    fn logon_with_times_is_an_activity_and_a_startup() {
        let report = Report {
            what: "logon".to_owned(),
            profile_ms: Some(1200),
            shell_ms: Some(800),
            ..Report::default()
        };
        assert_eq!(
            lines(&report).unwrap(),
            [
                r#"{"activity":{"instanceId":"ws-1","username":"jdoe","activity":"Logon","activityTime":"2025-11-20T08:00:00.000Z"}}"#,
                r#"{"startup":{"instanceId":"ws-1","username":"jdoe","baselineUtc":"2025-11-20T07:59:58.000Z","profileMs":1200,"shellMs":800,"totalMs":2000}}"#,
            ]
        );
    }

    #[test]
    fn startup_without_a_time_is_refused() {
        let report = Report {
            what: STARTUP.to_owned(),
            ..Report::default()
        };
        assert!(lines(&report).unwrap_err().contains("--total-ms"));
    }
}
