//! The Actions area.

use crate::model::{Action, ActionRequest};
use crate::mutation::Act;
use crate::wire::reply;

use super::{Call, Handled};

pub(super) fn act(call: &Call<'_>, action: Action) -> Handled {
    // Only the parameters of the row are read: `ChangeComputeType` has no `samAccount`.
    let param = |name: &str| {
        let known = call.route.parameters().any(|param| param.name == name);
        call.query.text(name).filter(|_| known)
    };
    let request = ActionRequest {
        action,
        workspace_id: param("workSpaceId"),
        sam_account: param("samAccount"),
        requester: param("requester"),
        compute_type: param("computeType"),
    };
    let by = call.caller();
    Ok(call.write(Act { request, by }, |_| reply::empty()))
}
