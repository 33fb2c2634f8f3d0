//! The Actions area.

use super::{Area, Operation};

const ACCEPTED: &str = "Accepted; no content. The next read shows the transitional state.";

pub(super) const AREA: Area = Area {
    tag: "actions",
    prefix: "/api/Actions/",
    description: "Lifecycle actions on one workspace. 200 means accepted: the very next read shows the transitional state, and the \
        action ends after its configured time, or when the host says so. Name the workspace with `workSpaceId`, or its user with \
        `samAccount` where the user has only one. A body is ignored.",
    operations: &[
        Operation {
            id: "rebootWorkSpace",
            summary: "Reboot a workspace",
            description: "Restarts the system: AVAILABLE, UNHEALTHY or IMPAIRED becomes REBOOTING, then AVAILABLE, by default after \
                120 seconds. A workspace that has been REBOOTING for more than 20 minutes may be rebooted again.",
            done: ACCEPTED,
            target: "/api/Actions/RebootWorkSpace?workSpaceId=ws-8k2m4n6p1&requester=jsmith",
            body: "",
        },
        Operation {
            id: "recoveryRebootWorkSpace",
            summary: "Reboot a workspace on a new host",
            description: "Moves the workspace to a new host with the same volumes and id: AVAILABLE, UNHEALTHY, IMPAIRED, ERROR, \
                STOPPED, REBOOTING or STARTING becomes REBOOTING, then AVAILABLE, by default after 300 seconds.",
            done: ACCEPTED,
            target: "/api/Actions/RecoveryRebootWorkSpace?workSpaceId=ws-8k2m4n6p1&requester=jsmith",
            body: "",
        },
        Operation {
            id: "rebuildWorkSpace",
            summary: "Rebuild a workspace from its image",
            description: "Makes the system anew from its image: AVAILABLE, ERROR, UNHEALTHY, IMPAIRED, STOPPED or REBOOTING becomes \
                REBUILDING, then AVAILABLE, by default after 1800 seconds. Refused under litigation hold.",
            done: ACCEPTED,
            target: "/api/Actions/RebuildWorkSpace?workSpaceId=ws-8k2m4n6p1&requester=jsmith",
            body: "",
        },
        Operation {
            id: "restoreWorkSpace",
            summary: "Restore a workspace from its last backup",
            description: "Takes the volumes from the last backup: AVAILABLE, ERROR, UNHEALTHY, IMPAIRED or STOPPED becomes RESTORING, \
                then AVAILABLE, by default after 1800 seconds. Refused under litigation hold.",
            done: ACCEPTED,
            target: "/api/Actions/RestoreWorkSpace?workSpaceId=ws-8k2m4n6p1&requester=jsmith",
            body: "",
        },
        Operation {
            id: "terminateWorkSpace",
            summary: "Terminate a workspace",
            description: "Deletes the desktop: any state but SUSPENDED becomes TERMINATING, then TERMINATED, by default after 300 \
                seconds. It cancels an action that runs. A workspace that is TERMINATING or TERMINATED stays as it is, with status \
                200. Refused under litigation hold.",
            done: ACCEPTED,
            target: "/api/Actions/TerminateWorkSpace?samAccount=CORP%5Casmith&requester=jsmith",
            body: "",
        },
        Operation {
            id: "startWorkSpace",
            summary: "Start a stopped workspace",
            description: "STOPPED becomes STARTING, then AVAILABLE, by default after 60 seconds. The running mode must be AUTO_STOP or \
                MANUAL.",
            done: ACCEPTED,
            target: "/api/Actions/StartWorkSpace?workSpaceId=ws-3h5j7k9m2&requester=jsmith",
            body: "",
        },
        Operation {
            id: "changeComputeType",
            summary: "Change the compute type of a workspace",
            description: "AVAILABLE or STOPPED becomes UPDATING, then AVAILABLE with the new type, by default after 1200 seconds. The \
                same type again changes nothing, with status 200. GRAPHICS and GRAPHICSPRO change to nothing else, GRAPHICS_G4DN and \
                GRAPHICSPRO_G4DN only to each other.",
            done: ACCEPTED,
            target: "/api/Actions/ChangeComputeType?workSpaceId=ws-3h5j7k9m2&computeType=PERFORMANCE&requester=jsmith",
            body: "",
        },
    ],
};
