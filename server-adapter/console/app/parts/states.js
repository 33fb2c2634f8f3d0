// Which states a desktop had when, and when it was on hold, from the rows of its timeline.

/**
 * @typedef {import("../../../../wasm/js/types.js").TimelineRow} TimelineRow
 * @typedef {{ from: number, to: number, name: string }} Span times in ms
 */

/** The state while an action runs. @type {Record<string, string>} */
const WHILE = {
    RebootWorkSpace: "REBOOTING",
    RecoveryRebootWorkSpace: "REBOOTING",
    RebuildWorkSpace: "REBUILDING",
    RestoreWorkSpace: "RESTORING",
    TerminateWorkSpace: "TERMINATING",
    StartWorkSpace: "STARTING",
    ChangeComputeType: "UPDATING",
};

/**
 * The states from `from` to `to`. A row of kind `state` says when an action had ended, and the row of its call when it began.
 * @param {readonly TimelineRow[]} rows
 * @param {string | null | undefined} now the state at `to`, which it had since `since` if no row says another
 * @param {number} from
 * @param {number} to
 * @param {number} since when the first thing that is known of the desktop happened; before it the state is unknown, with an empty name
 * @returns {Span[]}
 */
export function states(rows, now, from, to, since) {
    const calls = new Map(rows.filter(({ kind }) => kind === "audit").map((row) => [row.auditId, row]));
    /** @type {{ at: number, name: string, before: string | undefined }[]} */
    const changes = [];
    for (const { kind, at, title, detail, auditId } of rows) {
        if (kind !== "state") continue;
        const end = Date.parse(at);
        const call = calls.get(auditId);
        const begin = call === undefined ? end : Date.parse(call.at);
        const between = WHILE[call?.title ?? ""];
        let before = /^(.*) before the call$/s.exec(detail ?? "")?.[1];
        if (between !== undefined && begin < end) {
            changes.push({ at: begin, name: between, before });
            before = between;
        }
        changes.push({ at: end, name: title, before });
    }
    changes.sort((one, other) => one.at - other.at);
    /** @type {Span[]} */
    const spans = [];
    /** @param {number} begin @param {number} end @param {string | null | undefined} name */
    const add = (begin, end, name) => {
        const last = spans.at(-1);
        if (!name || end <= begin) return;
        if (last?.name === name && last.to === begin) last.to = end;
        else spans.push({ from: begin, to: end, name });
    };
    let begin = Math.min(Math.max(since, from), to);
    if (begin > from) spans.push({ from, to: begin, name: "" });
    let name = changes.length === 0 ? now : changes[0].before;
    for (const change of changes) {
        add(begin, change.at, name);
        begin = Math.max(begin, change.at);
        name = change.name;
    }
    add(begin, to, name);
    return spans;
}

/**
 * When it was on hold, from `from` to `to`.
 * @param {readonly TimelineRow[]} rows
 * @param {boolean} now whether it is at `to`
 * @param {number} from
 * @param {number} to
 * @returns {Span[]}
 */
export function held(rows, now, from, to) {
    const changes = rows.filter(({ kind, detail }) => kind === "hold" && detail?.startsWith("Completed")).sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
    /** @type {Span[]} */
    const spans = [];
    let begin = changes.length === 0 ? (now ? from : undefined) : changes[0].title.startsWith("Release") ? from : undefined;
    for (const { at, title } of changes) {
        const time = Date.parse(at);
        if (!title.startsWith("Release")) begin ??= time;
        else if (begin !== undefined) {
            spans.push({ from: begin, to: time, name: "On hold" });
            begin = undefined;
        }
    }
    if (begin !== undefined) spans.push({ from: begin, to, name: "On hold" });
    return spans;
}
