//! The documents as typed tables: endpoints, problem codes, and the rows every case belongs to.
//!
//! All of it is typed by hand from the interface document and the contract, and none of it is read from the engine, so
//! that a slip in the engine's own table shows.

/// A problem code of the contract (section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Problem {
    /// The code.
    pub code: &'static str,
    /// Its status.
    pub status: u16,
    /// The rest of `type`, after [`PROBLEM_TYPE_BASE`].
    pub section: &'static str,
    /// `title` of a problem without `errors`.
    pub title: &'static str,
}

/// The start of every `type`.
pub const PROBLEM_TYPE_BASE: &str = "https://tools.ietf.org/html/";

const fn row(
    code: &'static str,
    status: u16,
    section: &'static str,
    title: &'static str,
) -> Problem {
    Problem {
        code,
        status,
        section,
        title,
    }
}

/// Every code.
#[rustfmt::skip]
pub const PROBLEMS: [Problem; 26] = [
    row("InvalidParameter",         400, "rfc9110#section-15.5.1",  "Bad Request"),
    row("InvalidBody",              400, "rfc9110#section-15.5.1",  "Bad Request"),
    row("InvalidApiKey",            401, "rfc9110#section-15.5.2",  "Unauthorized"),
    row("InsufficientScope",        403, "rfc9110#section-15.5.4",  "Forbidden"),
    row("NotFound",                 404, "rfc9110#section-15.5.5",  "Not Found"),
    row("WorkSpaceNotFound",        404, "rfc9110#section-15.5.5",  "Not Found"),
    row("UserNotFound",             404, "rfc9110#section-15.5.5",  "Not Found"),
    row("MethodNotAllowed",         405, "rfc9110#section-15.5.6",  "Method Not Allowed"),
    row("InvalidResourceState",     409, "rfc9110#section-15.5.10", "Conflict"),
    row("Cancelled",                409, "rfc9110#section-15.5.10", "Conflict"),
    row("OperationInProgress",      409, "rfc9110#section-15.5.10", "Conflict"),
    row("LitigationHold",           409, "rfc9110#section-15.5.10", "Conflict"),
    row("AmbiguousWorkSpace",       409, "rfc9110#section-15.5.10", "Conflict"),
    row("UnsupportedConfiguration", 409, "rfc9110#section-15.5.10", "Conflict"),
    row("DuplicateKeyName",         409, "rfc9110#section-15.5.10", "Conflict"),
    row("LastAdminKey",             409, "rfc9110#section-15.5.10", "Conflict"),
    row("PayloadTooLarge",          413, "rfc9110#section-15.5.14", "Content Too Large"),
    row("UriTooLong",               414, "rfc9110#section-15.5.15", "URI Too Long"),
    row("UnsupportedMediaType",     415, "rfc9110#section-15.5.16", "Unsupported Media Type"),
    row("Throttled",                429, "rfc6585#section-4",       "Too Many Requests"),
    row("HeadersTooLarge",          431, "rfc6585#section-5",       "Request Header Fields Too Large"),
    row("Internal",                 500, "rfc9110#section-15.6.1",  "Internal Server Error"),
    row("QueueFull",                503, "rfc9110#section-15.6.4",  "Service Unavailable"),
    row("StorageUnavailable",       503, "rfc9110#section-15.6.4",  "Service Unavailable"),
    row("Indeterminate",            503, "rfc9110#section-15.6.4",  "Service Unavailable"),
    row("LowDisk",                  503, "rfc9110#section-15.6.4",  "Service Unavailable"),
];

/// The codes that only a server returns, decided in `decisions.md`.
#[rustfmt::skip]
pub const SERVER_PROBLEMS: [Problem; 4] = [
    row("InvalidRequest",           400, "rfc9110#section-15.5.1",  "Bad Request"),
    row("RequestTimeout",           408, "rfc9110#section-15.5.9",  "Request Timeout"),
    row("MisdirectedRequest",       421, "rfc9110#section-15.5.20", "Misdirected Request"),
    row("ServerBusy",               503, "rfc9110#section-15.6.4",  "Service Unavailable"),
];

