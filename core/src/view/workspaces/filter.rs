//! The filter of a list of workspaces.

use std::borrow::Cow;

use crate::domain::term::{Term, Wanted};
use crate::model::identity::{folded, user_key};
use crate::store::fleet::workspaces::EntryRef;

/// Which workspaces of a list are wanted, by what holds at the time of the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceFilter {
    /// Id, compared exactly. Those of a value or of a list are looked up, without reading the fleet.
    pub workspace_id: Option<Term>,
    /// State.
    pub state: Option<Term>,
    /// User; `DOMAIN\` and `@domain` are ignored.
    pub username: Option<Term>,
    /// Cloud region.
    pub region: Option<Term>,
    /// Directory.
    pub directory_id: Option<Term>,
    /// Running mode.
    pub running_mode: Option<Term>,
    /// Compute type.
    pub compute_type_name: Option<Term>,
    /// A part of the id, the computer name or the username.
    pub q: Option<String>,
}

/// A filter made ready for many workspaces: its texts are in the form that is compared.
#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    /// In their order, each once.
    ids: Option<Wanted>,
    user: Option<Wanted>,
    part: Option<String>,
    /// State, region, directory, running mode, compute type.
    equal: [Option<Wanted>; 5],
}

impl Matcher {
    pub(crate) fn new(filter: &WorkspaceFilter) -> Self {
        let user = filter.username.as_ref();
        let part = filter.q.as_deref();
        let named = |term: &Option<Term>| term.as_ref().map(Wanted::names);
        let equal = |term: &Option<Term>| term.as_ref().map(Wanted::new);
        let equal = [
            named(&filter.state),
            equal(&filter.region),
            equal(&filter.directory_id),
            named(&filter.running_mode),
            named(&filter.compute_type_name),
        ];
        Self {
            ids: filter.workspace_id.as_ref().map(Wanted::ids),
            user: user.map(|term| Wanted::in_form(term, user_key)),
            part: part.map(|part| folded(part).into_owned()),
            equal,
        }
    }

    /// The ids that are wanted, in their order, where they are known.
    pub(in crate::view) fn ids(&self) -> Option<&[String]> {
        let known = self.ids.as_ref().filter(|ids| !ids.negated)?;
        Some(&known.values)
    }

    /// The compare name of the one user whose workspaces are wanted.
    pub(super) fn user(&self) -> Option<&str> {
        match self.user.as_ref()? {
            Wanted {
                values,
                negated: false,
                ..
            } if values.len() == 1 => values.first().map(String::as_str),
            Wanted { .. } => None,
        }
    }

    pub(crate) fn accepts(&self, entry: &EntryRef<'_>) -> bool {
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
        let all_equal = wanted
            .into_iter()
            .all(|(wanted, value)| wanted.as_ref().is_none_or(|wanted| wanted.accepts(value)));
        let has_part = || {
            self.part.as_deref().is_none_or(|part| {
                let mut values = [id, computer, username].into_iter().flatten();
                values.any(|value| contains_folded(value, part))
            })
        };
        let same_user = || {
            self.user.as_ref().is_none_or(|wanted| {
                let name = username.map(user_key);
                let is = |name: Cow<'_, str>| wanted.values.iter().any(|user| *user == name);
                name.is_some_and(is) != wanted.negated
            })
        };
        let is_named = || {
            let ids = self.ids.as_ref();
            ids.is_none_or(|wanted| wanted.accepts_id(entry.id()))
        };
        all_equal && is_named() && same_user() && has_part()
    }
}

/// Whether the folded `value` contains `text`.
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
    use crate::domain::term::is_folded;

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
