//! Sessions of Windows, from `quser`: its columns have the same order in every language.

use std::process::{Command, Stdio};

use super::{Session, Sessions};

pub(super) fn list() -> Option<Sessions> {
    // It fails where nobody is logged on, so only a program that cannot be run is no list.
    let output = Command::new("quser").stderr(Stdio::null()).output().ok()?;
    Some(parse(&String::from_utf8_lossy(&output.stdout)))
}

fn parse(text: &str) -> Sessions {
    text.lines().skip(1).filter_map(session).collect()
}

/// User, name of the session, id; a session without a name waits for a reconnect.
fn session(line: &str) -> Option<(String, Session)> {
    let mut words = line.split_whitespace();
    let user = words.next()?.trim_start_matches('>').to_owned();
    let second = words.next()?;
    let is_id = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let (id, is_connected) = if is_id(second) {
        (second, false)
    } else {
        (words.next().filter(|word| is_id(word))?, true)
    };
    let session = Session {
        user,
        since: None,
        is_connected,
        is_locked: false,
    };
    Some((id.to_owned(), session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_without_a_name_is_disconnected_in_every_language() {
        let english = " USERNAME              SESSIONNAME        ID  STATE   IDLE TIME  LOGON TIME\n\
                       >jdoe                  console             1  Active      none   11/20/2026 8:00 AM\n \
                       roe                                       2  Disc        12:03  11/20/2026 7:00 AM\n";
        let german = " BENUTZERNAME          SITZUNGSNAME       ID  STATUS  LEERLAUF   ANMELDEZEIT\n\
                      >jdoe                  console             1  Aktiv       Kein   20.11.2026 08:00\n \
                      roe                                       2  Getr.       12:03  20.11.2026 07:00\n";
        for text in [english, german] {
            let sessions = parse(text);
            assert_eq!(sessions["1"].user, "jdoe");
            assert!(sessions["1"].is_connected);
            assert_eq!(sessions["2"].user, "roe");
            assert!(!sessions["2"].is_connected);
        }
        assert!(parse("No User exists for *\n").is_empty());
        assert!(parse("").is_empty());
    }
}
