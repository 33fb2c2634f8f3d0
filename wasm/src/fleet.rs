//! The engine as the JavaScript face sees it, without a type of JavaScript.

use std::time::{Duration, SystemTime};

use deskfleet::{
    Config, Engine, EngineError, ManualClock, NewKey, Scope, Scopes, Timestamp, Workspace,
};

pub use deskfleet::IssuedKey;

use crate::exchange::{self, Answer};

/// The page cache: memory of an instance never shrinks, so it starts small.
const CACHE_BYTES: usize = 8 * 1024 * 1024;

/// An engine in memory whose clock is set by its host before each call.
#[derive(Debug)]
pub struct Fleet {
    engine: Engine,
    clock: ManualClock,
}

impl Fleet {
    /// Opens an empty engine; `fill` is the source of randomness unless there is a seed.
    ///
    /// # Errors
    /// When the storage cannot be set up.
    pub fn open<E: 'static>(
        seed: Option<f64>,
        fill: impl Fn(&mut [u8]) -> Result<(), E> + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let clock = ManualClock::new(Timestamp::UNIX_EPOCH);
        let mut config = Config::default();
        config.limits.cache_bytes = CACHE_BYTES;
        let builder = Engine::builder().clock(clock.clone()).config(config);
        let builder = match seed {
            Some(seed) => builder.seed(seed.to_bits()),
            None => builder.random(fill),
        };
        let engine = builder.open_in_memory().map_err(sentence)?;
        Ok(Self { engine, clock })
    }

    /// Sets the clock, in milliseconds since 1970.
    ///
    /// # Errors
    /// When that is no time after 1970.
    pub fn set_time(&self, milliseconds: f64) -> Result<(), String> {
        let time =
            time(milliseconds).ok_or("the time is not a number of milliseconds since 1970")?;
        self.clock.set(time);
        Ok(())
    }

    /// Answers one request.
    ///
    /// # Errors
    /// When it cannot be an HTTP request.
    pub fn handle(
        &self,
        method: &str,
        url: &str,
        headers: &str,
        body: Vec<u8>,
    ) -> Result<Answer, String> {
        let request = exchange::request(method, url, headers, body)?;
        Ok(exchange::answer(self.engine.handle(request)))
    }

    /// Creates or replaces the workspaces of a JSON array.
    ///
    /// # Errors
    /// When the text is no such array or a workspace breaks a rule.
    pub fn put_workspaces(&self, json: &str) -> Result<u32, String> {
        let workspaces: Vec<Workspace> = serde_json::from_str(json)
            .map_err(|error| format!("not an array of workspaces: {error}"))?;
        let count = self.engine.put_workspaces(workspaces).map_err(sentence)?;
        u32::try_from(count).map_err(|error| error.to_string())
    }

    /// Issues a key.
    ///
    /// # Errors
    /// When a scope is unknown, there is none, or the name breaks a rule.
    pub fn issue_key(&self, name: &str, scopes: &[String]) -> Result<IssuedKey, String> {
        let scopes: Scopes = scopes
            .iter()
            .map(|name| Scope::named(name).ok_or("a scope is read, act, admin or ingest"))
            .collect::<Result<_, _>>()?;
        let key = NewKey {
            name: name.to_owned(),
            scopes,
            expires: None,
        };
        self.engine.issue_key(key).map_err(sentence)
    }

    /// Files the queued telemetry into history.
    ///
    /// # Errors
    /// When the storage fails.
    pub fn file_pending(&self) -> Result<u32, String> {
        let count = self.engine.file_pending().map_err(sentence)?;
        u32::try_from(count).map_err(|error| error.to_string())
    }

    /// Does everything that is due.
    ///
    /// # Errors
    /// When the storage fails.
    pub fn maintain(&self) -> Result<(), String> {
        self.engine.maintain().map_err(sentence)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn sentence(error: EngineError) -> String {
    error.to_string()
}

/// To the microsecond: a double holds no more of today's time.
fn time(milliseconds: f64) -> Option<Timestamp> {
    let since = Duration::try_from_secs_f64(milliseconds / 1000.0).ok()?;
    let micros = u64::try_from((since.as_nanos() + 500) / 1000).ok()?;
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_micros(micros))?;
    Some(time.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet(seed: f64) -> Fleet {
        let fleet = Fleet::open(Some(seed), |_| Err(())).unwrap();
        fleet.set_time(1_795_161_600_250.0).unwrap();
        fleet
    }

    #[test]
    fn milliseconds_are_exact() {
        assert_eq!(
            time(1_795_161_600_123.0).unwrap().to_string(),
            "2026-11-20T08:00:00.123Z"
        );
        assert_eq!(time(0.0), Some(Timestamp::UNIX_EPOCH));
        for none in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert_eq!(time(none), None, "{none}");
        }
    }

    #[test]
    fn a_key_opens_what_was_put() {
        let fleet = fleet(1.0);
        assert_eq!(fleet.put_workspaces(r#"[{"workSpId":"ws-1"}]"#), Ok(1));
        let key = fleet.issue_key("test", &["read".into()]).unwrap().secret;
        let headers = format!("x-api-key: {key}");
        let answer = fleet.handle(
            "GET",
            "/api/Information/GetAllWorkSpaces",
            &headers,
            Vec::new(),
        );
        let answer = answer.unwrap();
        assert_eq!(answer.status, 200);
        assert!(str::from_utf8(&answer.body).unwrap().contains("\"ws-1\""));
    }

    #[test]
    fn the_same_seed_gives_the_same_key() {
        let key = |seed| {
            fleet(seed)
                .issue_key("test", &["admin".into()])
                .unwrap()
                .secret
        };
        assert_eq!(key(1.0), key(1.0));
        assert_ne!(key(1.0), key(2.0));
    }

    #[test]
    fn refusals_are_sentences() {
        let fleet = fleet(1.0);
        assert!(
            fleet
                .put_workspaces("{}")
                .unwrap_err()
                .starts_with("not an array of workspaces")
        );
        assert!(
            fleet
                .issue_key("test", &["root".into()])
                .unwrap_err()
                .contains("read, act, admin")
        );
        assert!(fleet.issue_key("test", &[]).is_err());
        assert!(fleet.handle("GET", "no path", "", Vec::new()).is_err());
    }
}
