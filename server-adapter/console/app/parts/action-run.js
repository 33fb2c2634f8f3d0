// Actions on many desktops: what they would do, and doing it, a few at once.

import { send } from "../api.js";
import { look } from "../format.js";
import { forEach } from "./bulk.js";
import { holdsOf } from "./hold-dialog.js";

const PREVIEW_MAX = 1000;
/** It removes the record of a desktop, and is no action of the interface: there is no preview, and no requester. */
export const REMOVAL = "RemoveWorkSpaceDbEntry";

/** The types of the interface, besides sizes of the newest families. */
export const COMPUTE_TYPES = ["VALUE", "STANDARD", "PERFORMANCE", "POWER", "POWERPRO", "GENERALPURPOSE_4XLARGE", "GENERALPURPOSE_8XLARGE", "GRAPHICS_G4DN", "GRAPHICSPRO_G4DN", "GRAPHICS_G6", "GRAPHICS_GR6", "GRAPHICS_G6F", "GRAPHICS_GR6F", "GRAPHICS_G7", "GRAPHICS", "GRAPHICSPRO"];

/**
 * `outcome` is `Accepted`, `NoChange`, `Refused` or `NotSent`.
 * `simulated`: the clock ends the action, and nothing happens to the desktop.
 * @typedef {{ workSpaceId: string, outcome: string, code: string | null, message: string, simulated?: boolean }} Outcome
 */

/** @type {Record<string, [tone: string, glyph: string, text: string]>} */
const OUTCOMES = {
    Accepted: ["good", "✓", "accepted"],
    NoChange: ["off", "○", "without a need for it: nothing changes"],
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
        const { rows } = await send("POST", "/query/preview", {}, body);
        signal.throwIfAborted();
        for (const { workSpaceId, outcome, code, state, wouldBecome, simulated } of rows) {
            const becomes = wouldBecome === null ? "" : ` → ${look(wouldBecome).label}`;
            outcomes.push({ workSpaceId, outcome, code, message: state === null ? "" : `${look(state).label}${becomes}`, simulated });
        }
    }
    await addHolds(outcomes, signal).catch(() => signal.throwIfAborted());
    return outcomes;
}

/** Says of desktops on hold why, and who placed it. @param {Outcome[]} outcomes @param {AbortSignal} signal */
async function addHolds(outcomes, signal) {
    const held = new Map(outcomes.filter(({ code }) => code === "LitigationHold").map((outcome) => [outcome.workSpaceId, outcome]));
    for (const { workSpId, matter, placedBy } of await holdsOf([...held.keys()], signal)) {
        const outcome = held.get(workSpId);
        if (outcome !== undefined) outcome.message = `${matter}, placed by ${placedBy}`;
    }
}

/**
 * Does an action to desktops, until the signal aborts; `report` is called with the outcomes so far.
 * @param {string} action
 * @param {string[]} ids
 * @param {{ requester: string, computeType: string }} more
 * @param {AbortSignal} signal
 * @param {(outcomes: Outcome[]) => void} report
 * @returns {Promise<Outcome[]>}
 */
export async function run(action, ids, { requester, computeType }, signal, report) {
    const path = action === REMOVAL ? `/api/Information/${action}` : `/api/Actions/${action}`;
    const outcomeOf = (/** @type {import("./bulk.js").Outcome} */ { workSpId, result, code, message }) => ({ workSpaceId: workSpId, outcome: result === "Done" ? "Accepted" : "Refused", code: code || null, message });
    const done = await forEach(ids, (workSpaceId) => send("POST", path, { workSpaceId, requester, computeType }), signal, (outcomes) => report(outcomes.map(outcomeOf)));
    const sent = new Set(done.map(({ workSpId }) => workSpId));
    const left = ids.filter((id) => !sent.has(id)).map((workSpaceId) => ({ workSpaceId, outcome: "NotSent", code: null, message: "" }));
    return [...done.map(outcomeOf), ...left];
}
