//! What an import reads, and what it reports.

use serde::{Deserialize, Serialize};

use super::field::record;
use super::{Nullable, Workspace};

record! {
    /// A change of one workspace: what is absent stays as it is, and null becomes null. Only `workSpId` is needed.
    ///
    /// ```
    /// use deskfleet::{Engine, Nullable, WorkspacePatch};
    ///
    /// let engine = Engine::in_memory()?;
    /// let patch = WorkspacePatch { id: "ws-1".into(), username: "jdoe".into(), ..WorkspacePatch::default() };
    /// let released = WorkspacePatch { id: "ws-1".into(), username: Nullable::Null, ..WorkspacePatch::default() };
    /// let report = engine.import_workspaces([patch, released])?;
    /// assert_eq!((report.upserted, report.rejected), (2, 0));
    /// # Ok::<(), deskfleet::EngineError>(())
    /// ```
    pub struct WorkspacePatch {
        /// Identifier; see [`Workspace::id`].
        id: Nullable<String> = "workSpId",
        /// Name of the computer.
        computer_name: Nullable<String> = "computerName",
        /// Cloud account.
        account: Nullable<String> = "account",
        /// Cloud region.
        region: Nullable<String> = "region",
        /// Directory the user belongs to.
        directory_id: Nullable<String> = "directoryId",
        /// How it runs.
        running_mode: Nullable<String> = "runningMode",
        /// Its compute type.
        compute_type_name: Nullable<String> = "computeTypeName",
        /// Its streaming protocol.
        protocol: Nullable<String> = "protocol",
        /// The user it belongs to.
        username: Nullable<String> = "username",
        /// Its state.
        state: Nullable<String> = "state",
    }
}

impl WorkspacePatch {
    /// The values that are set, in the order of [`Workspace::FIELDS`].
    pub(crate) fn values(&self) -> [Option<&str>; Workspace::FIELDS.len()] {
        [
            &self.id,
            &self.computer_name,
            &self.account,
            &self.region,
            &self.directory_id,
            &self.running_mode,
            &self.compute_type_name,
            &self.protocol,
            &self.username,
            &self.state,
        ]
        .map(|value| value.value().map(String::as_str))
    }

    /// Changes `workspace`, but for its id.
    pub(crate) fn apply_to(self, workspace: &mut Workspace) {
        fn change<T: From<String>>(current: &mut Option<T>, new: Nullable<String>) {
            match new {
                Nullable::Absent => {}
                Nullable::Null => *current = None,
                Nullable::Value(value) => *current = Some(value.into()),
            }
        }
        change(&mut workspace.computer_name, self.computer_name);
        change(&mut workspace.account, self.account);
        change(&mut workspace.region, self.region);
        change(&mut workspace.directory_id, self.directory_id);
        change(&mut workspace.running_mode, self.running_mode);
        change(&mut workspace.compute_type_name, self.compute_type_name);
        change(&mut workspace.protocol, self.protocol);
        change(&mut workspace.username, self.username);
        change(&mut workspace.state, self.state);
    }
}

/// What an import has done.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ImportReport {
    /// Records that were applied, or of a dry run would be.
    pub upserted: u64,
    /// Records that were refused, each with an error.
    pub rejected: u64,
    /// Of the applied records, those that are durable: all of them once the import has ended.
    pub committed: u64,
    /// The first 100 errors, in the order of the records.
    #[cfg_attr(feature = "schema", schemars(length(max = crate::limits::LINE_ERRORS_MAX)))]
    pub errors: Vec<LineError>,
    /// What was read but probably not meant, at most 20.
    pub warnings: Vec<LineWarning>,
    /// Of a dry run: how the names of members or columns are understood, in the order in which they appear; those of members of
    /// `WorkspaceProperties` have that name before them. At most 256.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<NameMapping>", length(max = crate::limits::IMPORT_NAMES_MAX)))]
    pub mapping: Option<Vec<NameMapping>>,
}

/// How an import understood a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NameMapping {
    /// The name of the member or column, as the text has it.
    pub from: String,
    /// The field that it means; null where it is ignored.
    pub to: Option<String>,
}

/// A line of a bulk request that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LineError {
    /// Number of the line, from 1; in a JSON array, the position of the element.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub line: u64,
    /// Of an import: the byte of the line or element at which the error is, counted from 1; in CSV, the number of the cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64", range(min = 1)))]
    pub column: Option<u64>,
    /// What is wrong. A refusal by a rule begins with its code: `OperationInProgress: …`, `LitigationHold: …`.
    pub message: String,
}

/// Something in an import that was read but probably not meant, such as a misspelled name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LineWarning {
    /// Number of the line on which it was first, counted as that of an error.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub line: u64,
    /// What it is.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patch_fields_are_those_of_a_workspace() {
        let names: Vec<_> = WorkspacePatch::FIELDS
            .iter()
            .map(|spec| spec.name)
            .collect();
        assert_eq!(names, Workspace::FIELDS);
    }

    #[test]
    fn patch_changes_what_it_names_and_nothing_else() {
        let mut workspace = Workspace {
            id: "ws-1".into(),
            username: Some("jdoe".into()),
            region: Some("eu-west-1".into()),
            state: Some("AVAILABLE".into()),
            ..Workspace::default()
        };
        let patch = WorkspacePatch {
            id: "ignored".into(),
            username: Nullable::Null,
            state: "stopped".into(),
            ..WorkspacePatch::default()
        };
        patch.apply_to(&mut workspace);
        let expected = Workspace {
            id: "ws-1".into(),
            region: Some("eu-west-1".into()),
            state: Some("STOPPED".into()),
            ..Workspace::default()
        };
        assert_eq!(workspace, expected);
        WorkspacePatch::default().apply_to(&mut workspace);
        assert_eq!(workspace, expected);
    }
}
