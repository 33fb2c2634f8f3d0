//! The numbers that bound the engine and that no host changes: they are fixed by the interface or by the file format, or bound
//! what may be configured.

use std::time::Duration;

/// Most items on one page of a list (`limit`, interface document).
pub const PAGE_ITEMS_MAX: i32 = 500;
/// Items on a page when `limit` is absent (interface document).
pub const PAGE_ITEMS_DEFAULT: i32 = 50;
/// Most rows on a page of workspaces in columns (`format=columns`), in the order of the ids.
pub const PAGE_COLUMNS_MAX: i32 = 5000;
/// Texts of the rows on a page of workspaces in the order of the ids, in bytes; a page with more ends early.
pub const PAGE_TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Longest page token, in characters.
pub const PAGE_TOKEN_MAX: usize = 512;
/// Columns that rows can be sorted by.
pub const SORT_COLUMNS_MAX: usize = 3;
/// Bytes with which the texts of one row count when rows are sorted, over all columns of the sort.
pub const SORT_TEXT_BYTES: usize = 96;
/// Values of a list in a filter, such as `state=in.STOPPED,ERROR`.
pub const TERM_VALUES_MAX: usize = 100;
/// Ids of a list in a filter, such as `workSpId=in.ws-1,ws-2`.
pub const TERM_IDS_MAX: usize = 500;
/// Comparisons of figures in a question, such as `cpu=ge.20,lt.40`, which are two.
pub const COMPARISONS_MAX: usize = 32;
/// Workspaces of which one question previews an action.
pub const PREVIEW_IDS_MAX: usize = 1000;
/// Workspaces of a part of an import that each have an event. In a larger part those have one whose state or user changes.
pub const IMPORT_EVENTS_MAX: usize = 100;
/// Workspaces of one batch of actions.
pub const BATCH_IDS_MAX: usize = 1000;
/// Batches of actions that have desktops waiting; a further batch is refused.
pub const BATCHES_RUNNING_MAX: usize = 20;
/// Batches of actions that are kept after their end; the oldest go first.
pub const BATCHES_ENDED_MAX: usize = 100;
/// Most points of a series.
pub const SERIES_POINTS_MAX: i64 = 500;
/// Longest `workSpId`, in Unicode code points; keeps a page token within [`PAGE_TOKEN_MAX`].
pub const WORKSPACE_ID_MAX: usize = 64;
/// Longest of the other workspace fields, in Unicode code points.
pub const WORKSPACE_FIELD_MAX: usize = 256;
/// `computeTypeName` of a Stats or Activity record, in Unicode code points (interface document).
pub const COMPUTE_TYPE_NAME_MAX: usize = 25;
/// `username` of a Stats or Activity record, in Unicode code points (interface document).
pub const USERNAME_MAX: usize = 50;
/// `instanceId` of a Stats or Activity record, in Unicode code points (interface document).
pub const INSTANCE_ID_MAX: usize = 50;
/// `osVersion` of a Stats record, in Unicode code points (interface document).
pub const OS_VERSION_MAX: usize = 20;
/// Process items in one report.
pub const PROCESS_ITEMS_MAX: usize = 4096;
/// Nesting depth of a JSON body; the body itself is level 1.
pub const JSON_DEPTH_MAX: usize = 32;
/// `requester` is truncated to this length, in Unicode code points.
pub const REQUESTER_MAX: usize = 256;
/// Name of a key, matter and reason of a hold, detail of a failed action, provider of an action and what it notes, in Unicode code
/// points.
pub const TEXT_MAX: usize = 256;
/// `numberOfActivities` when absent.
pub const ADMIN_ACTIVITIES_DEFAULT: i32 = 50;
/// Most rows that `GetAdminActivity` returns.
pub const ADMIN_ACTIVITIES_MAX: i32 = 10_000;
/// Audit rows that one page of `GET /operator/audit` examines; it ends there, however few of them it holds.
pub const AUDIT_ROWS_EXAMINED_MAX: usize = 50_000;
/// Audit rows per key and minute for different calls that changed nothing; further ones are only counted.
pub const REPEATABLE_ROWS_MAX: u64 = 100;
/// Such audit rows about all workspaces that exist together, per key and minute.
pub const REPEATABLE_ROWS_ALL_MAX: u64 = 1000;
/// Line errors that a bulk request reports; further errors are only counted.
pub const LINE_ERRORS_MAX: usize = 100;
/// Bytes that a line of a telemetry batch may have beyond the largest record that can be posted: the name of the
/// stream, brackets, spaces. A longer line is an error of that line.
pub const BATCH_LINE_MORE: usize = 64;
/// Bytes of memory, roughly, for the records of one page of a history; the page ends there. One larger record is a page
/// of its own.
pub const HISTORY_PAGE_BYTES: usize = 1024 * 1024;
/// Warnings that an import reports, each about another name; further ones are dropped.
pub const IMPORT_WARNINGS_MAX: usize = 20;
/// Names of members and columns whose meaning an import reports; further ones are read alike.
pub const IMPORT_NAMES_MAX: usize = 256;
/// Cells in a line of an imported CSV.
pub const CSV_CELLS_MAX: usize = 256;
/// Workspaces applied atomically by a bulk put, and committed at once by an import.
pub const BULK_UPSERT_CHUNK: usize = 1000;
/// Bytes of texts at which a part of a bulk upsert of a node ends before that: an entry of the log takes no more.
pub const BULK_UPSERT_BYTES: usize = 768 * 1024;
/// Seconds after which an action that only the host ends is reported when no provider has begun it.
pub const UNATTENDED_SECONDS: i64 = 15 * 60;
/// Seconds after the last attempt at such an action, after which it is reported as stalled. A rebuild or a restore, the longest
/// actions, takes 30 minutes in a simulation; `deskfleet-provider` fails what takes longer than an hour.
pub const STALLED_SECONDS: i64 = 2 * 60 * 60;
/// The longest lease of a provider, in seconds.
pub const LEASE_SECONDS_MAX: i64 = 60 * 60;
/// Subjects that a condition names, of all that it counts.
pub const CONDITION_SUBJECTS_MAX: usize = 10;
/// The longest text of a condition that is stored and in an event, in code points.
pub(crate) const CONDITION_TEXT_MAX: usize = 1000;
/// Time before its expiry from which on a key is a condition, in seconds.
pub const KEY_EXPIRES_SECONDS: i64 = 7 * 24 * 60 * 60;
/// Time without removing what is too old from which on that is a condition, in seconds.
pub const RETENTION_BEHIND_SECONDS: i64 = 26 * 60 * 60;
/// Days that a TERMINATED workspace stays listed.
pub const TERMINATED_DAYS: i64 = 7;
/// A reboot is accepted again when REBOOTING has lasted longer than this.
pub const REBOOT_STUCK_SECONDS: i64 = 20 * 60;
/// A clock that shows an earlier time than this, in seconds since 1970, was never set: 2020.
pub const CLOCK_SET_SECONDS: i64 = 1_577_836_800;
/// A record dated further ahead of the clock than this stands at its time of receipt: clocks that a network sets differ by less.
pub const RECORD_AHEAD_SECONDS: i64 = 5 * 60;
/// A record that is received longer after the time it carries than this is counted as late: sealing waits as long for such records.
pub const RECORD_LATE_SECONDS: i64 = SEAL_AFTER_SECONDS;
/// Length of the window of `Get24HourActivity`.
pub const ACTIVITY_WINDOW_SECONDS: i64 = 24 * 60 * 60;
/// Bytes at which a chunk of a response ends; the last item may exceed it.
pub const RESPONSE_CHUNK_BYTES: usize = 64 * 1024;
/// Bytes at which a chunk of a page ends. A page has a bounded number of items: most fit their first chunk, and so have a length.
pub const PAGE_CHUNK_BYTES: usize = 256 * 1024;
/// How far back activities are kept by time as well: as that window, and an hour in which no sweep takes place.
pub const RECENT_SECONDS: i64 = 25 * 60 * 60;
/// Bytes of records that `Get24HourActivity` reads from the store at a time, for one response.
pub const NEWEST_WINDOW_BYTES: usize = 400 * 1024;
/// Records that an export reads from the store at a time, all of one instance and day.
pub const EXPORT_WINDOW_RECORDS: usize = 1024;
/// Bytes of memory, roughly, for these records; one larger record is read alone.
pub const EXPORT_WINDOW_BYTES: usize = 512 * 1024;
/// Instances of a day that an export looks at for the next record; then the chunk ends, and the snapshot is given back.
pub const EXPORT_BUCKETS_MAX: usize = 1000;
/// Records in one part of a history chunk before the next part begins.
pub const CHUNK_RECORDS_MAX: usize = 1024;
/// Process items in one part of a history chunk; bounds the memory for reading a damaged one.
pub const CHUNK_ITEMS_MAX: usize = 4 * PROCESS_ITEMS_MAX;
/// Encoded bytes in one part of a history chunk, unless one record alone is longer: with its key just under two pages of
/// the store, as a value takes 1, 2, 4 or 8 of them.
pub const CHUNK_BYTES_MAX: usize = 8_100;
/// A day of history is sealed this long after its end, when late records have arrived.
pub const SEAL_AFTER_SECONDS: i64 = 60 * 60;
/// Parts of one instance and day that sealing merges with each other; bounds the memory of a step.
pub const SEAL_PARTS_MAX: usize = 32;
/// Telemetry records filed in one pass, unless one block alone holds more; bounds the memory of a pass, which is about 240
/// bytes for each. The more, the fewer passes visit each instance of a large fleet.
pub const FILE_RECORDS_MAX: usize = 131_072;
/// Rows of history and of users that one transaction of filing, sealing or retention puts or removes, one bucket of history
/// more: another write waits no longer than that takes, about 2 ms and a sync.
pub const WORK_ROWS_MAX: usize = 500;
/// Bytes of the parts of history that it writes.
pub const WORK_BYTES_MAX: usize = 512 * 1024;
/// Values of a property by which workspaces are counted; further ones are counted together.
pub const FLEET_VALUES_MAX: usize = 200;
/// Cpu or memory above this, in percent, is overload (Citrix Director: sustained for 5 of 15 minutes).
pub const OVERLOADED_PERCENT: f64 = 80.0;
/// Days that a month has where use is compared with a limit of hours a month.
pub const MONTH_DAYS: i64 = 30;
/// The largest limit of hours a month that may be configured.
pub const MONTH_HOURS_MAX: u64 = 744;
/// Advice about cost and size needs this number of days with records (Azure Advisor: the last 7 days are analyzed).
pub const ADVICE_DAYS_MIN: u32 = 7;
/// Days that advice looks back.
pub const ADVICE_DAYS_MAX: u32 = 400;
/// Days of desktops that a page of advice examines, more than that only of its first desktop: 645 desktops of 31 days, about 0.1 s.
pub const ADVICE_DAYS_EXAMINED_MAX: usize = 20_000;
/// Reports, and parts of history without one of the time asked for, that `GET /query/processes` examines.
pub const PROCESS_REPORTS_EXAMINED_MAX: usize = 200_000;
/// Process items that `GET /query/processes` examines, and those of the part of history that goes beyond.
pub const PROCESS_ITEMS_EXAMINED_MAX: usize = 1_000_000;
/// Memory of the reports of the queue that it examines, in bytes.
pub const PROCESS_PENDING_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Different process names that it adds up; the items of others only count in a warning.
pub const PROCESS_NAMES_MAX: usize = 10_000;
/// Bytes of a process name that count.
pub const PROCESS_NAME_BYTES: usize = 256;
/// Records of one stream, instance and moment that `GET /query/timeline` shows.
pub const TIMELINE_MOMENT_RECORDS_MAX: u32 = 1000;
/// Bytes of a title and of a detail in a row of `GET /query/timeline`.
pub const TIMELINE_TEXT_BYTES: usize = 512;
/// A desktop is too large if, on each day, the 95th percentile of its processor load is at most this, in percent: on half of the processors
/// that is the 40 % that Azure Advisor leaves a machine with a user.
pub const OVERSIZED_CPU_PERCENT: f64 = 20.0;
/// Memory in use of a desktop that is larger than it needs: in half of the memory that is no more than [`OVERLOADED_PERCENT`].
pub const OVERSIZED_MEMORY_PERCENT: f64 = 40.0;
/// Users of an instance that the rollup of a day names.
pub const ROLLUP_USERS_MAX: usize = 8;
/// Rollups of a day and an instance that one answer examines: 40 days of 100 000 instances, about 3 s.
pub const ROLLUP_ROWS_EXAMINED_MAX: u64 = 4_000_000;
/// Rollups of an hour and a group that one answer examines: a year of 45 groups.
pub const HOUR_ROWS_EXAMINED_MAX: u64 = 400_000;
/// Records of one instance that its series examines: a year of a sample every half minute.
pub const SERIES_RECORDS_EXAMINED_MAX: usize = 1_000_000;
/// Users that a heatmap counts; further ones are left out of its `users`. Bounds its memory to about 16 MB.
pub const HEATMAP_USERS_MAX: usize = 131_072;
/// Slowest startups that the rollup of an hour names.
pub const SLOWEST_STARTUPS: usize = 10;
/// Queued records that a question about the fleet files before it is answered, which takes up to 10 ms; a longer queue is left to upkeep.
pub const QUESTION_FILES_MAX: u64 = 1_000;
/// Desktops and days of the queue that an export keeps in memory where the queue cannot be filed.
pub const EXPORT_QUEUED_MAX: usize = 4096;
/// Steps of sealing in one call of upkeep.
pub const SEAL_STEPS_MAX: usize = 4;
/// Upkeep files fewer records than a full pass only at this interval, in seconds of the clock: each filing rewrites
/// parts of history.
pub const FILE_EVERY_SECONDS: i64 = 10;
/// The pause between two rounds of [`Upkeep::Thread`](crate::Upkeep::Thread).
pub const UPKEEP_EVERY: Duration = Duration::from_secs(1);
/// Process items of those records, unless one block alone holds more.
pub const FILE_ITEMS_MAX: usize = 16 * CHUNK_ITEMS_MAX;
/// Filed records of one instance, day and sent time that a new record is compared with, newest first, to detect a
/// repetition. An agent has one or two of these; the bound keeps a flood of them from being read again and again.
pub const REPETITIONS_COMPARED_MAX: usize = 64 * CHUNK_RECORDS_MAX;
/// Bytes of the texts of those records.
pub const FILE_TEXT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Records that gather on a volatile store before they are committed, unless a read commits them earlier.
pub const VOLATILE_RECORDS_MAX: u64 = 1000;
/// Workspaces, audit rows, events or users that one maintenance mutation removes or settles.
pub const MAINTENANCE_ROWS_MAX: usize = 250;
/// Events that a stream of them reads at a time.
pub const STREAMED_EVENTS_READ: usize = 64;
/// Workspaces that upkeep looks up at a time, for several such mutations.
pub const MAINTENANCE_IDS_MAX: usize = 4 * MAINTENANCE_ROWS_MAX;
/// Encoded bytes of one queue block; the records of one commit are cut into blocks of about this size.
pub const BLOCK_BYTES_MAX: usize = 60_000;
/// Bytes at which an entry of the log that nodes share ends, unless one mutation alone is longer: NATS JetStream takes messages of up
/// to 1 MiB unless configured otherwise, headers included.
pub const LOG_ENTRY_BYTES: usize = 900_000;
/// Bytes of entries in the log of a store that the file may lack: a write that would exceed them is a durable transaction of the file.
pub const LOG_UNSYNCED_BYTES: usize = 1024 * 1024;
/// What a log takes at least, in bytes of an entry.
pub const LOG_BODY_BYTES_MIN: usize = 1_000_000;
/// What an entry may have more than the JSON of a record in it and the records before that in its block, in bytes.
pub const LOG_OVERHEAD_BYTES: usize = 4096;
/// Bytes of texts, repeated ones included, at which a queue block ends before that: reading one takes bounded memory.
pub const BLOCK_TEXT_BYTES_MAX: usize = 1024 * 1024;

