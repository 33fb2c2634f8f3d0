//! The settings of webhooks and of the heartbeat.

use std::path::PathBuf;
use std::time::Duration;

use deskfleet::EventType;
use deskfleet::settings;
use deskfleet::settings::Form::{Names, Text, Time};
use deskfleet::settings::Groups;
use http::Uri;

/// The longest time that may be configured, in milliseconds: a day.
const TIME_MAX: u64 = 24 * 60 * 60 * 1000;
/// The least time between two heartbeats and the least time for a response, in milliseconds.
const TIME_MIN: u64 = 100;
/// The longest time for a response, in milliseconds.
const TIMEOUT_MAX: u64 = 60 * 1000;
/// What stands for the severity in the address of a heartbeat.
pub(super) const SEVERITY: &str = "{severity}";
/// Why a build without TLS refuses an address.
const NO_TLS: &str = "needs a deskfleet with TLS; build it with\n  cargo build --release -p deskfleet-server --features tls";
/// What hides the secret part of an address; no setting takes it.
const HIDDEN: &str = "***";

settings! {
    /// What the server sends by itself.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct NotificationOptions {
        /// Receivers of events, in the order of their declaration.
        pub webhooks: Groups<WebhookOptions> = Groups::default();
        /// A sign of life to a monitor outside.
        pub heartbeat: HeartbeatOptions = HeartbeatOptions::default();
    }
}

settings! {
    /// A receiver of events.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct WebhookOptions {
        /// The address that events are posted to, one a request, in order. All behind the host is shown as ***, because it is a secret at
        /// many services.
        pub url: Option<String> = None, Text("a URL such as \"https://hooks.example.com/deskfleet\"", is_url);
        /// The file with the secret that signs each request, as the Standard Webhooks specification says: `whsec_` and base64. The format
        /// `json` needs one.
        pub secret_file: Option<PathBuf> = None;
        /// The types of events to send, by their names or such as `action.*`. An event `resync` is sent besides, where events are missing.
        pub events: Vec<String> = default_events(), Names("types of events such as \"action.failed\", or \"action.*\"", event_patterns);
        /// The form of a request: `json` by Standard Webhooks, or a message for a channel of `slack` or `teams`.
        pub format: WebhookFormat = WebhookFormat::Json;
        /// Time for a response. A request without one is sent again.
        pub timeout: Duration = Duration::from_secs(15), Time(TIME_MIN, TIMEOUT_MAX);
    }
}

settings! {
    /// The form of a request to a webhook.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum WebhookFormat {
        /// The type, the time and the event as `/query/events` has it.
        #[default]
        Json = "json",
        /// A message of Slack, Mattermost or Rocket.Chat.
        Slack = "slack",
        /// An adaptive card of Microsoft Teams.
        Teams = "teams",
    }
}

settings! {
    /// A sign of life to a monitor outside, which raises the alarm when none comes.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct HeartbeatOptions {
        /// The address that gets a request each `every`. `{severity}` in it becomes the worst severity of what is wrong: `ok`, `info`, `warning` or
        /// `critical`. All behind the host is shown as ***.
        pub url: Option<String> = None, Text("a URL such as \"https://monitor.example.com/ping/{severity}\"", is_heartbeat_url);
        /// Time between two heartbeats.
        pub every: Duration = Duration::from_secs(60), Time(TIME_MIN, TIME_MAX);
        /// The method: `post` with `{"severity":"ok"}` as body, or `get`.
        pub method: HeartbeatMethod = HeartbeatMethod::Post;
        /// Time for a response.
        pub timeout: Duration = Duration::from_secs(15), Time(TIME_MIN, TIMEOUT_MAX);
    }
}

settings! {
    /// The method of a heartbeat.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum HeartbeatMethod {
        /// With the severity in the body.
        #[default]
        Post = "post",
        /// Without a body.
        Get = "get",
    }
}

/// What is sent where `events` is not set: what people do, and not the routine of the server.
fn default_events() -> Vec<String> {
    let wanted = GROUPS.iter().filter(|group| **group != ROUTINE);
    wanted.map(|group| (*group).to_owned()).collect()
}

/// What `events` may hold: the types of stored events, each group of them, and `*`.
fn event_patterns() -> Vec<&'static str> {
    let types = EventType::STORED.map(EventType::as_str);
    ["*"].into_iter().chain(GROUPS).chain(types).collect()
}

/// The groups of the types of events.
const GROUPS: [&str; 7] = [
    "workspace.*",
    "action.*",
    "hold.*",
    "key.*",
    "import.*",
    "condition.*",
    ROUTINE,
];
/// The group of what happens every few seconds.
const ROUTINE: &str = "telemetry.*";

