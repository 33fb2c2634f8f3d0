// The operations of the interface, for the page that sends requests by hand: all that `/openapi.json` has, which a test compares.

/** `{workSpId}` and `{username}` become those of a desktop of the fleet. Indented lines are the body. */
const LIST = String.raw`
Information
GET /api/Information/GetUserInformation?username={username} Read what is known of a user
GET /api/Information/Get24HourActivity List the activity of the last 24 hours
GET /api/Information/GetAdminActivity?numberOfActivities=10 List the newest rows of the audit
POST /api/Information/RemoveWorkSpaceDbEntry?workSpaceId={workSpId} Remove the entry of a workspace
GET /api/Information/GetAllWorkSpaces?limit=5 List all workspaces
GET /api/Information/GetWorkSpacesOnLitigationHold?limit=5 List the workspaces on litigation hold
Actions
POST /api/Actions/RebootWorkSpace?workSpaceId={workSpId} Reboot a workspace
POST /api/Actions/RecoveryRebootWorkSpace?workSpaceId={workSpId} Reboot a workspace on a new host
POST /api/Actions/RebuildWorkSpace?workSpaceId={workSpId} Rebuild a workspace from its image
POST /api/Actions/RestoreWorkSpace?workSpaceId={workSpId} Restore a workspace from its last backup
POST /api/Actions/TerminateWorkSpace?workSpaceId={workSpId} Terminate a workspace
POST /api/Actions/StartWorkSpace?workSpaceId={workSpId} Start a stopped workspace
POST /api/Actions/ChangeComputeType?workSpaceId={workSpId}&computeType=POWER Change the compute type of a workspace
Stats
POST /api/Stats/Post Post resource statistics
 {"id":1,"instanceId":"{workSpId}","username":"{username}","processorInUse":42}
GET /api/Stats/Test Test the connection
GET /api/Stats/queue/count Count the queued telemetry
POST /api/Stats/PostActivity Post a user activity
 {"id":1,"instanceId":"{workSpId}","username":"{username}","activity":"Lock"}
POST /api/Stats/PostStartupMetrics Post startup timings
 {"id":1,"instanceId":"{workSpId}","username":"{username}","profileMs":1200,"groupPolicyMs":700,"shellMs":1500,"totalMs":3400}
POST /api/Stats/PostProcesses Post a process report
 {"instanceId":"{workSpId}","username":"{username}","processes":[{"processName":"excel","processorUsage":12.5,"memoryUsage":310.2,"processCount":1}]}
Query
GET /query/conditions List what is wrong now
GET /query/key Read the key of the request
GET /query/fleet The fleet in numbers
GET /query/workspaces?state=in.AVAILABLE,UNHEALTHY&sort=-cpu&limit=5 Query workspaces as rows
GET /query/holds?limit=5 Query litigation holds
GET /query/top?metric=cpu&statistic=p95&from=-24h&limit=5 List the worst desktops
POST /query/preview Preview an action
 {"action":"RebootWorkSpace","workSpaceIds":["{workSpId}"]}
GET /query/processes?from=-24h&sort=-cpu&limit=5 Query processes by name
GET /query/timeline?workSpaceId={workSpId}&from=-7d&limit=5 Query the story of one desktop
GET /query/advice?from=-30d&limit=5 Query advice
GET /query/advice/totals?from=-30d Query totals of advice
GET /query/series?metrics=cpu&from=-6h&step=1h Query metrics over time
GET /query/startup?from=-1d Query how long startups took
GET /query/heatmap?of=reporting&from=-7d Query when the fleet is used
GET /query/events?after=1&limit=5 Follow what happens
GET /query/metrics Read metrics of the fleet
GET /query/export?stream=activity&from=-24h&instanceId={workSpId} Export the telemetry of a range
Operator
GET /operator/workspaces?state=UNHEALTHY&limit=5 List workspaces by filter
POST /operator/workspaces Create or change workspaces in bulk
 [{"workSpId":"ws-example","username":"jdoe","state":"AVAILABLE","runningMode":"AUTO_STOP"}]
GET /operator/workspaces/{workSpId} Read a workspace
PUT /operator/workspaces/{workSpId} Create or replace a workspace
 {"workSpId":"{workSpId}","username":"{username}","state":"AVAILABLE","runningMode":"AUTO_STOP"}
PUT /operator/workspaces/{workSpId}/litigation-hold Place a litigation hold
 {"matter":"Case 42","reason":"Asked for by the legal department"}
DELETE /operator/workspaces/{workSpId}/litigation-hold Release a litigation hold
POST /operator/telemetry Post telemetry in bulk
 {"stats":{"instanceId":"{workSpId}","processorInUse":41}}
GET /operator/telemetry/stats?instanceId={workSpId}&limit=5 Read the statistics of an instance
GET /operator/telemetry/activity?instanceId={workSpId}&limit=5 Read the activity of an instance
GET /operator/telemetry/startup?instanceId={workSpId}&limit=5 Read the startup timings of an instance
GET /operator/telemetry/processes?instanceId={workSpId}&limit=5 Read the process reports of an instance
DELETE /operator/telemetry?instance={workSpId} Remove telemetry
GET /operator/actions?state=pending&limit=5 List the actions that run
POST /operator/actions Start an action on many workspaces
 {"action":"StartWorkSpace","workSpaceIds":["{workSpId}"],"atOnce":20,"stopAfterFailures":5,"requester":"example"}
GET /operator/batches List the batches of actions
GET /operator/batches/{id} Read a batch of actions
POST /operator/batches/{id}/stop Stop a batch of actions
POST /operator/actions/{id}/dispatch Begin an attempt of an action
 {"provider":"aws","attempt":1,"instance":"4fc1a90e"}
POST /operator/actions/{id}/note Note what a provider says of an action
 {"attempt":1,"requestId":"5f6d1a0c-7a61-4a46-8d2e-0e1d8a8f5f0e"}
POST /operator/actions/{id}/complete Complete an action
POST /operator/actions/{id}/fail Fail an action
 {"state":"UNHEALTHY","detail":"The host did not come back within 5 minutes."}
GET /operator/audit?result=Refused&limit=5 List the audit by filter
GET /operator/store Get the state of the store
GET /operator/keys List the API keys
POST /operator/keys Issue an API key
 {"name":"example","scopes":["read"]}
DELETE /operator/keys/{id} Revoke an API key
Server
POST /console/session Exchange a code for a key
 {"code":"that of the link"}
GET /operator/backups List the backups
POST /operator/backups Write a backup
POST /operator/backups/download Download a backup
GET /operator/cluster List the nodes of the fleet
GET /operator/cluster/settings Return the settings of the fleet
POST /operator/cluster/settings Change settings of the fleet
 {"retention_days.stats":30}
POST /operator/cluster/finalize End an upgrade of all nodes
DELETE /operator/cluster/nodes/{node} Take a node off the list
POST /operator/leases Take the lease of a provider
 {"provider":"aws","instance":"4fc1a90e","seconds":20}
GET /livez Ask whether the process responds
GET /readyz Ask whether the store can be used
GET /metrics Read the metrics
GET /openapi.json Read this document
GET / See what runs here
GET /favicon.ico Read the icon
`;

/**
 * @typedef {object} Endpoint
 * @property {string} area
 * @property {string} method
 * @property {string} path with an example of its query
 * @property {string} summary
 * @property {string} body an example, or nothing
 */

/** @type {Endpoint[]} */
export const ENDPOINTS = [];
let area = "";
for (const line of LIST.trim().split("\n")) {
    const [, method, path, summary] = /^([A-Z]+) (\/\S*) (.+)$/.exec(line) ?? [];
    const last = ENDPOINTS.at(-1);
    if (method !== undefined) ENDPOINTS.push({ area, method, path, summary, body: "" });
    else if (line.startsWith(" ") && last !== undefined) last.body = line.trim();
    else area = line;
}

/** Those of the binary alone. */
export const SERVER_AREA = "Server";
