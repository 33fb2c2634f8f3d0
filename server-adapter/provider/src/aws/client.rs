//! The calls.

use std::io;

use serde::Deserialize;
use serde_json::{Value, json};

use super::calling::Caller;
pub use super::calling::Settings;
use super::credentials::CredentialsCache;
use super::desktop::Desktop;
use super::error::{CallError, Failure};

/// Desktops in one call, at most; the bound of Describe, Reboot, Start, Stop and Terminate.
pub const BATCH_MAX: usize = 25;

/// A client of one account in one region. Calls wait for their turn in its token bucket.
#[derive(Debug)]
pub struct Client {
    caller: Caller,
}

/// A call that takes up to 25 desktops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BatchCall {
    /// `RebootWorkspaces`
    Reboot,
    /// `StartWorkspaces`
    Start,
    /// `StopWorkspaces`
    Stop,
    /// `TerminateWorkspaces`
    Terminate,
}

/// A call for one desktop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SingleCall {
    /// `RebuildWorkspaces`, of one
    Rebuild,
    /// `RestoreWorkspace`
    Restore,
    /// `ModifyWorkspaceProperties`, of the compute type
    ComputeType(String),
    /// `ModifyWorkspaceProperties`, of the running mode
    RunningMode(String),
}

/// A call that AWS has accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// What AWS's support asks for.
    pub request_id: Option<String>,
    /// The desktops for which it was refused, and why.
    pub failed: Vec<(String, CallError)>,
}

