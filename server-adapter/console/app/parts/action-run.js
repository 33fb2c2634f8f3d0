// Actions on many desktops: what they would do, and doing it in batches of the server.

import { get, pages, send } from "../api.js";
import { look } from "../format.js";
import { holdsOf } from "./hold-dialog.js";

const PREVIEW_MAX = 1000;
/** A preview that takes longer is given up, and offered again. */
const PREVIEW_MS = 20_000;
/** Most desktops of a batch. */
const BATCH_MAX = 1000;
const POLL_MS = 1000;
/** Desktops up to which each is looked up by its id, and ids of one request; of more desktops only those that reported lately are read. */
const IDS_MAX = 500;
const IDS_PER_REQUEST = 100;
/**
 * The minutes, and their words, within which a report is recent. Somebody may be at work where the desktop reported lately: its agent reports whether a user is signed in or not.
 * What destroys a desktop is mostly done to stopped ones, which say nothing lately and yet may be used every day.
 * @param {{ danger?: boolean }} action @returns {[number, string]}
 */
export const recently = ({ danger }) => (danger ? [10_080, "7 days"] : [15, "15 minutes"]);
/** It removes the record of a desktop, and is no action of the interface: there is no preview, and no requester. */
export const REMOVAL = "RemoveWorkSpaceDbEntry";

/** The types of the interface, besides sizes of the newest families. */
export const COMPUTE_TYPES = ["VALUE", "STANDARD", "PERFORMANCE", "POWER", "POWERPRO", "GENERALPURPOSE_4XLARGE", "GENERALPURPOSE_8XLARGE", "GRAPHICS_G4DN", "GRAPHICSPRO_G4DN", "GRAPHICS_G6", "GRAPHICS_GR6", "GRAPHICS_G6F", "GRAPHICS_GR6F", "GRAPHICS_G7", "GRAPHICS", "GRAPHICSPRO"];

/**
 * `outcome` is a result of the audit, `Waiting` for its turn, or `NotSent`.
 * `simulated`: the clock ends the action, and nothing happens to the desktop; `user`: whose it is; `type`: its compute type, where that changes; `seen`: when it reported last; `recent`: {@link recently}.
 * @typedef {{ workSpaceId: string, outcome: string, code: string | null, message: string, simulated?: boolean, user?: string | null, type?: string | null, recent?: boolean, seen?: string | null }} Outcome
 */

/** @type {Record<string, [tone: string, glyph: string, text: string]>} */
const OUTCOMES = {
    Accepted: ["good", "✓", "accepted"],
    Waiting: ["off", "◌", "waiting"],
    Completed: ["good", "✓", "done"],
    Failed: ["bad", "✖", "failed"],
    Cancelled: ["warn", "△", "cancelled"],
    Throttled: ["warn", "△", "refused for now: the key's number of an hour is reached, or too many batches wait"],
    NoChange: ["off", "○", "already in this state"],
    LitigationHold: ["care", "▣", "on litigation hold"],
    OperationInProgress: ["busy", "◔", "with an action in progress"],
    InvalidResourceState: ["warn", "△", "in a state or running mode that does not allow it"],
    UnsupportedConfiguration: ["warn", "△", "that cannot change to this type"],
    InsufficientScope: ["warn", "△", "that the key excludes"],
    WorkSpaceNotFound: ["off", "◌", "that no longer exist"],
    NotSent: ["off", "◌", "not sent"],
    Offline: ["bad", "✖", "done or not: no response arrived"],
};

/** Outcomes of a kind together, accepted ones first. @param {Outcome[]} outcomes */
export function grouped(outcomes) {
    /** @type {Map<string, Outcome[]>} */
    const groups = new Map([["Accepted", []]]);
    for (const outcome of outcomes) {
        const key = outcome.code ?? outcome.outcome;
        const rows = groups.get(key);
        if (rows === undefined) groups.set(key, [outcome]);
        else rows.push(outcome);
    }
    return [...groups].map(([key, rows]) => {
        const [tone, glyph, text] = OUTCOMES[key] ?? ["bad", "✖", "refused"];
        return { key, rows, tone, glyph, text };
    });
}

/** What an action would do now. @param {string} action @param {string[]} ids @param {string} computeType @param {AbortSignal} signal @returns {Promise<Outcome[]>} */
export async function preview(action, ids, computeType, signal) {
    if (action === REMOVAL) return ids.map((workSpaceId) => ({ workSpaceId, outcome: "Accepted", code: null, message: "" }));
    /** @type {Outcome[]} */
    const outcomes = [];
    for (let from = 0; from < ids.length; from += PREVIEW_MAX) {
        const body = { action, workSpaceIds: ids.slice(from, from + PREVIEW_MAX), ...(computeType === "" ? {} : { computeType }) };
        const { rows } = await send("POST", "/query/preview", {}, body, AbortSignal.any([signal, AbortSignal.timeout(PREVIEW_MS)]));
        for (const { workSpaceId, outcome, code, state, wouldBecome, simulated } of rows) {
            const becomes = wouldBecome === null ? "" : ` → ${look(wouldBecome).label}`;
            outcomes.push({ workSpaceId, outcome, code, message: state === null ? "" : `${look(state).label}${becomes}`, simulated });
        }
    }
    await addHolds(outcomes, signal).catch(() => signal.throwIfAborted());
    return outcomes;
}

