// Actions on many desktops: what they would do, and doing it, a few at once.

import { ApiError, pages, send } from "../api.js";
import { look } from "../format.js";

const PREVIEW_MAX = 1000;
const AT_ONCE = 4;
const SAID_MS = 100;
/** How often a request is sent again that a busy server refused unread. */
const TRIES = 4;

/** The types of the interface, besides sizes of the newest families. */
export const COMPUTE_TYPES = ["VALUE", "STANDARD", "PERFORMANCE", "POWER", "POWERPRO", "GENERALPURPOSE_4XLARGE", "GENERALPURPOSE_8XLARGE", "GRAPHICS_G4DN", "GRAPHICSPRO_G4DN", "GRAPHICS_G6", "GRAPHICS_GR6", "GRAPHICS_G6F", "GRAPHICS_GR6F", "GRAPHICS_G7", "GRAPHICS", "GRAPHICSPRO"];

/**
 * `outcome` is `Accepted`, `NoChange`, `Refused`, `Failed` where no response tells, or `NotSent`.
 * @typedef {{ workSpaceId: string, outcome: string, code: string | null, message: string }} Outcome
 */

/** @type {Record<string, [tone: string, glyph: string, now: string, future: string]>} */
const OUTCOMES = {
    Accepted: ["good", "✓", "accepted: TITLE", "will do: TITLE"],
    NoChange: ["off", "○", "need no change", "need no change"],
    LitigationHold: ["care", "▣", "are on litigation hold", "are on litigation hold"],
    OperationInProgress: ["busy", "◔", "have an action in progress", "have an action in progress"],
    InvalidResourceState: ["warn", "△", "are in a state that does not allow it", "are in a state that does not allow it"],
    UnsupportedConfiguration: ["warn", "△", "cannot change to this type", "cannot change to this type"],
    WorkSpaceNotFound: ["off", "◌", "do not exist any more", "do not exist any more"],
    NotSent: ["off", "◌", "were not sent", ""],
    Offline: ["bad", "✖", "may have been done or not: no response arrived", ""],
};

/** Outcomes of a kind together, accepted ones first. @param {Outcome[]} outcomes @param {boolean} future */
export function grouped(outcomes, future) {
    /** @type {Map<string, Outcome[]>} */
    const groups = new Map([["Accepted", []]]);
    for (const outcome of outcomes) {
        const key = outcome.code ?? outcome.outcome;
        const rows = groups.get(key);
        if (rows === undefined) groups.set(key, [outcome]);
        else rows.push(outcome);
    }
    return [...groups].map(([key, rows]) => {
        const [tone, glyph, now, then] = OUTCOMES[key] ?? ["bad", "✖", "are refused", "would be refused"];
        return { key, rows, tone, glyph, text: (/** @type {string} */ title) => (future ? then : now).replace("TITLE", title) };
    });
}

/** What an action would do now. @param {string} action @param {string[]} ids @param {string} computeType @param {AbortSignal} signal @returns {Promise<Outcome[]>} */
export async function preview(action, ids, computeType, signal) {
    // The interface previews actions only; the record's removal says itself what it refuses.
    if (action === "RemoveWorkSpaceDbEntry") return ids.map((workSpaceId) => ({ workSpaceId, outcome: "Accepted", code: null, message: "" }));
    /** @type {Outcome[]} */
    const outcomes = [];
    for (let from = 0; from < ids.length; from += PREVIEW_MAX) {
        const body = { action, workSpaceIds: ids.slice(from, from + PREVIEW_MAX), ...(computeType === "" ? {} : { computeType }) };
        const { rows } = await send("POST", "/query/preview", {}, body);
        signal.throwIfAborted();
        for (const { workSpaceId, outcome, code, state, wouldBecome } of rows) {
            const becomes = wouldBecome === null ? "" : ` → ${look(wouldBecome).label}`;
            outcomes.push({ workSpaceId, outcome, code, message: state === null ? "" : `${look(state).label}${becomes}` });
        }
    }
    await addHolds(outcomes, signal).catch(() => signal.throwIfAborted());
    return outcomes;
}

/** Says of desktops on hold why, and who placed it. @param {Outcome[]} outcomes @param {AbortSignal} signal */
async function addHolds(outcomes, signal) {
    const held = new Map(outcomes.filter(({ code }) => code === "LitigationHold").map((outcome) => [outcome.workSpaceId, outcome]));
    if (held.size === 0) return;
    for await (const { rows } of pages("/query/holds", {}, signal)) {
        for (const { workSpId, matter, placedBy } of rows) {
            const outcome = held.get(workSpId);
            if (outcome !== undefined) outcome.message = `${matter}, placed by ${placedBy}`;
        }
    }
}

/**
 * Does an action to desktops, until the signal aborts; `said` is called with the outcomes so far.
 * @param {string} action
 * @param {string[]} ids
 * @param {{ requester: string, computeType: string }} more
 * @param {AbortSignal} signal
 * @param {(outcomes: Outcome[]) => void} said
 */
export async function run(action, ids, { requester, computeType }, signal, said) {
    /** @type {Outcome[]} */
    const outcomes = [];
    const path = action === "RemoveWorkSpaceDbEntry" ? `/api/Information/${action}` : `/api/Actions/${action}`;
    let next = 0;
    const worker = async () => {
        while (next < ids.length && !signal.aborted) {
            const workSpaceId = ids[next++];
            outcomes.push({ workSpaceId, ...(await one(path, { workSpaceId, requester, computeType })) });
        }
    };
    said([]);
    const timer = setInterval(() => said([...outcomes]), SAID_MS);
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    clearInterval(timer);
    for (const workSpaceId of ids.slice(next)) outcomes.push({ workSpaceId, outcome: "NotSent", code: null, message: "" });
    return outcomes;
}

/** @param {string} path @param {Record<string, string>} query @returns {Promise<Omit<Outcome, "workSpaceId">>} */
async function one(path, query) {
    for (let attempt = 1; ; attempt++) {
        try {
            await send("POST", path, query);
            return { outcome: "Accepted", code: null, message: "" };
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            const { status, code, message } = error;
            if ((status !== 503 && status !== 429) || attempt === TRIES) return { outcome: status === 0 ? "Failed" : "Refused", code, message };
            await new Promise((done) => setTimeout(done, 1000 * attempt));
        }
    }
}
