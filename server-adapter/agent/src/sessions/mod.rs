//! The sessions of users, and what changes about them.
//!
//! Each system shows its sessions in its own way; this is the only part of the agent that knows one system from another.

mod logind;
mod quser;
mod utmp;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// A session of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) user: String,
    /// When it began, where the system says so.
    pub(crate) since: Option<SystemTime>,
    /// Whether somebody sees it: not where it waits for a reconnect.
    pub(crate) is_connected: bool,
    pub(crate) is_locked: bool,
}

/// Sessions by their id.
pub(crate) type Sessions = BTreeMap<String, Session>;

/// Something that a user did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) user: String,
    /// The word of the record.
    pub(crate) activity: &'static str,
    pub(crate) time: SystemTime,
}

/// Where the sessions are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Logind,
    Utmp,
    Quser,
    None,
}

impl Source {
    /// The one of this machine.
    pub(crate) fn of_this_machine() -> Self {
        if logind::is_there() {
            Self::Logind
        } else if utmp::is_there() {
            Self::Utmp
        } else if std::env::consts::OS == "windows" {
            Self::Quser
        } else {
            Self::None
        }
    }

    /// The sessions of now; `None` where they cannot be listed.
    pub(crate) fn list(self) -> Option<Sessions> {
        match self {
            Self::Logind => logind::list(),
            Self::Utmp => utmp::list(),
            Self::Quser => quser::list(),
            Self::None => None,
        }
    }

    /// The name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Logind => "logind",
            Self::Utmp => "utmp",
            Self::Quser => "quser",
            Self::None => "reports alone: this system shows no sessions",
        }
    }
}

/// The user of the session that began last, of those that somebody sees.
pub(crate) fn user(sessions: &Sessions) -> Option<&str> {
    let seen = sessions.values().filter(|session| session.is_connected);
    seen.max_by_key(|session| session.since)
        .map(|session| session.user.as_str())
}

/// What happened between two lists, of which the later one was made at `now`.
pub(crate) fn changes(before: &Sessions, after: &Sessions, now: SystemTime) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut add = |session: &Session, activity, time| {
        changes.push(Change {
            user: session.user.clone(),
            activity,
            time,
        });
    };
    for (id, session) in before {
        if after.get(id).is_none_or(|same| same.user != session.user) {
            add(session, "Logoff", now);
        }
    }
    for (id, session) in after {
        let Some(earlier) = before.get(id).filter(|same| same.user == session.user) else {
            add(session, "Logon", session.since.unwrap_or(now));
            continue;
        };
        for (was, is, begins, ends) in [
            (
                !earlier.is_connected,
                !session.is_connected,
                "Disconnect",
                "Reconnect",
            ),
            (earlier.is_locked, session.is_locked, "Lock", "Unlock"),
        ] {
            match (was, is) {
                (false, true) => add(session, begins, now),
                (true, false) => add(session, ends, now),
                _ => {}
            }
        }
    }
    changes
}

/// The sessions as text, for the next start: one a line.
pub(crate) fn to_text(sessions: &Sessions) -> String {
    let line = |(id, session): (&String, &Session)| {
        let since = session
            .since
            .and_then(|since| since.duration_since(SystemTime::UNIX_EPOCH).ok());
        let since = since.map_or_else(|| "-".to_owned(), |since| since.as_micros().to_string());
        let (connected, locked) = (u8::from(session.is_connected), u8::from(session.is_locked));
        format!("{id}\t{since}\t{connected}\t{locked}\t{}\n", session.user)
    };
    sessions.iter().map(line).collect()
}

/// The sessions of a text; lines that are damaged are left out.
pub(crate) fn from_text(text: &str) -> Sessions {
    let session = |line: &str| {
        let mut fields = line.splitn(5, '\t');
        let id = fields.next()?.to_owned();
        let since = fields.next()?.parse().ok().map(time_of_micros);
        let mut flag = || Some(fields.next()? == "1");
        let (is_connected, is_locked) = (flag()?, flag()?);
        let user = fields.next()?.to_owned();
        let session = Session {
            user,
            since,
            is_connected,
            is_locked,
        };
        Some((id, session))
    };
    text.lines().filter_map(session).collect()
}

fn time_of_micros(micros: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn session(user: &str, since: u64, is_connected: bool, is_locked: bool) -> Session {
        Session {
            user: user.to_owned(),
            since: Some(NOW + Duration::from_secs(since)),
            is_connected,
            is_locked,
        }
    }

    fn words(before: &Sessions, after: &Sessions) -> Vec<(String, &'static str)> {
        let changes = changes(before, after, NOW);
        changes
            .into_iter()
            .map(|change| (change.user, change.activity))
            .collect()
    }

    #[test]
    fn each_change_of_a_session_is_one_activity() {
        let list = |sessions: &[(&str, Session)]| -> Sessions {
            sessions
                .iter()
                .map(|(id, of)| ((*id).to_owned(), of.clone()))
                .collect()
        };
        let none = Sessions::new();
        let on = list(&[("1", session("jdoe", 5, true, false))]);
        let locked = list(&[("1", session("jdoe", 5, true, true))]);
        let away = list(&[("1", session("jdoe", 5, false, true))]);
        let other = list(&[("1", session("roe", 9, true, false))]);
        let one = |word| vec![("jdoe".to_owned(), word)];
        assert_eq!(words(&none, &on), one("Logon"));
        assert_eq!(words(&on, &on), []);
        assert_eq!(words(&on, &locked), one("Lock"));
        assert_eq!(words(&locked, &away), one("Disconnect"));
        assert_eq!(words(&away, &locked), one("Reconnect"));
        assert_eq!(words(&locked, &on), one("Unlock"));
        assert_eq!(words(&on, &none), one("Logoff"));
        // After a restart of the machine the same id is another session.
        assert_eq!(
            words(&on, &other),
            [("jdoe".to_owned(), "Logoff"), ("roe".to_owned(), "Logon")]
        );
        assert_eq!(
            changes(&none, &on, NOW)[0].time,
            NOW + Duration::from_secs(5)
        );
        assert_eq!(user(&on), Some("jdoe"));
        assert_eq!(user(&away), None);
    }

    #[test]
    fn user_is_that_of_the_newest_session() {
        let sessions = [
            ("1", session("jdoe", 5, true, false)),
            ("2", session("roe", 9, true, false)),
        ];
        let sessions = sessions.map(|(id, of)| (id.to_owned(), of)).into();
        assert_eq!(user(&sessions), Some("roe"));
    }

    #[test]
    fn text_of_sessions_is_read_back_and_damage_is_left_out() {
        let mut sessions: Sessions =
            [("c1".to_owned(), session("CORP\\j doe", 5, true, true))].into();
        sessions.insert(
            "2".to_owned(),
            Session {
                since: None,
                ..session("roe", 0, false, false)
            },
        );
        let text = to_text(&sessions);
        assert_eq!(from_text(&text), sessions);
        for cut in 0..text.len() {
            assert!(from_text(&text[..cut]).len() <= 2);
        }
    }
}