/** Adds whose desktops they are, and when they reported. @param {Outcome[]} outcomes @param {{ name: string, danger?: boolean }} action @param {AbortSignal} signal */
export async function addPeople(outcomes, action, signal) {
    const [minutes] = recently(action);
    const byId = new Map(outcomes.map((outcome) => [outcome.workSpaceId, outcome]));
    // The engine takes a comma for the end of an id.
    const ids = [...byId.keys()].filter((id) => !id.includes(","));
    /** @type {import("../api.js").Query[]} */
    const queries = [];
    if (byId.size > IDS_MAX) queries.push({ lastSeen: `ge.-${minutes}m` });
    else for (let from = 0; from < ids.length; from += IDS_PER_REQUEST) queries.push({ workSpId: ids.slice(from, from + IDS_PER_REQUEST) });
    for (const query of queries) {
        for await (const { columns, at } of pages("/query/workspaces", { ...query, fields: "workSpId,username,lastSeen,computeTypeName", format: "columns", limit: 5000 }, signal)) {
            const since = Date.parse(at) - minutes * 60_000;
            for (const [index, id] of columns.workSpId.entries()) {
                const outcome = byId.get(id);
                const seen = columns.lastSeen[index];
                if (outcome !== undefined) Object.assign(outcome, { user: columns.username[index], type: action.name === "ChangeComputeType" && columns.computeTypeName[index], seen, recent: seen !== null && Date.parse(seen) >= since });
            }
        }
    }
}

/** Says of desktops on hold why, and who placed it. @param {Outcome[]} outcomes @param {AbortSignal} signal */
async function addHolds(outcomes, signal) {
    const held = new Map(outcomes.filter(({ code }) => code === "LitigationHold").map((outcome) => [outcome.workSpaceId, outcome]));
    for (const { workSpId, matter, placedBy } of await holdsOf([...held.keys()], signal)) {
        const outcome = held.get(workSpId);
        if (outcome !== undefined) outcome.message = `${matter}, placed by ${placedBy}`;
    }
}

/** @typedef {import("../../../../wasm/js/types.js").ActionBatch} Batch */

/**
 * How far an action on desktops is. `sending`: a part of it is this page's to send still, else it goes on without the page.
 * @typedef {{ outcomes: Outcome[], waiting: number, sending: boolean, over: boolean }} Progress
 */

/** @param {Batch} batch @returns {Outcome[]} */
const outcomesOf = ({ rows, stopped }) => rows.map(({ workSpaceId, result, code }) => ({ workSpaceId, outcome: result ?? (stopped === null ? "Waiting" : "NotSent"), code, message: "" }));

/** @param {number} ms @param {AbortSignal[]} signals which end it early */
const pause = (ms, ...signals) =>
    new Promise((done) => {
        const timer = setTimeout(done, ms);
        for (const signal of signals) signal.addEventListener("abort", () => (clearTimeout(timer), done(undefined)), { once: true });
    });

/**
 * Starts an action on desktops and follows it to its end. The server does it in waves; beyond 1000 desktops the next batch is sent once the one before has begun its last.
 * @param {string} action
 * @param {string[]} ids
 * @param {{ requester: string, computeType: string, atOnce: number | null, stopAfterFailures: number | null }} more
 * @param {{ stop: AbortSignal, left: AbortSignal }} signals `stop`: no further one begins; `left`: nobody follows it any more
 * @param {(progress: Progress) => void} report
 */
export async function run(action, ids, { computeType, ...more }, { stop, left }, report) {
    /** @type {Batch[]} */
    const batches = [];
    /** @type {Outcome[]} */
    let refused = [];
    let sent = 0;
    const tell = () => {
        const rest = ids.slice(sent).map((workSpaceId) => ({ workSpaceId, outcome: "NotSent", code: null, message: "" }));
        const last = batches.at(-1);
        const sending = rest.length > 0 && !stop.aborted && (last?.stopped ?? null) === null && refused.length === 0;
        const waiting = batches.reduce((sum, { waiting, stopped }) => sum + (stopped === null ? waiting : 0), 0);
        const over = !sending && batches.every(({ endedAt }) => endedAt !== null);
        report({ outcomes: [...batches.flatMap(outcomesOf), ...refused, ...rest], waiting, sending, over });
        return { sending, waiting, over };
    };
    for (;;) {
        if (left.aborted) return;
        const { sending, waiting, over } = tell();
        if (over) return;
        if (sending && waiting === 0) {
            const workSpaceIds = ids.slice(sent, sent + BATCH_MAX);
            try {
                batches.push(await send("POST", "/operator/actions", {}, { action, workSpaceIds, ...(computeType === "" ? {} : { computeType }), ...more }));
            } catch (error) {
                const { code = "Unknown", message } = /** @type {import("../api.js").ApiError} */ (error);
                refused = workSpaceIds.map((workSpaceId) => ({ workSpaceId, outcome: "Refused", code, message }));
            }
            sent += workSpaceIds.length;
            continue;
        }
        await pause(POLL_MS, left, ...(waiting > 0 ? [stop] : []));
        for (const [at, { batchId, endedAt, waiting, stopped }] of batches.entries()) {
            if (endedAt !== null || left.aborted) continue;
            try {
                if (stop.aborted && waiting > 0 && stopped === null) batches[at] = await send("POST", `/operator/batches/${batchId}/stop`);
                else batches[at] = await get(`/operator/batches/${batchId}`, {}, left);
            } catch (error) {
                // It runs without this page, and is asked for again, unless the server keeps it no longer.
                if (/** @type {any} */ (error).code === "NotFound") return;
            }
        }
    }
}
