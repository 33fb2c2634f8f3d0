//! Sessions of systemd-logind, from its files; whether one is locked, from `loginctl`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Session, Sessions, time_of_micros};

const FOLDER: &str = "/run/systemd/sessions";

pub(super) fn is_there() -> bool {
    Path::new(FOLDER).is_dir()
}

pub(super) fn list() -> Option<Sessions> {
    let mut sessions = Sessions::new();
    let mut graphical = Vec::new();
    for entry in fs::read_dir(FOLDER).ok()?.flatten() {
        let id = entry.file_name().to_string_lossy().into_owned();
        // `1.ref` and the like are pipes.
        if id.contains('.') {
            continue;
        }
        let Some((session, is_graphical)) = fs::read_to_string(entry.path())
            .ok()
            .and_then(|text| parse(&text))
        else {
            continue;
        };
        if is_graphical {
            graphical.push(id.clone());
        }
        sessions.insert(id, session);
    }
    for id in locked(&graphical) {
        if let Some(session) = sessions.get_mut(&id) {
            session.is_locked = true;
        }
    }
    Some(sessions)
}

/// The session of a file, and whether it has a screen; `None` where it is no session of a user, or ends.
fn parse(text: &str) -> Option<(Session, bool)> {
    let values: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .collect();
    let value = |name| values.get(name).copied().unwrap_or_default();
    if !value("CLASS").starts_with("user") || value("STATE") == "closing" {
        return None;
    }
    let session = Session {
        user: (*values.get("USER")?).to_owned(),
        since: value("REALTIME").parse().ok().map(time_of_micros),
        is_connected: true,
        is_locked: false,
    };
    Some((session, matches!(value("TYPE"), "x11" | "wayland" | "mir")))
}

/// Those of the sessions that are locked. Without a screen none is, and nothing is run.
fn locked(ids: &[String]) -> Vec<String> {
    if ids.is_empty() {
        return Vec::new();
    }
    let output = Command::new("loginctl")
        .args(["show-session", "--property=Id", "--property=LockedHint"])
        .args(ids)
        .stderr(Stdio::null())
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    parse_locked(&text.unwrap_or_default())
}

fn parse_locked(text: &str) -> Vec<String> {
    let blocks = text.split("\n\n");
    let locked = blocks.filter(|block| block.contains("LockedHint=yes"));
    locked
        .filter_map(|block| block.lines().find_map(|line| line.strip_prefix("Id=")))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# This is private data. Do not parse.\nUID=1000\nUSER=jdoe\nACTIVE=1\nIS_DISPLAY=1\nSTATE=active\nREMOTE=0\n\
                        TYPE=wayland\nCLASS=user\nSCOPE=session-2.scope\nSEAT=seat0\nREALTIME=1763625600250000\nMONOTONIC=81\n";

    #[test]
    fn file_of_a_user_is_a_session() {
        let (session, is_graphical) = parse(FILE).unwrap();
        assert_eq!(session.user, "jdoe");
        assert_eq!(session.since, Some(time_of_micros(1_763_625_600_250_000)));
        assert!(is_graphical);
        let (_, is_graphical) = parse(&FILE.replace("wayland", "tty")).unwrap();
        assert!(!is_graphical);
    }

    #[test]
    fn greeter_and_closing_session_are_none() {
        assert_eq!(parse(&FILE.replace("CLASS=user", "CLASS=greeter")), None);
        assert_eq!(parse(&FILE.replace("CLASS=user", "CLASS=manager")), None);
        assert_eq!(parse(&FILE.replace("STATE=active", "STATE=closing")), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn locked_sessions_are_those_with_the_hint() {
        let text = "Id=2\nLockedHint=yes\n\nId=5\nLockedHint=no\n\nLockedHint=yes\nId=c7\n";
        assert_eq!(parse_locked(text), ["2", "c7"]);
        assert_eq!(parse_locked(""), [""; 0]);
    }
}