/// The documented problem of a code.
pub fn problem(code: &str) -> Problem {
    let mut all = PROBLEMS.into_iter().chain(SERVER_PROBLEMS);
    let found = all.find(|problem| problem.code == code);
    found.expect("a code of the contract")
}

/// An endpoint of the documents.
#[derive(Debug, Clone, Copy)]
pub struct Documented {
    /// Method.
    pub method: &'static str,
    /// Path; `{}` stands for one segment.
    pub path: &'static str,
    /// Scope a key needs; empty where none is needed.
    pub scope: &'static str,
    /// Query parameters beside `apiKey`.
    pub query: &'static [&'static str],
    /// Whether a body is read.
    pub body: bool,
}

impl Documented {
    /// The key of the cases with which it may be called.
    pub(super) fn key(&self) -> &'static str {
        match self.scope {
            "read or audit" => "read",
            "audit" => "admin",
            scope => scope,
        }
    }
}

const fn endpoint(
    method: &'static str,
    path: &'static str,
    scope: &'static str,
    query: &'static [&'static str],
) -> Documented {
    Documented {
        method,
        path,
        scope,
        query,
        body: false,
    }
}

const fn posted(method: &'static str, path: &'static str, scope: &'static str) -> Documented {
    Documented {
        method,
        path,
        scope,
        query: &[],
        body: true,
    }
}

const PAGING: &[&str] = &["limit", "nextToken"];
const ACTION: &[&str] = &["samAccount", "workSpaceId", "requester"];
const FILTERS: &[&str] = &[
    "state",
    "username",
    "region",
    "directoryId",
    "runningMode",
    "computeTypeName",
    "q",
    "limit",
    "nextToken",
    "export",
];
const QUERY_SERIES: &[&str] = &[
    "instanceId",
    "metrics",
    "from",
    "to",
    "step",
    "region",
    "runningMode",
    "computeTypeName",
    "fields",
    "format",
];
const QUERY_STARTUP: &[&str] = &[
    "from",
    "to",
    "step",
    "region",
    "runningMode",
    "computeTypeName",
    "fields",
    "format",
];
const QUERY_WORKSPACES: &[&str] = &[
    "workSpId",
    "state",
    "username",
    "region",
    "directoryId",
    "runningMode",
    "computeTypeName",
    "q",
    "lastSeen",
    "cpu",
    "memory",
    "rootVolume",
    "userVolume",
    "uptimeSeconds",
    "cpuAvg",
    "cpuP95",
    "memoryP95",
    "healthScore",
    "clockAheadSeconds",
    "asOf",
    "window",
    "sort",
    "fields",
    "format",
    "limit",
    "nextToken",
    "export",
];
const QUERY_PROCESSES: &[&str] = &[
    "instanceId",
    "from",
    "to",
    "sort",
    "fields",
    "format",
    "limit",
    "nextToken",
];
const QUERY_TIMELINE: &[&str] = &[
    "workSpaceId",
    "from",
    "to",
    "fields",
    "format",
    "limit",
    "nextToken",
];
const QUERY_HOLDS: &[&str] = &[
    "workSpId",
    "state",
    "username",
    "region",
    "directoryId",
    "runningMode",
    "computeTypeName",
    "q",
    "sort",
    "fields",
    "format",
    "limit",
    "nextToken",
    "export",
];

const QUERY_ADVICE_TOTALS: &[&str] = &[
    "from",
    "to",
    "workSpId",
    "state",
    "username",
    "region",
    "directoryId",
    "runningMode",
    "computeTypeName",
    "q",
    "fields",
    "format",
];
const QUERY_ADVICE: &[&str] = &[
    "advice",
    "from",
    "to",
    "workSpId",
    "state",
    "username",
    "region",
    "directoryId",
    "runningMode",
    "computeTypeName",
    "q",
    "fields",
    "format",
    "limit",
    "nextToken",
];
const HISTORY: &[&str] = &["instanceId", "from", "to", "limit", "nextToken"];

const AUDIT: &[&str] = &[
    "from",
    "to",
    "workSpaceId",
    "requester",
    "action",
    "result",
    "batchId",
    "limit",
    "nextToken",
    "export",
];

