//! Which workspaces of a list are wanted.

use crate::model::identity::{folded, user_key};
use crate::store::workspaces::EntryRef;

/// Which workspaces of a list are wanted; equality without case, and on what holds at the time of the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceFilter {
    /// State.
    pub state: Option<String>,
    /// User; `DOMAIN\` and `@domain` are ignored.
    pub username: Option<String>,
    /// Cloud region.
    pub region: Option<String>,
    /// Directory.
    pub directory_id: Option<String>,
    /// Running mode.
    pub running_mode: Option<String>,
    /// Compute type.
    pub compute_type_name: Option<String>,
    /// A part of the id, the computer name or the username.
    pub q: Option<String>,
}

/// A filter made ready for many workspaces: its texts are in the form that is compared.
#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    user: Option<String>,
    part: Option<String>,
    /// State, region, directory, running mode, compute type.
    equal: [Option<String>; 5],
}

impl Matcher {
    pub(crate) fn new(filter: &WorkspaceFilter) -> Self {
        let fold = |text: &Option<String>| Some(folded(text.as_deref()?).into_owned());
        Self {
            user: filter
                .username
                .as_deref()
                .map(|name| user_key(name).into_owned()),
            part: fold(&filter.q),
            equal: [
                fold(&filter.state),
                fold(&filter.region),
                fold(&filter.directory_id),
                fold(&filter.running_mode),
                fold(&filter.compute_type_name),
            ],
        }
    }

    /// The compare name of the user whose workspaces are wanted.
    pub(super) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    pub(super) fn accepts(&self, entry: &EntryRef<'_>) -> bool {
        let [
            id,
            computer,
            _,
            region,
            directory,
            mode,
            compute_type,
            _,
            username,
            state,
        ] = entry.values;
        let equal = [state, region, directory, mode, compute_type];
        let wanted = self.equal.iter().zip(equal);
        let all_equal = wanted.into_iter().all(|(wanted, value)| {
            wanted
                .as_deref()
                .is_none_or(|wanted| value.is_some_and(|value| is_folded(value, wanted)))
        });
        let has_part = || {
            self.part.as_deref().is_none_or(|part| {
                let mut values = [id, computer, username].into_iter().flatten();
                values.any(|value| contains_folded(value, part))
            })
        };
        let same_user = || {
            self.user
                .as_deref()
                .is_none_or(|user| username.is_some_and(|name| user_key(name) == user))
        };
        all_equal && same_user() && has_part()
    }
}

/// Whether `value` folds to `text`. Most values are ASCII, and then nothing is allocated.
pub(in crate::view) fn is_folded(value: &str, text: &str) -> bool {
    if value.is_ascii() {
        value.eq_ignore_ascii_case(text)
    } else {
        folded(value) == text
    }
}

/// Whether what `value` folds to contains `text`.
fn contains_folded(value: &str, text: &str) -> bool {
    if !value.is_ascii() {
        return folded(value).contains(text);
    }
    let text = text.as_bytes();
    let Some(first) = text.first() else {
        return true;
    };
    value.as_bytes().windows(text.len()).any(|part| {
        part.first().map(u8::to_ascii_lowercase) == Some(*first) && part.eq_ignore_ascii_case(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparing_without_allocation_equals_comparing_folded_texts() {
        let values = [
            "",
            "a",
            "AVAILABLE",
            "Available",
            "ä",
            "Ä",
            "a\u{308}",
            "STRASSE",
            "straße",
            "\u{212a}",
            "K",
            "ΟΔΟΣ",
            "DESK-Ä1",
        ];
        for value in values {
            for wanted in values.map(folded) {
                assert_eq!(
                    is_folded(value, &wanted),
                    folded(value) == wanted,
                    "{value} {wanted}"
                );
                let contains = folded(value).contains(&*wanted);
                assert_eq!(
                    contains_folded(value, &wanted),
                    contains,
                    "{value} {wanted}"
                );
            }
        }
        assert!(contains_folded("PC-WS-0042", "ws-00"));
        assert!(!contains_folded("PC-WS-0042", "ws-01"));
    }
}
