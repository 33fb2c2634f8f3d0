//! The Actions area.

use crate::model::{Action, ActionRequest};
use crate::mutation::Mutation;

use super::{Call, Step, Then};

pub(super) fn act(call: &Call<'_>, action: Action) -> Step {
    // Only the parameters of the row are read: `ChangeComputeType` has no `samAccount`.
    let param = |name: &str| {
        let known = call.route.query.iter().any(|param| param.name == name);
        call.query.text(name).filter(|_| known)
    };
    let request = ActionRequest {
        action,
        workspace_id: param("workSpaceId"),
        sam_account: param("samAccount"),
        requester: param("requester"),
        compute_type: param("computeType"),
    };
    let mutation = Mutation::Act {
        request: Box::new(request),
        by: call.caller(),
    };
    Step::write(call.core, vec![mutation], Then::Empty)
}