/// Inventory and actions go on until this part of [`Limits::free_bytes_min`](crate::Limits::free_bytes_min) is free: half of it, 16 MiB by default.
pub const FLEET_SPACE_PART: u64 = 2;
/// Filing, sealing and rollups go on until this part of [`Limits::free_bytes_min`](crate::Limits::free_bytes_min) is free: a quarter of it, 8 MiB by
/// default, which is more than the transactions of one pass write.
pub const FILING_SPACE_PART: u64 = 4;
/// Bytes of the file that keeps space for what must be written on a full disk. A revocation or a hold took 4 KiB at most on
/// a full volume of 200 MB, and a step of retention rewrites 1 MiB.
pub const RESERVE_BYTES: u64 = 4 * 1024 * 1024;
/// The largest body that may be configured, in bytes.
pub const BODY_BYTES_MAX: u64 = 1 << 30;
/// The longest request target and the largest headers that may be configured, in bytes.
pub const HEAD_BYTES_MAX: u64 = 1 << 24;
/// The longest queue that may be configured, in records.
pub const QUEUE_RECORDS_MAX: u64 = 1 << 32;
/// The most free space and the largest page cache that may be configured, in bytes.
pub const STORAGE_BYTES_MAX: u64 = 1 << 50;
/// The longest time that may be configured for an action, in milliseconds: 365 days.
pub const ACTION_MS_MAX: u64 = 365 * 24 * 60 * 60 * 1000;

