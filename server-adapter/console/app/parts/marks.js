// What was done to desktops, as marks on charts: one mark for all rows of the audit with one action in one minute.

import { get } from "../api.js";
import { count } from "../format.js";
import { useResource } from "../resource.js";
import { may } from "../session.js";
import { RESULTS, actionTitle } from "./audit-words.js";
import { ACTIONS } from "./actions.js";
import { bounds } from "./range.js";

const READ = 100;
const MINUTE_MS = 60_000;
const MARKED = new Set([...ACTIONS.map(({ name }) => name), "PlaceLitigationHold", "ReleaseLitigationHold"]);

/** @typedef {{ activityTime: string, action: string, result: string, requester: string | null }} Row */

/** @param {readonly Row[]} rows newest first @returns {import("./line-chart.js").Mark[]} */
export function marksOf(rows) {
    /** @type {Map<string, { at: number, action: string, requester: string | null, number: number, failed: number }>} */
    const groups = new Map();
    for (const { activityTime, action, result, requester } of rows) {
        if (!MARKED.has(action)) continue;
        const at = Date.parse(activityTime);
        const key = `${action} ${requester} ${Math.floor(at / MINUTE_MS)}`;
        const group = groups.get(key) ?? { at, action, requester, number: 0, failed: 0 };
        groups.set(key, group);
        group.at = Math.min(group.at, at);
        group.number++;
        group.failed += Number(result === "Failed" || result === "Refused");
    }
    return [...groups.values()].reverse().map(({ at, action, requester, number, failed }) => {
        const hold = action.endsWith("Hold");
        return {
            at,
            text: `${actionTitle(action)}${number > 1 ? ` of ${count(number)} desktops` : ""}${requester ? ` by ${requester}` : ""}${failed > 0 ? `, ${count(failed)} failed or refused` : ""}`,
            tone: failed === number ? RESULTS.Failed.tone : hold ? "care" : "busy",
            glyph: failed === number ? "✖" : hold ? "▣" : "◆",
        };
    });
}

/** The newest marks of a range. @param {import("./range.js").Range} range */
export function useMarks(range) {
    const found = useResource(
        `marks ${range.key}`,
        async (signal) => {
            const [from, to] = bounds(range);
            /** @type {Row[]} */
            const rows = may("audit")
                ? (await get("/operator/audit", { from: new Date(from).toISOString(), to: range.to, limit: READ }, signal)).activities
                : await get("/api/Information/GetAdminActivity", { numberOfActivities: READ }, signal);
            return marksOf(rows.filter(({ activityTime }) => Date.parse(activityTime) >= from && Date.parse(activityTime) < to));
        },
        { on: ({ type }) => type.startsWith("action.") || type.startsWith("hold.") },
    );
    return found.data ?? [];
}
