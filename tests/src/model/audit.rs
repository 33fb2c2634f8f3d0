//! The audit as the reference keeps it.

#![expect(
    clippy::option_option,
    reason = "a field of a row may be null, and what it must be may be left open"
)]

use deskfleet::{AuditAction, AuditEntry, AuditQuery, AuditResult, ErrorKind, Timestamp};

use super::World;

/// The expected content of a row; the outer `None` where the contract leaves a field open.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(super) time: Timestamp,
    pub(super) action: AuditAction,
    pub(super) workspace: Option<Option<String>>,
    /// User and computer.
    pub(super) whose: Option<(Option<String>, Option<String>)>,
    pub(super) result: AuditResult,
    pub(super) previous: Option<Option<String>>,
    pub(super) new: Option<Option<String>>,
    pub(super) completed: Option<Option<Timestamp>>,
    pub(super) detail: Option<Option<String>>,
    /// The number of equal calls it stands for.
    pub(super) calls: u32,
}

impl Row {
    /// A row of which only time, action and result are known.
    pub(super) fn open(time: Timestamp, action: AuditAction, result: AuditResult) -> Self {
        Self {
            time,
            action,
            workspace: None,
            whose: None,
            result,
            previous: None,
            new: None,
            completed: None,
            detail: None,
            calls: 1,
        }
    }

    /// Whether a call with the row `other` would be counted in this one, in the same minute.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        let parts = |row: &Self| {
            let about = (
                row.workspace.clone(),
                row.whose.clone(),
                row.previous.clone(),
            );
            (row.action, row.result, about, row.detail.clone())
        };
        parts(self) == parts(other)
    }

    /// A refusal.
    pub(super) fn refused(time: Timestamp, action: AuditAction, kind: ErrorKind) -> Self {
        let detail = Some(Some(format!("{kind:?}")));
        Self {
            detail,
            ..Self::open(time, action, AuditResult::Refused)
        }
    }

    /// Compares with a row of the engine.
    pub(super) fn check(&self, found: &AuditEntry) {
        let about = |what: &str| format!("{what} of the audit row {found:?}, expected {self:?}");
        assert_eq!(self.time, found.time, "{}", about("time"));
        assert_eq!(self.action, found.action, "{}", about("action"));
        assert_eq!(self.result, found.result, "{}", about("result"));
        assert_eq!(found.requester, "host", "{}", about("requester"));
        assert_eq!(found.api_key_name, None, "{}", about("key"));
        assert!(
            same(self.workspace.as_ref(), &found.workspace_id),
            "{}",
            about("workspace")
        );
        let whose = (found.username.clone(), found.computer_name.clone());
        assert!(same(self.whose.as_ref(), &whose), "{}", about("owner"));
        assert!(
            same(self.previous.as_ref(), &found.previous_state),
            "{}",
            about("state before")
        );
        assert!(
            same(self.new.as_ref(), &found.new_state),
            "{}",
            about("state after")
        );
        assert!(
            same(self.completed.as_ref(), &found.completed_time),
            "{}",
            about("end")
        );
        let counted = |detail: &Option<String>| match (detail, self.calls) {
            (detail, 1) => detail.clone(),
            (Some(detail), calls) => Some(format!("{detail} ({calls} times)")),
            (None, calls) => Some(format!("({calls} times)")),
        };
        let detail = self.detail.as_ref().map(counted);
        assert!(same(detail.as_ref(), &found.detail), "{}", about("detail"));
    }
}

impl World {
    /// Pages of `limit` rows, by filters that an old row passes, are what these filters leave of `all`.
    pub(super) fn compare_audit_pages(&self, all: &[AuditEntry], limit: u32) {
        let Some(wanted) = all.get(all.len() / 2) else {
            return;
        };
        let every = AuditQuery {
            limit,
            ..AuditQuery::default()
        };
        for query in [
            every.clone(),
            AuditQuery {
                action: Some(wanted.action),
                ..every.clone()
            },
            AuditQuery {
                result: Some(wanted.result),
                to: Some(wanted.time),
                ..every.clone()
            },
            AuditQuery {
                workspace_id: wanted.workspace_id.as_deref().map(str::to_uppercase),
                from: Some(wanted.time),
                ..every
            },
        ] {
            let passes = |row: &&AuditEntry| {
                query.from.is_none_or(|from| row.time >= from)
                    && query.to.is_none_or(|to| row.time < to)
                    && query.action.is_none_or(|action| row.action == action)
                    && query.result.is_none_or(|result| row.result == result)
                    && (query.workspace_id.is_none() || row.workspace_id == wanted.workspace_id)
            };
            let expected: Vec<_> = all.iter().filter(passes).cloned().collect();
            let found: Result<Vec<_>, _> = self.engine.all_audit(query.clone()).collect();
            assert_eq!(found.expect("a good disk"), expected, "{query:?}");
        }
    }
}

fn same<T: PartialEq>(expected: Option<&T>, found: &T) -> bool {
    expected.is_none_or(|expected| expected == found)
}
