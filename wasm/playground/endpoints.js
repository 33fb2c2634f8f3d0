// The endpoints to choose from: method, path, summary, and a body if the endpoint reads one. A star marks those that
// need the key.

const STATS = { id: 1, instanceId: "ws-0000", username: "jdoe", processorInUse: 42 };
const ACTIVITY = { id: 1, instanceId: "ws-0000", username: "jdoe", activity: "Lock" };
const STARTUP = { id: 1, instanceId: "ws-0000", username: "jdoe", profileMs: 1200, groupPolicyMs: 700, shellMs: 1500, totalMs: 3400 };
const PROCESSES = { instanceId: "ws-0000", username: "jdoe", processes: [{ processName: "excel", processorUsage: 12.5, memoryUsage: 310.2, processCount: 1 }] };

export const ENDPOINTS = [
    ["Information", [
        ["GET", "/api/Information/GetAllWorkSpaces?limit=5", "The first page of all workspaces; nextToken asks for the next.", null, true],
        ["GET", "/api/Information/GetUserInformation?username=jdoe", "A user's workspaces and newest telemetry.", null, true],
        ["GET", "/api/Information/Get24HourActivity", "What users did in the last 24 hours.", null, true],
        ["GET", "/api/Information/GetAdminActivity?numberOfActivities=10", "The newest rows of the audit.", null, true],
        ["GET", "/api/Information/GetWorkSpacesOnLitigationHold", "The workspaces that are held.", null, true],
        ["POST", "/api/Information/RemoveWorkSpaceDbEntry?workSpaceId=ws-0001", "Removes the record, never the desktop.", null, true],
    ]],
    ["Actions", [
        ["POST", "/api/Actions/RebootWorkSpace?workSpaceId=ws-0000", "Takes two minutes; until then the state is REBOOTING.", null, true],
        ["POST", "/api/Actions/RecoveryRebootWorkSpace?workSpaceId=ws-0000", "Reboots on a new host.", null, true],
        ["POST", "/api/Actions/RebuildWorkSpace?workSpaceId=ws-0000", "Refused under a litigation hold.", null, true],
        ["POST", "/api/Actions/RestoreWorkSpace?workSpaceId=ws-0000", "Refused under a litigation hold.", null, true],
        ["POST", "/api/Actions/StartWorkSpace?workSpaceId=ws-0000", "Needs STOPPED.", null, true],
        ["POST", "/api/Actions/TerminateWorkSpace?workSpaceId=ws-0000", "Cancels what runs, and wins.", null, true],
        ["POST", "/api/Actions/ChangeComputeType?workSpaceId=ws-0000&computeType=POWER", "Takes twenty minutes.", null, true],
    ]],
    ["Stats", [
        ["POST", "/api/Stats/Post", "One record of resource statistics: 200 means that it is in the file.", STATS],
        ["POST", "/api/Stats/PostActivity", "One thing that a user did.", ACTIVITY],
        ["POST", "/api/Stats/PostStartupMetrics", "How long a start took.", STARTUP],
        ["POST", "/api/Stats/PostProcesses", "What runs on a desktop.", PROCESSES],
        ["GET", "/api/Stats/queue/count", "Records that are durable and not yet filed."],
        ["GET", "/api/Stats/Test", "Answers as long as there is an engine."],
    ]],
    ["Operator", [
        ["GET", "/operator/workspaces?state=UNHEALTHY", "Filtered by what the records hold.", null, true],
        ["GET", "/operator/workspaces/ws-0000", "One workspace with its transition and hold.", null, true],
        ["PUT", "/operator/workspaces/ws-0000/litigation-hold", "Places a hold.", { matter: "Case 42", reason: "for the playground" }, true],
        ["DELETE", "/operator/workspaces/ws-0000/litigation-hold", "Releases it.", null, true],
        ["GET", "/operator/telemetry/stats?instanceId=ws-0000&limit=5", "The history of one desktop, oldest first.", null, true],
        ["GET", "/operator/actions?state=pending", "The actions that have not ended.", null, true],
        ["GET", "/operator/audit?result=Refused&limit=10", "The audit, filtered and paged.", null, true],
        ["GET", "/operator/keys", "The keys, without their secrets.", null, true],
    ]],
];
