//! An event as the body of a request.

use deskfleet::FleetEvent;
use serde_json::{Map, Value, json};

use super::options::WebhookFormat;

/// The longest text of a message in a channel, in characters.
const TEXT_MAX: usize = 3000;

/// The body of the request about an event.
pub(super) fn body(event: &FleetEvent, format: WebhookFormat) -> String {
    match format {
        WebhookFormat::Json => format!(
            r#"{{"type":"{}","timestamp":"{}","data":{}}}"#,
            event.kind.as_str(),
            event.at,
            event.to_json()
        ),
        WebhookFormat::Slack => {
            // These three begin links and mentions.
            let text = text(event);
            let text = text.replace('&', "&amp;");
            let text = text.replace('<', "&lt;").replace('>', "&gt;");
            json!({ "text": text }).to_string()
        }
        // A text run, unlike a text block, has no Markdown in it.
        WebhookFormat::Teams => json!({
            "type": "message",
            "attachments": [{
                "contentType": "application/vnd.microsoft.card.adaptive",
                "contentUrl": null,
                "content": {
                    "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                    "type": "AdaptiveCard",
                    "version": "1.4",
                    "body": [{
                        "type": "RichTextBlock",
                        "inlines": [{ "type": "TextRun", "text": text(event) }],
                    }],
                },
            }],
        })
        .to_string(),
    }
}

/// The event as one line for people: `action.failed ws-1 (jdoe): action RebootWorkSpace, result Failed`.
fn text(event: &FleetEvent) -> String {
    let mut text = event.kind.as_str().to_owned();
    if let Some(id) = &event.workspace_id {
        text.extend([" ", &**id]);
    }
    if let Some(username) = &event.username {
        text.extend([" (", &**username, ")"]);
    }
    let detail = serde_json::from_str::<Map<String, Value>>(&event.detail).unwrap_or_default();
    let parts: Vec<_> = detail
        .iter()
        .map(|(name, value)| {
            let text = value.as_str().map(str::to_owned);
            format!("{name} {}", text.unwrap_or_else(|| value.to_string()))
        })
        .collect();
    if !parts.is_empty() {
        text.extend([": ", &parts.join(", ")]);
    }
    text.chars().take(TEXT_MAX).collect()
}

#[cfg(test)]
mod tests {
    use deskfleet::{EventType, Timestamp};

    use super::*;

    fn event() -> FleetEvent {
        FleetEvent {
            id: 7,
            at: Timestamp::UNIX_EPOCH,
            kind: EventType::ActionFailed,
            workspace_id: Some("ws-<1>".into()),
            username: Some("jdoe".into()),
            detail: r#"{"actionId":3,"message":"disk & [link](x)"}"#.to_owned(),
        }
    }

    #[test]
    fn event_in_json_is_that_of_the_stream_with_type_and_time() {
        let body: Value = serde_json::from_str(&body(&event(), WebhookFormat::Json)).unwrap();
        assert_eq!(body["type"], "action.failed");
        assert_eq!(body["timestamp"], "1970-01-01T00:00:00Z");
        assert_eq!(body["data"].to_string(), {
            let data: Value = serde_json::from_str(&event().to_json()).unwrap();
            data.to_string()
        });
    }

    #[test]
    fn message_in_a_channel_has_no_markup_of_a_client() {
        let slack = body(&event(), WebhookFormat::Slack);
        assert_eq!(
            slack,
            r#"{"text":"action.failed ws-&lt;1&gt; (jdoe): actionId 3, message disk &amp; [link](x)"}"#
        );
        let teams: Value = serde_json::from_str(&body(&event(), WebhookFormat::Teams)).unwrap();
        let block = &teams["attachments"][0]["content"]["body"][0];
        assert_eq!(block["type"], "RichTextBlock");
        let text = block["inlines"][0]["text"].as_str().unwrap();
        assert_eq!(
            text,
            "action.failed ws-<1> (jdoe): actionId 3, message disk & [link](x)"
        );
        let long = FleetEvent {
            detail: format!(r#"{{"message":"{}"}}"#, "ä".repeat(10_000)),
            ..event()
        };
        assert_eq!(super::text(&long).chars().count(), TEXT_MAX);
    }
}
