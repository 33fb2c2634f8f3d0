//! The bytes of what changes the inventory.

use std::borrow::Cow;

use crate::error::Result;
use crate::model::{AuditResult, FieldValue, Fields, Workspace, WorkspacePatch};
use crate::mutation::{
    ImportCounts, ImportWorkspaces, PutWorkspace, PutWorkspaces, RemoveWorkspace,
};
use crate::store::codec::{Decoder, Encoder, damaged};

use super::fields::{
    decode_all, decode_bool, decode_caller, encode_all, encode_bool, encode_caller, owned,
};
use super::{Logged, Tag};

impl Logged for PutWorkspace {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::PutWorkspace)
    }

    fn encode(&self, to: &mut Encoder) {
        encode_workspace(&self.workspace, to);
        encode_bool(self.cancels_action, to);
        encode_caller(&self.by, to);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            workspace: decode_workspace(from)?,
            cancels_action: decode_bool(from)?,
            by: decode_caller(from)?,
        })
    }
}

impl Logged for PutWorkspaces {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::PutWorkspaces)
    }

    fn encode(&self, to: &mut Encoder) {
        encode_all(&self.0, to, encode_workspace);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        decode_all(from, decode_workspace).map(Self)
    }
}

impl Logged for RemoveWorkspace {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::RemoveWorkspace)
    }

    fn encode(&self, to: &mut Encoder) {
        to.option_text(self.id.as_deref());
        encode_caller(&self.by, to);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            id: owned(from.option_text()?),
            by: decode_caller(from)?,
        })
    }
}

impl Logged for ImportWorkspaces {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::ImportWorkspaces)
    }

    fn encode(&self, to: &mut Encoder) {
        encode_all(&self.records, to, |(line, patch), to| {
            to.varint(*line);
            encode_patch(patch, to);
        });
        to.varint(self.counts.created);
        to.varint(self.counts.updated);
        to.varint(self.counts.rejected);
        to.option(self.row, Encoder::varint);
        to.option(self.ends, |to, result| {
            to.variant(&AuditResult::ALL, &result);
        });
        encode_caller(&self.by, to);
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            records: decode_all(from, |from| Ok((from.varint()?, decode_patch(from)?)))?,
            counts: ImportCounts {
                created: decode_total(from)?,
                updated: decode_total(from)?,
                rejected: decode_total(from)?,
            },
            row: from.option(Decoder::varint)?,
            ends: from.option(|from| from.variant(&AuditResult::ALL))?,
            by: decode_caller(from)?,
        })
    }
}

/// A number to which more is added.
fn decode_total(from: &mut Decoder<'_>) -> Result<u64> {
    const MAX: u64 = u64::MAX / 2;
    match from.varint()? {
        total @ ..=MAX => Ok(total),
        _ => Err(damaged()),
    }
}

fn encode_workspace(workspace: &Workspace, to: &mut Encoder) {
    to.text(&workspace.id);
    for value in workspace.values().into_iter().skip(1) {
        to.option_text(value);
    }
}

fn decode_workspace(from: &mut Decoder<'_>) -> Result<Workspace> {
    let mut values = [None; Workspace::FIELDS.len()];
    for (index, value) in values.iter_mut().enumerate() {
        *value = match index {
            0 => Some(from.text()?),
            _ => from.option_text()?,
        };
    }
    Ok(Workspace::of_values(values))
}

// What a patch says of a field.
const ABSENT: u8 = 0;
const NULL: u8 = 1;
const VALUE: u8 = 2;

fn encode_patch(patch: &WorkspacePatch, to: &mut Encoder) {
    for index in 0..Workspace::FIELDS.len() {
        match patch.get(index) {
            Some(FieldValue::Text(text)) => {
                to.u8(VALUE);
                to.text(&text);
            }
            Some(_) => to.u8(NULL),
            None => to.u8(ABSENT),
        }
    }
}

fn decode_patch(from: &mut Decoder<'_>) -> Result<WorkspacePatch> {
    let mut patch = WorkspacePatch::default();
    for index in 0..Workspace::FIELDS.len() {
        let value = match from.u8()? {
            ABSENT => continue,
            NULL => FieldValue::Null,
            VALUE => FieldValue::Text(Cow::Borrowed(from.text()?)),
            _ => return Err(damaged()),
        };
        if !patch.set(index, value) {
            return Err(damaged());
        }
    }
    Ok(patch)
}
