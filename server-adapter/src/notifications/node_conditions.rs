//! The conditions of a node, for its webhooks. A node writes no events of them, because each node has its own: a webhook gets the difference
//! between what it knows and what upkeep of this node saw last.

use std::collections::BTreeMap;

use deskfleet::{Condition, EventType, FleetEvent, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What a webhook knows of the conditions of this node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KnownConditions {
    /// Messages so far, which make their ids.
    messages: u64,
    /// By code.
    known: BTreeMap<String, Known>,
    /// The message that is sent now. It is stored before, so that it is the same after a restart.
    pending: Option<Message>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    severity: String,
    since: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Message {
    at: Timestamp,
    code: String,
    /// The condition that was raised; `None` where it was cleared.
    raised: Option<Known>,
    detail: Value,
}

impl KnownConditions {
    /// Begins the next message at `now`, unless one is pending: about a condition of `all` that is new or has another severity, or about one that
    /// is over. Returns its number and event; `None` where there is nothing to send.
    pub(super) fn next(
        &mut self,
        node: &str,
        all: &[Condition],
        now: Timestamp,
    ) -> Option<(u64, FleetEvent)> {
        if self.pending.is_none() {
            self.pending = self.raised(node, all, now);
        }
        if self.pending.is_none() {
            self.pending = self.cleared(node, all, now);
        }
        let message = self.pending.as_ref()?;
        let event = FleetEvent {
            // It is no event of the log.
            id: 0,
            at: message.at,
            kind: if message.raised.is_some() {
                EventType::ConditionRaised
            } else {
                EventType::ConditionCleared
            },
            workspace_id: None,
            username: None,
            detail: message.detail.to_string(),
        };
        Some((self.messages + 1, event))
    }

    /// The pending message was taken, or is not wanted.
    pub(super) fn taken(&mut self) {
        let Some(Message { code, raised, .. }) = self.pending.take() else {
            return;
        };
        self.messages += 1;
        match raised {
            Some(condition) => drop(self.known.insert(code, condition)),
            None => drop(self.known.remove(&code)),
        }
    }

    fn raised(&self, node: &str, all: &[Condition], at: Timestamp) -> Option<Message> {
        let is_known = |of: &&Condition| {
            let known = self.known.get(&of.code);
            known.is_some_and(|known| known.severity == of.severity.as_str())
        };
        let of = all.iter().find(|of| !is_known(of))?;
        let severity = of.severity.as_str();
        let mut detail = json!({
            "code": of.code, "severity": severity, "since": of.since, "text": of.text, "node": node,
        });
        if let (Some(count), Some(members)) = (of.count, detail.as_object_mut()) {
            members.insert("count".to_owned(), count.into());
        }
        Some(Message {
            at,
            code: of.code.clone(),
            raised: Some(Known {
                severity: severity.to_owned(),
                since: of.since,
            }),
            detail,
        })
    }

    fn cleared(&self, node: &str, all: &[Condition], at: Timestamp) -> Option<Message> {
        let is_over = |code: &String| !all.iter().any(|of| of.code == *code);
        let (code, Known { severity, since }) =
            self.known.iter().find(|(code, _)| is_over(code))?;
        let detail = json!({
            "code": code, "severity": severity, "since": since, "until": at, "node": node,
        });
        Some(Message {
            at,
            code: code.clone(),
            raised: None,
            detail,
        })
    }
}

#[cfg(test)]
mod tests {
    use deskfleet::Severity;

    use super::*;

    fn condition(code: &str, severity: Severity, seconds: i64) -> Condition {
        Condition::new(code, severity, "x", Timestamp::from_unix_seconds(seconds))
    }

    /// Sends all that differs; returns type, code and severity of each message.
    fn send(known: &mut KnownConditions, all: &[Condition]) -> Vec<String> {
        let mut sent = Vec::new();
        while let Some((_, event)) = known.next("n-1", all, Timestamp::from_unix_seconds(99)) {
            let detail: Value = serde_json::from_str(&event.detail).unwrap();
            assert_eq!((&detail["node"], event.id), (&json!("n-1"), 0));
            let word = |name: &str| detail[name].as_str().unwrap().to_owned();
            sent.push(format!(
                "{} {} {}",
                event.kind.as_str(),
                word("code"),
                word("severity")
            ));
            known.taken();
        }
        sent
    }

    #[test]
    fn condition_is_sent_when_it_is_raised_worse_and_over() {
        let mut known = KnownConditions::default();
        let warning = condition("A", Severity::Warning, 1);
        let critical = condition("A", Severity::Critical, 1);
        let other = condition("B", Severity::Warning, 2).about(3, Vec::new());
        assert!(send(&mut known, &[]).is_empty());
        let both = ["condition.raised A warning", "condition.raised B warning"];
        assert_eq!(send(&mut known, &[warning.clone(), other.clone()]), both);
        assert!(send(&mut known, &[warning, other.clone()]).is_empty());
        let worse = ["condition.raised A critical"];
        assert_eq!(send(&mut known, &[critical, other.clone()]), worse);
        assert_eq!(send(&mut known, &[other]), ["condition.cleared A critical"]);
    }

    #[test]
    fn pending_message_is_the_same_after_a_restart_also_where_it_is_over() {
        let mut known = KnownConditions::default();
        let all = [condition("A", Severity::Warning, 1)];
        let sent = known.next("n-1", &all, Timestamp::from_unix_seconds(5));
        let stored = serde_json::to_string(&known).unwrap();
        let mut known: KnownConditions = serde_json::from_str(&stored).unwrap();
        assert_eq!(
            known.next("n-1", &[], Timestamp::from_unix_seconds(9)),
            sent
        );
        known.taken();
        let (number, cleared) = known
            .next("n-1", &[], Timestamp::from_unix_seconds(9))
            .unwrap();
        assert_eq!((number, cleared.kind), (2, EventType::ConditionCleared));
        let detail: Value = serde_json::from_str(&cleared.detail).unwrap();
        assert_eq!(detail["until"], "1970-01-01T00:00:09Z");
        assert_eq!(detail["since"], "1970-01-01T00:00:01Z");
    }
}
