//! Where the tables of all streams have the fields that every record has.

use super::field::FieldSpec;

/// Where a record's own table has these fields.
#[derive(Debug)]
pub(crate) struct Places {
    /// The instance that posted.
    pub(crate) instance: usize,
    /// The user the record is about.
    pub(crate) username: usize,
    /// The time the agent put into it.
    pub(crate) time: usize,
}

impl Places {
    /// The places in a table; it must have a field `time`. Evaluated by the compiler.
    pub(super) const fn from_fields(fields: &[FieldSpec], time: &str) -> Self {
        Self {
            instance: field_index(fields, "instanceId"),
            username: field_index(fields, "username"),
            time: field_index(fields, time),
        }
    }
}

/// Where `name` stands in the table; it must. Evaluated by the compiler.
pub(super) const fn field_index(mut fields: &[FieldSpec], name: &str) -> usize {
    let mut at = 0;
    while let [first, rest @ ..] = fields {
        if same(first.name.as_bytes(), name.as_bytes()) {
            return at;
        }
        fields = rest;
        at += 1;
    }
    assert!(!fields.is_empty(), "the table has a field of that name");
    at
}

const fn same(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([first, rest @ ..], [other, others @ ..]) = (a, b) {
        if *first != *other {
            return false;
        }
        (a, b) = (rest, others);
    }
    a.is_empty() && b.is_empty()
}
