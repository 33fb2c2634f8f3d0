//! The filter of a list of workspaces.

use std::borrow::Cow;

use crate::model::identity::{folded, user_key};
use crate::model::is_same_name;
use crate::sorting::sorted_by_key;
use crate::store::fleet::workspaces::EntryRef;

/// The condition of a filter on a field. It compares without case, except for ids; state, running mode and compute type also
/// without blanks, `_`, `.` and `-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// The field has this value.
    Is(String),
    /// The field has one of these values. The time of a list grows with their number.
    In(Vec<String>),
    /// The field has another value than this, or none.
    Not(String),
}

impl From<String> for Term {
    fn from(value: String) -> Self {
        Self::Is(value)
    }
}

impl From<&str> for Term {
    fn from(value: &str) -> Self {
        Self::Is(value.to_owned())
    }
}

/// Which workspaces of a list are wanted, by what holds at the time of the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceFilter {
    /// Id, compared exactly. Those of a value or of a list are looked up, without reading the fleet.
    pub work_sp_id: Option<Term>,
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

/// A [`Term`] made ready.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// In the form that is compared.
    values: Vec<String>,
    /// Whether a value must be none of them.
    negated: bool,
    /// Whether they are names of a vocabulary, whose values have several spellings.
    are_names: bool,
}

impl Wanted {
    pub(crate) fn new(term: &Term) -> Self {
        Self::in_form(term, folded)
    }

    /// A term of names of a vocabulary.
    pub(crate) fn names(term: &Term) -> Self {
        Self {
            are_names: true,
            ..Self::new(term)
        }
    }

    fn in_form(term: &Term, form: fn(&str) -> Cow<'_, str>) -> Self {
        let values = match term {
            Term::Is(value) | Term::Not(value) => std::slice::from_ref(value),
            Term::In(values) => values,
        };
        Self {
            values: values.iter().map(|text| form(text).into_owned()).collect(),
            negated: matches!(term, Term::Not(_)),
            are_names: false,
        }
    }

    /// A term of ids: sorted, each once.
    fn ids(term: &Term) -> Self {
        let mut ids = Self::in_form(term, |id| id.into());
        let order = sorted_by_key(ids.values.len(), |row| ids.values.get(row));
        let sorted = order
            .into_iter()
            .filter_map(|row| ids.values.get(row as usize));
        let mut values: Vec<String> = sorted.cloned().collect();
        values.dedup();
        ids.values = values;
        ids
    }

    /// Whether a field with this value is wanted.
    pub(crate) fn accepts(&self, value: Option<&str>) -> bool {
        let is = |value| {
            let mut values = self.values.iter();
            values.any(|wanted| {
                is_folded(value, wanted) || self.are_names && is_same_name(value, wanted)
            })
        };
        value.is_some_and(is) != self.negated
    }

    /// Whether an id is wanted, where the values are ids in their order.
    fn accepts_id(&self, id: &str) -> bool {
        let found = self
            .values
            .binary_search_by(|wanted| wanted.as_str().cmp(id));
        found.is_ok() != self.negated
    }
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
            ids: filter.work_sp_id.as_ref().map(Wanted::ids),
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

/// Whether `value` folds to `text`. Most values are ASCII, and then nothing is allocated.
pub(in crate::view) fn is_folded(value: &str, text: &str) -> bool {
    if value.is_ascii() {
        value.eq_ignore_ascii_case(text)
    } else {
        folded(value) == text
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