/// Every endpoint: the interface document's 19, then the contract's sections 7 and 9.
#[rustfmt::skip]
pub const ENDPOINTS: &[Documented] = &[
    endpoint("GET",  "/api/Information/GetUserInformation",            "read", &["username"]),
    endpoint("GET",  "/api/Information/Get24HourActivity",             "read", &[]),
    endpoint("GET",  "/api/Information/GetAdminActivity",              "read or audit", &["numberOfActivities"]),
    endpoint("POST", "/api/Information/RemoveWorkSpaceDbEntry",        "act",  &["workSpaceId"]),
    endpoint("GET",  "/api/Information/GetAllWorkSpaces",              "read", PAGING),
    endpoint("GET",  "/api/Information/GetWorkSpacesOnLitigationHold", "read or audit", PAGING),
    endpoint("POST", "/api/Actions/RebootWorkSpace",                   "act",  ACTION),
    endpoint("POST", "/api/Actions/RecoveryRebootWorkSpace",           "act",  ACTION),
    endpoint("POST", "/api/Actions/RebuildWorkSpace",                  "act",  ACTION),
    endpoint("POST", "/api/Actions/RestoreWorkSpace",                  "act",  ACTION),
    endpoint("POST", "/api/Actions/TerminateWorkSpace",                "act",  ACTION),
    endpoint("POST", "/api/Actions/StartWorkSpace",                    "act",  ACTION),
    endpoint("POST", "/api/Actions/ChangeComputeType",                 "act",  &["workSpaceId", "requester", "computeType"]),
    posted("POST",   "/api/Stats/Post",                                ""),
    endpoint("GET",  "/api/Stats/Test",                                "", &[]),
    endpoint("GET",  "/api/Stats/queue/count",                         "", &[]),
    posted("POST",   "/api/Stats/PostActivity",                        ""),
    posted("POST",   "/api/Stats/PostStartupMetrics",                  ""),
    posted("POST",   "/api/Stats/PostProcesses",                       ""),
    endpoint("GET",  "/operator/workspaces",                           "admin", FILTERS),
    Documented { query: &["dryRun"], ..posted("POST", "/operator/workspaces", "admin") },
    endpoint("GET",  "/operator/workspaces/{}",                        "admin", &[]),
    Documented { query: &["override"], ..posted("PUT", "/operator/workspaces/{}", "admin") },
    posted("PUT",    "/operator/workspaces/{}/litigation-hold",        "admin"),
    endpoint("DELETE", "/operator/workspaces/{}/litigation-hold",      "admin", &[]),
    Documented { query: &["stream"], ..posted("POST", "/operator/telemetry", "ingest") },
    endpoint("DELETE", "/operator/telemetry",                          "admin", &["instance", "stream", "before"]),
    endpoint("GET",  "/operator/telemetry/stats",                      "read",  HISTORY),
    endpoint("GET",  "/operator/telemetry/activity",                   "read",  HISTORY),
    endpoint("GET",  "/operator/telemetry/startup",                    "read",  HISTORY),
    endpoint("GET",  "/operator/telemetry/processes",                  "read",  HISTORY),
    endpoint("GET",  "/operator/actions",                              "admin", &["state", "workSpaceId", "limit", "nextToken"]),
    posted("POST",   "/operator/actions",                              "act"),
    endpoint("GET",  "/operator/batches",                              "read", &[]),
    endpoint("GET",  "/operator/batches/{}",                           "read", &[]),
    endpoint("POST", "/operator/batches/{}/stop",                      "act",  &[]),
    posted("POST",   "/operator/actions/{}/dispatch",                  "admin"),
    posted("POST",   "/operator/actions/{}/note",                      "admin"),
    endpoint("POST", "/operator/actions/{}/complete",                  "admin", &[]),
    posted("POST",   "/operator/actions/{}/fail",                      "admin"),
    endpoint("GET",  "/operator/audit",                                "audit", AUDIT),
    endpoint("GET",  "/operator/store",                                "admin", &[]),
    endpoint("GET",  "/operator/keys",                                 "admin", &[]),
    posted("POST",   "/operator/keys",                                 "admin"),
    endpoint("DELETE", "/operator/keys/{}",                            "admin", &["force"]),
    endpoint("GET",  "/query/key",                                     "read or audit",  &[]),
    endpoint("GET",  "/query/workspaces",                              "read",  QUERY_WORKSPACES),
    endpoint("GET",  "/query/holds",                                   "read or audit",  QUERY_HOLDS),
    endpoint("GET",  "/query/fleet",                                   "read",  &[]),
    endpoint("GET",  "/query/conditions",                              "read",  &["fields", "format"]),
    endpoint("GET",  "/query/top",                                     "read",  &["metric", "statistic", "from", "to", "fields", "format", "limit", "nextToken"]),
    endpoint("GET",  "/query/metrics",                                 "read",  &[]),
    Documented { query: &["fields", "format"], ..posted("POST", "/query/preview", "act") },
    endpoint("GET",  "/query/export",                                  "read",  &["stream", "from", "to", "instanceId", "format"]),
    endpoint("GET",  "/query/events",                                  "read",  &["after", "limit", "nextToken"]),
    endpoint("GET",  "/query/processes",                               "read",  QUERY_PROCESSES),
    endpoint("GET",  "/query/timeline",                                "read",  QUERY_TIMELINE),
    endpoint("GET",  "/query/advice",                                  "read",  QUERY_ADVICE),
    endpoint("GET",  "/query/advice/totals",                           "read",  QUERY_ADVICE_TOTALS),
    endpoint("GET",  "/query/series",                                  "read",  QUERY_SERIES),
    endpoint("GET",  "/query/startup",                                 "read",  QUERY_STARTUP),
    endpoint("GET",  "/query/heatmap",                                 "read",  &["of", "from", "to", "offset", "fields", "format"]),
];

