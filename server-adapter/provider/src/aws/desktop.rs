//! Desktops as Amazon WorkSpaces describes them, and their records for an import.

use serde::{Deserialize, Serialize};

/// A desktop of the cloud. What deskfleet does not know is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Desktop {
    /// Its id: `ws-…`.
    pub workspace_id: String,
    /// Its directory.
    pub directory_id: Option<String>,
    /// Its user.
    pub user_name: Option<String>,
    /// The name of its computer, once it has one.
    pub computer_name: Option<String>,
    /// Its state, by the names that deskfleet has too.
    pub state: Option<String>,
    /// What failed, where its state is `ERROR`.
    pub error_code: Option<String>,
    /// What failed, for a person.
    pub error_message: Option<String>,
    /// How it runs.
    pub workspace_properties: Properties,
}

/// How a desktop runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Properties {
    /// `AUTO_STOP`, `ALWAYS_ON` or `MANUAL`.
    pub running_mode: Option<String>,
    /// Its compute type.
    pub compute_type_name: Option<String>,
    /// Its streaming protocols: one, in practice.
    pub protocols: Vec<String>,
}

/// A record that deskfleet merges: a member that is left out is not changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeRecord {
    /// The id.
    pub work_sp_id: String,
    /// The name of its computer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computer_name: Option<String>,
    /// The account, where the configuration names it: the cloud does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The region.
    pub region: String,
    /// The directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory_id: Option<String>,
    /// How it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running_mode: Option<String>,
    /// Its compute type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compute_type_name: Option<String>,
    /// Its streaming protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Its user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Its state. Left out while an action is pending on the desktop, which deskfleet alone ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

impl Desktop {
    /// Its record for an import, with its state.
    #[must_use]
    pub fn into_record(self, account: Option<&str>, region: &str) -> MergeRecord {
        let properties = self.workspace_properties;
        MergeRecord {
            work_sp_id: self.workspace_id,
            computer_name: self.computer_name,
            account: account.map(str::to_owned),
            region: region.to_owned(),
            directory_id: self.directory_id,
            running_mode: properties.running_mode,
            compute_type_name: properties.compute_type_name,
            protocol: properties.protocols.into_iter().next(),
            username: self.user_name,
            state: self.state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_of_a_desktop_has_what_the_cloud_says_and_no_more() {
        let described = r#"{"WorkspaceId":"ws-1","DirectoryId":"d-1","UserName":"ana","IpAddress":"10.0.0.1","State":"AVAILABLE",
            "ComputerName":"A-1","WorkspaceProperties":{"RunningMode":"AUTO_STOP","ComputeTypeName":"POWER","Protocols":["WSP"]}}"#;
        let desktop: Desktop = serde_json::from_str(described).unwrap();
        let record = serde_json::to_value(desktop.into_record(Some("123456789012"), "eu-west-1"));
        let expected = serde_json::json!({"workSpId": "ws-1", "computerName": "A-1", "account": "123456789012",
            "region": "eu-west-1", "directoryId": "d-1", "runningMode": "AUTO_STOP", "computeTypeName": "POWER",
            "protocol": "WSP", "username": "ana", "state": "AVAILABLE"});
        assert_eq!(record.unwrap(), expected);
        let pending: Desktop = serde_json::from_str(r#"{"WorkspaceId":"ws-2"}"#).unwrap();
        let record = serde_json::to_value(pending.into_record(None, "eu-west-1")).unwrap();
        assert_eq!(
            record,
            serde_json::json!({"workSpId": "ws-2", "region": "eu-west-1"})
        );
    }
}