/// Desktops, and where the next page begins.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct DesktopPage {
    /// The desktops. An answer without this member is none.
    pub workspaces: Vec<Desktop>,
    /// For the next page; `None` after the last.
    pub next_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct FailedRequests {
    failed_requests: Vec<FailedRequest>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
#[derive(Default)]
struct FailedRequest {
    workspace_id: String,
    error_code: String,
    error_message: String,
}

impl Client {
    /// A client; it calls nothing yet.
    ///
    /// # Errors
    ///
    /// One sentence, where a setting is wrong.
    pub fn new(settings: Settings, credentials: CredentialsCache) -> io::Result<Self> {
        let caller = Caller::new(settings, credentials)?;
        Ok(Self { caller })
    }

    /// The region that it calls.
    #[must_use]
    pub fn region(&self) -> &str {
        self.caller.region()
    }

    /// Blocks until it is the turn of one [`batch`](Self::batch) or [`single`](Self::single) call, which do not wait themselves: what is
    /// done between the two is as old as it takes.
    pub fn wait(&self) {
        self.caller.wait();
    }

    /// Describes the desktops with these ids, 1 to 25. One that is not among them does not exist.
    ///
    /// # Errors
    ///
    /// Where the call fails. It never fails because a desktop does not exist: AWS answers without it.
    pub fn describe(&self, ids: &[String]) -> Result<Vec<Desktop>, CallError> {
        check_count(ids)?;
        let ids: Vec<&String> = ids.iter().filter(|id| is_id(id)).collect();
        let mut all = Vec::new();
        if ids.is_empty() {
            return Ok(all);
        }
        let mut body = json!({"WorkspaceIds": ids});
        for _ in 0..BATCH_MAX {
            self.caller.wait();
            let (page, _): (DesktopPage, _) = self.caller.call("DescribeWorkspaces", &body)?;
            all.extend(page.workspaces);
            let Some(token) = page.next_token else {
                break;
            };
            if let Some(body) = body.as_object_mut() {
                body.insert("NextToken".to_owned(), token.into());
            }
        }
        Ok(all)
    }

    /// Describes the next 25 desktops of the account, from the first one where there is no token.
    ///
    /// # Errors
    ///
    /// Where the call fails.
    pub fn describe_page(&self, next_token: Option<&str>) -> Result<DesktopPage, CallError> {
        let mut body = json!({"Limit": BATCH_MAX});
        if let (Some(token), Some(body)) = (next_token, body.as_object_mut()) {
            body.insert("NextToken".to_owned(), token.into());
        }
        self.caller.wait();
        Ok(self.caller.call("DescribeWorkspaces", &body)?.0)
    }

    /// Calls for 1 to 25 desktops at once.
    ///
    /// # Errors
    ///
    /// Where the call fails for all of them.
    pub fn batch(&self, call: BatchCall, ids: &[String]) -> Result<Accepted, CallError> {
        check_count(ids)?;
        let (operation, member) = match call {
            BatchCall::Reboot => ("RebootWorkspaces", "RebootWorkspaceRequests"),
            BatchCall::Start => ("StartWorkspaces", "StartWorkspaceRequests"),
            BatchCall::Stop => ("StopWorkspaces", "StopWorkspaceRequests"),
            BatchCall::Terminate => ("TerminateWorkspaces", "TerminateWorkspaceRequests"),
        };
        self.requests(operation, member, ids)
    }

    /// Calls for one desktop.
    ///
    /// # Errors
    ///
    /// Where the call fails.
    pub fn single(&self, call: &SingleCall, id: &str) -> Result<Accepted, CallError> {
        if !is_id(id) {
            return Err(no_id());
        }
        let properties = match call {
            SingleCall::Rebuild => {
                let ids = [id.to_owned()];
                let mut accepted =
                    self.requests("RebuildWorkspaces", "RebuildWorkspaceRequests", &ids)?;
                return match accepted.failed.pop() {
                    Some((_, error)) => Err(error),
                    None => Ok(accepted),
                };
            }
            SingleCall::Restore => {
                let (_, request_id) = self
                    .caller
                    .call::<Value>("RestoreWorkspace", &json!({"WorkspaceId": id}))?;
                return Ok(accepted(request_id));
            }
            SingleCall::ComputeType(name) => json!({"ComputeTypeName": name}),
            SingleCall::RunningMode(mode) if mode == "AUTO_STOP" => {
                json!({"RunningMode": mode, "RunningModeAutoStopTimeoutInMinutes": 60})
            }
            SingleCall::RunningMode(mode) => json!({"RunningMode": mode}),
        };
        let body = json!({"WorkspaceId": id, "WorkspaceProperties": properties});
        let (_, request_id) = self
            .caller
            .call::<Value>("ModifyWorkspaceProperties", &body)?;
        Ok(accepted(request_id))
    }

    fn requests(
        &self,
        operation: &str,
        member: &str,
        ids: &[String],
    ) -> Result<Accepted, CallError> {
        // One of them would make AWS refuse the whole call.
        let (ids, foreign): (Vec<&String>, Vec<&String>) = ids.iter().partition(|id| is_id(id));
        let mut failed: Vec<_> = foreign
            .into_iter()
            .map(|id| (id.clone(), no_id()))
            .collect();
        if ids.is_empty() {
            return Ok(Accepted {
                request_id: None,
                failed,
            });
        }
        let requests: Vec<_> = ids.iter().map(|id| json!({"WorkspaceId": id})).collect();
        let body = json!({member: requests});
        let (answer, request_id) = self.caller.call::<FailedRequests>(operation, &body)?;
        failed.extend(answer.failed_requests.into_iter().map(|failed| {
            let mut error = CallError::of_aws(200, &failed.error_code, &failed.error_message, None);
            error.request_id.clone_from(&request_id);
            (failed.workspace_id, error)
        }));
        Ok(Accepted { request_id, failed })
    }
}

fn accepted(request_id: Option<String>) -> Accepted {
    Accepted {
        request_id,
        failed: Vec::new(),
    }
}

fn check_count(ids: &[String]) -> Result<(), CallError> {
    if (1..=BATCH_MAX).contains(&ids.len()) {
        return Ok(());
    }
    let message = format!(
        "{} desktops in one call: 1 to {BATCH_MAX} are possible",
        ids.len()
    );
    Err(CallError::own(Failure::Other, "BatchSize", message))
}

/// Whether it may be the id of a desktop of AWS: `ws-`, and 8 to 63 digits and lower-case letters.
pub(crate) fn is_id(id: &str) -> bool {
    let is_part = |c: u8| c.is_ascii_digit() || c.is_ascii_lowercase();
    id.strip_prefix("ws-")
        .is_some_and(|id| (8..=63).contains(&id.len()) && id.bytes().all(is_part))
}

fn no_id() -> CallError {
    let message = "it is no id of Amazon WorkSpaces, which are like ws-1a2b3c4d5";
    CallError::own(Failure::NotFound, "ForeignId", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_for_no_desktop_or_for_more_than_25_is_refused_before_it_is_sent() {
        let ids = |count| vec!["ws-1".to_owned(); count];
        let counts = [0, 1, 25, 26].map(|count| check_count(&ids(count)).is_ok());
        assert_eq!(counts, [false, true, true, false]);
    }
}
