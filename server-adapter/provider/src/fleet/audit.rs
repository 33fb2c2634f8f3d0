//! What the audit says of actions that ended.

use deskfleet::{Action, Timestamp};
use serde::Deserialize;

use super::{Fleet, PAGE, Refusal};

/// How far back the requests of what ended within the last hour are looked for: 30 days.
const ENDED_OF_SECONDS: i64 = 30 * 24 * 3600;
/// Pages of the audit that are looked through for that, of each action.
const AUDIT_PAGES_MAX: usize = 200;

/// A row of the audit, as far as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditRow {
    completed_time: Option<Timestamp>,
    detail: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditRows {
    activities: Vec<AuditRow>,
    next_token: Option<String>,
}

impl Fleet {
    /// When attempts of `provider` at actions of these kinds ended since `since`.
    pub(crate) fn ended(
        &self,
        provider: &str,
        actions: impl IntoIterator<Item = Action>,
        since: Timestamp,
    ) -> Result<Vec<Timestamp>, Refusal> {
        let mut ended = Vec::new();
        let ours = |row: &AuditRow| {
            let detail = row.detail.as_deref().unwrap_or_default();
            detail.contains(&format!("{provider}, "))
        };
        // It was asked for before it ended, and waits for days where the bound holds many back.
        let from = since.plus_seconds(-ENDED_OF_SECONDS);
        for action in actions {
            let first = format!("/operator/audit?action={action}&from={from}&limit={PAGE}");
            let mut target = first.clone();
            for _ in 0..AUDIT_PAGES_MAX {
                let page: AuditRows = self.get(&target)?;
                let rows = page.activities.into_iter().filter(ours);
                let times = rows.filter_map(|row| row.completed_time);
                ended.extend(times.filter(|at| *at >= since));
                let Some(token) = page.next_token else {
                    break;
                };
                target = format!("{first}&nextToken={token}");
            }
        }
        Ok(ended)
    }
}
