//! The Information area.

use super::{Area, Operation};

pub(super) const AREA: Area = Area {
    tag: "information",
    prefix: "/api/Information/",
    description: "Reads workspaces and activity, and removes the entry of a workspace.",
    operations: &[
        Operation {
            id: "getUserInformation",
            summary: "Read what is known of a user",
            description: "The workspaces of the user, whether one of them is on litigation hold, and the newest telemetry. \
                The name is compared without case, a domain (`CORP\\jdoe`, `jdoe@corp.example`) is ignored.",
            done: "The user.",
            target: "/api/Information/GetUserInformation?username=jdoe",
            body: "",
        },
        Operation {
            id: "get24HourActivity",
            summary: "List the activity of the last 24 hours",
            description: "Every activity record of the last 24 hours, newest first, with the workspace it belongs to. The list is \
                not paged and may be long: read it as a stream.",
            done: "The activities, newest first; an empty array where there are none.",
            target: "/api/Information/Get24HourActivity",
            body: "",
        },
        Operation {
            id: "getAdminActivity",
            summary: "List the newest rows of the audit",
            description: "What was done to the fleet and by whom, newest first: actions, removals, holds and keys, refused calls too.",
            done: "The rows, newest first.",
            target: "/api/Information/GetAdminActivity?numberOfActivities=3",
            body: "",
        },
        Operation {
            id: "removeWorkSpaceDbEntry",
            summary: "Remove the entry of a workspace",
            description: "Removes the record from the inventory; the desktop itself is not touched. A workspace on litigation hold \
                or with a running action is not removed.",
            done: "The entry is removed.",
            target: "/api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-3h5j7k9m2",
            body: "",
        },
        Operation {
            id: "getAllWorkSpaces",
            summary: "List all workspaces",
            description: "One page of all workspaces, in the order of `workSpId`. Omit `nextToken` for the first page; while \
                `hasMore` is true, pass the `nextToken` of one page to get the next. A workspace that is there from the first page \
                to the last is returned exactly once.",
            done: "One page of workspaces.",
            target: "/api/Information/GetAllWorkSpaces?limit=2",
            body: "",
        },
        Operation {
            id: "getWorkSpacesOnLitigationHold",
            summary: "List the workspaces on litigation hold",
            description: "One page of the workspaces that are on litigation hold, in the order of `workSpId`. Paging is that of \
                `GetAllWorkSpaces`.",
            done: "One page of workspaces.",
            target: "/api/Information/GetWorkSpacesOnLitigationHold?limit=50",
            body: "",
        },
    ],
};