/// The rows of the documents beside the endpoints; each must have cases and each case must name one.
///
/// The first word is the document and its section: `i` the interface document, a number the contract's section, `q` the
/// design of the questions about the fleet.
#[rustfmt::skip]
pub const ROWS: &[&str] = &[
    "i WorkSpaceDetails", "i WorkSpaceApiResponse", "i Stats record", "i Activity record", "i Startup metrics record",
    "i Process report", "i Paging rules", "i Actions", "i Stats", "i Authentication", "i Limits",
    "1 paths", "1 query names", "1 integers in the query", "1 limit", "1 methods", "1 bodies of Actions",
    "1 Stats content type", "1 JSON property names", "1 JSON values", "1 absent fields", "1 max length", "1 date-time",
    "1 body size",
    "2 problem details", "2 400", "2 401", "2 403", "2 404", "2 405", "2 409", "2 413 415 414 431", "2 429", "2 503",
    "2 order of checks", "2 secrets",
    "3 keys", "3 scopes", "3 carriers", "3 ingest", "10 keys", "10 simulated", "10 batches of actions",
    "4 values", "4 RebootWorkSpace", "4 RecoveryRebootWorkSpace", "4 RebuildWorkSpace", "4 RestoreWorkSpace",
    "4 TerminateWorkSpace", "4 StartWorkSpace", "4 ChangeComputeType", "4 transitions", "4 outbox", "4 samAccount",
    "4 computeType", "4 requester", "4 TERMINATED", "4 RemoveWorkSpaceDbEntry", "4 litigation hold",
    "5 lists", "5 content negotiation", "5 nextToken", "5 GetUserInformation", "5 Get24HourActivity",
    "5 GetAdminActivity", "5 Test", "5 queue/count",
    "6 durable", "6 queue", "6 units", "6 process items", "6 times", "10 times", "6 retention",
    "9 time of a record", "9 holds and retention", "9 audit reads", "9 keys",
    "9 bulk import", "9 PUT of one workspace", "9 audit of imports",
    "7 list", "7 one workspace", "7 bulk upsert", "7 litigation hold", "7 batch", "10 batch", "7 history", "7 actions", "7 keys",
    "q rows", "q parameters", "q key", "q workspaces", "q holds", "q preview", "q fleet", "q metrics", "q top",
    "q processes", "q timeline", "q advice",
    "q events", "q export",
    "q series", "q startup", "q heatmap",
];
