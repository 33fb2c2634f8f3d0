//! The condition of a filter on one field.

use std::borrow::Cow;

use crate::error::{EngineError, Result};
use crate::model::identity::folded;
use crate::model::is_same_name;
use crate::sorting::sorted_by_key;

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

impl Term {
    /// Reads a condition on the field `name`: a value, `in.A,B` with 1 to `values_max` values, or `ne.A`.
    pub(crate) fn parse(name: &'static str, text: String, values_max: usize) -> Result<Self> {
        if let Some(value) = text.strip_prefix("ne.") {
            return Ok(Self::Not(value.to_owned()));
        }
        let Some(list) = text.strip_prefix("in.") else {
            return Ok(Self::Is(text));
        };
        // One more is enough to detect too many.
        let values: Vec<String> = list
            .split(',')
            .filter(|value| !value.is_empty())
            .take(values_max + 1)
            .map(str::to_owned)
            .collect();
        if (1..=values_max).contains(&values.len()) {
            return Ok(Self::In(values));
        }
        let message = format!("Send a list of 1 to {values_max} values, such as {name}=in.A,B.");
        Err(EngineError::invalid(name, message))
    }
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

/// A [`Term`] made ready.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// In the form that is compared.
    pub(crate) values: Vec<String>,
    /// Whether a value must be none of them.
    pub(crate) negated: bool,
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

    pub(crate) fn in_form(term: &Term, form: fn(&str) -> Cow<'_, str>) -> Self {
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
    pub(crate) fn ids(term: &Term) -> Self {
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
    pub(crate) fn accepts_id(&self, id: &str) -> bool {
        let found = self
            .values
            .binary_search_by(|wanted| wanted.as_str().cmp(id));
        found.is_ok() != self.negated
    }
}

/// Whether `value` folds to `text`. Most values are ASCII, and then nothing is allocated.
pub(crate) fn is_folded(value: &str, text: &str) -> bool {
    if value.is_ascii() {
        value.eq_ignore_ascii_case(text)
    } else {
        folded(value) == text
    }
}