/// Whether the type of an event is in a group such as `action.*`.
fn is_in_group(kind: &str, pattern: &str) -> bool {
    pattern
        .strip_suffix('*')
        .is_some_and(|prefix| kind.starts_with(prefix))
}

/// Whether one of `patterns` selects the type.
pub(super) fn selects(patterns: &[String], kind: EventType) -> bool {
    let kind = kind.as_str();
    let selected = |pattern: &String| pattern == kind || is_in_group(kind, pattern);
    patterns.iter().any(selected)
}

/// Whether requests can be sent to `text`.
fn is_url(text: &str) -> bool {
    let Ok(url) = text.parse::<Uri>() else {
        return false;
    };
    let is_http = matches!(url.scheme_str(), Some("http" | "https"));
    let authority = url.authority().map(http::uri::Authority::as_str);
    // A user and password belong into no URL, and a hidden one is none.
    let is_host = authority.is_some_and(|host| !host.contains('@'));
    is_http && is_host && !text.contains(HIDDEN)
}

fn is_heartbeat_url(text: &str) -> bool {
    is_url(&text.replace(SEVERITY, "ok"))
}

/// An address as it may be shown: without what follows the host.
#[must_use]
pub fn shown_url(url: &str) -> String {
    let start = url.find("://").map_or(0, |at| at + "://".len());
    let host = url.get(start..).unwrap_or_default();
    match host.find(['/', '?', '#']) {
        Some(end) if host.len() > end + 1 => {
            format!("{}/{HIDDEN}", url.get(..start + end).unwrap_or_default())
        }
        _ => url.to_owned(),
    }
}

impl NotificationOptions {
    /// What of the settings does not suit the others or this program: the name of a setting, and why.
    ///
    /// # Errors
    ///
    /// The first one.
    pub fn check(&self) -> Result<(), (String, String)> {
        let needs_tls = |url: &str| url.starts_with("https:") && !cfg!(feature = "tls");
        for (number, webhook) in (1..).zip(&self.webhooks.0) {
            let wrong = |setting: &str, why: &str| {
                Err((format!("webhooks.{number}.{setting}"), why.to_owned()))
            };
            let Some(url) = &webhook.url else {
                return wrong(
                    "url",
                    "is missing: each [[webhooks]] needs the address to post to",
                );
            };
            if needs_tls(url) {
                return wrong("url", NO_TLS);
            }
            let earlier = self.webhooks.0.iter().take(number - 1);
            if earlier.clone().any(|other| other.url.as_ref() == Some(url)) {
                return wrong(
                    "url",
                    "is that of an earlier webhook; put all its events into one",
                );
            }
            if webhook.format == WebhookFormat::Json && webhook.secret_file.is_none() {
                return wrong(
                    "secret_file",
                    "is missing: a receiver of \"json\" verifies the signature; make a secret with\n  echo whsec_$(openssl rand -base64 32)",
                );
            }
        }
        if self.heartbeat.url.as_deref().is_some_and(needs_tls) {
            return Err(("heartbeat.url".to_owned(), NO_TLS.to_owned()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_event_is_in_one_group_and_selected_by_its_patterns() {
        for kind in EventType::STORED {
            let groups = GROUPS
                .iter()
                .filter(|group| is_in_group(kind.as_str(), group));
            assert_eq!(groups.count(), 1, "{}", kind.as_str());
            let selected = |pattern: &str| selects(&[pattern.to_owned()], kind);
            assert!(selected("*") && selected(kind.as_str()));
            assert_eq!(selected("action.*"), kind.as_str().starts_with("action."));
            assert!(!selected("action") && !selected("key"));
        }
        let default = default_events();
        assert!(!selects(&default, EventType::TelemetryFiled));
        assert!(selects(&default, EventType::ActionFailed));
    }

    #[test]
    fn address_is_shown_without_what_follows_the_host() {
        for (url, shown) in [
            ("https://hooks.example.com", "https://hooks.example.com"),
            ("https://hooks.example.com/", "https://hooks.example.com/"),
            (
                "https://hooks.example.com:8443/a/b?c",
                "https://hooks.example.com:8443/***",
            ),
            ("http://h?token=secret", "http://h/***"),
        ] {
            assert_eq!(shown_url(url), shown);
            assert!(is_url(url), "{url}");
        }
        for url in [
            "",
            "hooks",
            "ftp://h/",
            "https://u:p@h/",
            "https://h/***",
            "/a",
        ] {
            assert!(!is_url(url), "{url}");
        }
        assert!(is_heartbeat_url("https://h/push?status=up&msg={severity}"));
    }
}
