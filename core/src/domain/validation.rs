//! What values a host or an operator may store.

use crate::limits::{REQUESTER_MAX, TEXT_MAX, WORKSPACE_FIELD_MAX, WORKSPACE_ID_MAX};
use crate::model::identity::is_invisible;
use crate::model::{FieldSpec, FieldValue, Fields, RecordRef, TelemetrySelection, Workspace};

/// A value that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The field, by its wire name.
    pub(crate) field: &'static str,
    /// The rule that it breaks.
    pub(crate) message: String,
}

/// Checks the values of a workspace, in the order of [`Workspace::FIELDS`].
pub(crate) fn workspace(values: &[Option<&str>; Workspace::FIELDS.len()]) -> Result<(), Violation> {
    let violation = |field, message: String| Err(Violation { field, message });
    let [id_name, names @ ..] = Workspace::FIELDS;
    let [id, values @ ..] = values;
    let id = id.unwrap_or_default();
    let id_length = id.chars().count();
    if id_length == 0 || id_length > WORKSPACE_ID_MAX {
        let message =
            format!("The field {id_name} must be a string of 1 to {WORKSPACE_ID_MAX} characters.");
        return violation(id_name, message);
    }
    if id.chars().any(char::is_control) {
        let message = format!("The field {id_name} must not hold control characters.");
        return violation(id_name, message);
    }
    for (name, value) in names.into_iter().zip(values) {
        let length = value.map_or(0, |value| value.chars().count());
        if length > WORKSPACE_FIELD_MAX {
            return violation(name, too_long(name, WORKSPACE_FIELD_MAX));
        }
    }
    Ok(())
}

/// Checks the id of a new workspace: no invisible characters, and no white space at its ends.
pub(crate) fn new_id(id: &str) -> Result<(), Violation> {
    if id.trim() == id && !id.chars().any(is_invisible) {
        return Ok(());
    }
    let [field, ..] = Workspace::FIELDS;
    let message = format!(
        "The field {field} of a new WorkSpace must not hold control or format characters, nor white space at its ends."
    );
    Err(Violation { field, message })
}

/// Checks the documented lengths of a record; returns every violation.
pub(crate) fn record(record: &RecordRef<'_>) -> Vec<(&'static FieldSpec, usize)> {
    let mut too_long = Vec::new();
    for (spec, value) in record.fields() {
        if let (Some(max), Some(FieldValue::Text(text))) = (spec.length_max, value)
            // No text has more code points than bytes, so most are never counted.
            && text.len() > max
            && text.chars().count() > max
        {
            too_long.push((spec, max));
        }
    }
    too_long
}

/// The first number of a record that is infinite or not a number: JSON has no such numbers.
pub(crate) fn non_finite(fields: &dyn Fields) -> Option<&'static str> {
    let finite = |value: FieldValue<'_>| match value {
        FieldValue::Float(value) => value.is_finite(),
        FieldValue::Double(value) => value.is_finite(),
        FieldValue::Items(items) => items.iter().all(|item| non_finite(item).is_none()),
        FieldValue::Null | FieldValue::Int(_) | FieldValue::Text(_) | FieldValue::Time(_) => true,
    };
    let mut specs = fields.specs().iter().enumerate();
    specs
        .find(|(index, _)| fields.get(*index).is_some_and(|value| !finite(value)))
        .map(|(_, spec)| spec.name)
}

/// Checks a short text of the operator's: 1 to 256 code points.
pub(crate) fn short_text(field: &'static str, text: &str) -> Result<(), Violation> {
    let length = text.chars().count();
    if (1..=TEXT_MAX).contains(&length) {
        return Ok(());
    }
    let message = format!("The field {field} must be a string of 1 to {TEXT_MAX} characters.");
    Err(Violation { field, message })
}

/// Checks a selection of telemetry to remove: an empty one would select everything.
pub(crate) fn selection(selection: &TelemetrySelection) -> Result<(), Violation> {
    if *selection != TelemetrySelection::default() {
        return Ok(());
    }
    let message = "Say what to remove: an instance, a stream, or a time.".to_owned();
    let field = "instance";
    Err(Violation { field, message })
}

/// The message about a text that is too long.
pub(crate) fn too_long(field: &str, max: usize) -> String {
    format!("The field {field} must be a string with a maximum length of {max}.")
}

/// `requester` as the audit stores it: its first [`REQUESTER_MAX`] code points.
pub(crate) fn truncate_requester(text: &str) -> String {
    text.chars().take(REQUESTER_MAX).collect()
}

#[cfg(test)]
mod tests {
    use crate::model::{Record, StatsRecord};

    use super::*;

    fn named(id: &str) -> Workspace {
        Workspace {
            id: id.to_owned(),
            ..Workspace::default()
        }
    }

    #[test]
    fn bounds_are_inclusive_and_counted_in_code_points() {
        assert!(workspace(&named(&"ä".repeat(64)).values()).is_ok());
        for bad in [String::new(), "ä".repeat(65), "ws\n1".to_owned()] {
            assert_eq!(
                workspace(&named(&bad).values()).unwrap_err().field,
                "workSpId"
            );
        }
        let mut long = named("ws-1");
        long.region = Some("x".repeat(257));
        assert_eq!(workspace(&long.values()).unwrap_err().field, "region");
    }

    #[test]
    fn every_length_of_a_record_is_reported() {
        let stats = StatsRecord {
            username: "ü".repeat(51).as_str().into(),
            os_version: "1".repeat(21).as_str().into(),
            instance_id: "ü".repeat(50).as_str().into(),
            ..StatsRecord::default()
        };
        let found: Vec<_> = record(&RecordRef::from_record(&Record::Stats(Box::new(stats))))
            .into_iter()
            .map(|(spec, max)| (spec.name, max))
            .collect();
        assert_eq!(found, [("username", 50), ("osVersion", 20)]);
    }

    #[test]
    fn requester_over_limit_is_truncated() {
        let requester = truncate_requester(&"ä".repeat(300));
        assert_eq!(requester.chars().count(), REQUESTER_MAX);
        assert_eq!(short_text("name", "").unwrap_err().field, "name");
    }
}
