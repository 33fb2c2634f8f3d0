//! Sessions of `utmp`, on Linux without logind.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{Session, Sessions};

const FILE: &str = "/run/utmp";
/// The bytes of an entry on x86-64, and on others with times of 32 bits.
const ENTRY_BYTES: usize = 384;
/// The type of a session of a user.
const USER_PROCESS: u16 = 7;

pub(super) fn is_there() -> bool {
    Path::new(FILE).exists()
}

pub(super) fn list() -> Option<Sessions> {
    fs::read(FILE).ok().map(|bytes| parse(&bytes))
}

/// Nothing where the entries have another length.
fn parse(bytes: &[u8]) -> Sessions {
    let (entries, []) = bytes.as_chunks::<ENTRY_BYTES>() else {
        return Sessions::new();
    };
    entries.iter().filter_map(|entry| session(entry)).collect()
}

fn session(entry: &[u8]) -> Option<(String, Session)> {
    let kind = u16::from_le_bytes(*entry.first_chunk()?);
    if kind != USER_PROCESS {
        return None;
    }
    let text = |range: std::ops::Range<usize>| {
        let text = entry.get(range)?.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    };
    let (line, user) = (text(8..40)?, text(44..76)?);
    let seconds = u32::from_le_bytes(*entry.get(340..)?.first_chunk()?);
    let session = Session {
        user,
        since: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.into())),
        is_connected: true,
        is_locked: false,
    };
    Some((line, session))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: u8, line: &str, user: &str, seconds: u32) -> Vec<u8> {
        let mut entry = vec![0; ENTRY_BYTES];
        entry[0] = kind;
        entry[8..8 + line.len()].copy_from_slice(line.as_bytes());
        entry[44..44 + user.len()].copy_from_slice(user.as_bytes());
        entry[340..344].copy_from_slice(&seconds.to_le_bytes());
        entry
    }

    #[test]
    fn entries_of_users_are_sessions() {
        let bytes = [
            entry(2, "~", "reboot", 1),
            entry(7, "tty1", "jdoe", 60),
            entry(8, "tty2", "roe", 70),
        ]
        .concat();
        let sessions = parse(&bytes);
        assert_eq!(sessions.len(), 1);
        assert_eq!(sessions["tty1"].user, "jdoe");
        assert_eq!(
            sessions["tty1"].since,
            Some(SystemTime::UNIX_EPOCH + Duration::from_secs(60))
        );
        assert!(parse(&bytes[1..]).is_empty());
    }
}
