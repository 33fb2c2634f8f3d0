//! Hiding passwords in URLs.

use deskfleet::settings::Value;
use deskfleet_server::shown_url;

/// The text in place of a password.
pub(super) const HIDDEN: &str = "***";
/// The parameter of a URL that may also have one.
const PARAMETER: &str = "password=";

/// The value of the setting `name` as it may be shown.
pub(crate) fn shown(name: &str, value: &Value) -> Value {
    match value {
        Value::Text(text) if is_secret_url(name) => Value::Text(shown_url(text)),
        Value::Text(text) => Value::Text(without_password(text)),
        Value::Boolean(_) | Value::Number(_) | Value::List(_) | Value::Other(_) | Value::Group => {
            value.clone()
        }
    }
}

/// Whether all behind the host may be a secret.
fn is_secret_url(name: &str) -> bool {
    let Some((group, "url")) = name.rsplit_once('.') else {
        return false;
    };
    group == "heartbeat" || group.starts_with("webhooks.")
}

/// The text of `--set` as it may be shown. A URL is shown without what follows its host: its name may be misspelled.
pub(super) fn shown_text(text: &str) -> String {
    let shown = without_password(text);
    match shown.split_once('=') {
        Some((name, value)) if value.contains("://") || is_secret_url(name.trim()) => {
            format!("{name}={}", shown_url(value))
        }
        _ => shown,
    }
}

/// `text`, which may be or end with a URL, without the password in that.
pub(super) fn without_password(text: &str) -> String {
    let Some((before, url)) = text.split_once("://") else {
        return text.to_owned();
    };
    // An @ that should have been encoded is a part of the password.
    let (user, place) = url.rsplit_once('@').unwrap_or(("", url));
    let (place, query) = place.split_once('?').unwrap_or((place, ""));
    let mut shown = format!("{before}://");
    if let Some((name, _)) = user.split_once(':') {
        shown.extend([name, ":", HIDDEN, "@"]);
    } else if !user.is_empty() {
        shown.extend([user, "@"]);
    }
    shown.push_str(place);
    for (place, parameter) in query.split('&').filter(|part| !part.is_empty()).enumerate() {
        shown.push(if place == 0 { '?' } else { '&' });
        let is_password = parameter
            .get(..PARAMETER.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(PARAMETER));
        if is_password {
            shown.extend([PARAMETER, HIDDEN]);
        } else {
            shown.push_str(parameter);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_of_a_url_is_hidden() {
        for (text, shown) in [
            ("deskfleet.redb", "deskfleet.redb"),
            ("postgres://db/fleet", "postgres://db/fleet"),
            (
                "postgres://fleet@db/fleet?a=b&c",
                "postgres://fleet@db/fleet?a=b&c",
            ),
            (
                "postgres://fleet:p/w@x@db:5/fleet",
                "postgres://fleet:***@db:5/fleet",
            ),
            ("nats://:pw@db", "nats://:***@db"),
            (
                "postgres://db/f?user=u&Password=pw&x=1",
                "postgres://db/f?user=u&password=***&x=1",
            ),
            ("cluster.log=x://u:p w@h", "cluster.log=x://u:***@h"),
        ] {
            assert_eq!(without_password(text), shown);
        }
    }
}