/// Bytes of entries that are read from the log of a cluster at once, one more entry not counted.
pub const LOG_READ_BYTES: usize = 4 * 1024 * 1024;
/// The same for what is archived: those reads share the connection of the thread that follows the log.
pub const LOG_ARCHIVED_BYTES: usize = 512 * 1024;
/// Entries of the log of a cluster that are kept though all nodes have them: by the last one it applied a node finds out whether the log is
/// still the same.
pub const LOG_ENTRIES_KEPT: u64 = 10_000;
/// The longest time in seconds for which a node can have the entries of the log of a cluster kept: a year.
pub const LOG_KEEP_SECONDS_MAX: u32 = 365 * 24 * 60 * 60;
/// Bytes of the newest entries that a node keeps in memory to restore them in a log that lost them; at least the last one is kept.
pub const LOG_RECENT_BYTES: usize = 32 * 1024 * 1024;
/// Seconds for which a node waits for the others to restore what a log has lost in a takeover; they begin again with each entry.
pub const TAKEOVER_SECONDS: i64 = 10;
/// Seconds after which the log of a cluster is no longer kept for a node that says nothing: a day.
pub const NODE_SILENT_SECONDS: i64 = 24 * 60 * 60;

const _: () = {
    // base64url of version, endpoint, checksum and id must fit the longest token: 4 characters for 3 bytes.
    assert!((2 + 4 + WORKSPACE_ID_MAX * 4).div_ceil(3) * 4 <= PAGE_TOKEN_MAX);
    // The same for the order of rows, the texts with a byte before and after each, and an id.
    let order = 1 + SORT_COLUMNS_MAX;
    let place = SORT_TEXT_BYTES + 2 * SORT_COLUMNS_MAX + WORKSPACE_ID_MAX * 4;
    assert!((2 + 4 + order + place).div_ceil(3) * 4 <= PAGE_TOKEN_MAX);
    // What a response holds: the window, a copy of what of it is queued, and the chunk that is sent.
    assert!(2 * NEWEST_WINDOW_BYTES + 2 * RESPONSE_CHUNK_BYTES <= 1024 * 1024);
    assert!(PAGE_ITEMS_DEFAULT <= PAGE_ITEMS_MAX);
    assert!(ADMIN_ACTIVITIES_DEFAULT <= ADMIN_ACTIVITIES_MAX);
};
