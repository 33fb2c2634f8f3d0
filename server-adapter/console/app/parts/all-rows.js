// The pages of a question in one list, up to a bound.

import { pages } from "../api.js";
import { count } from "../format.js";

/** At most about `most` rows; the warnings say so where there are more. @param {string} path @param {import("../api.js").Query} query @param {number} most @param {AbortSignal} signal */
export async function allRows(path, query, most, signal) {
    /** @type {any[]} */
    const rows = [];
    /** @type {Set<string>} */
    const warnings = new Set();
    for await (const page of pages(path, query, signal)) {
        rows.push(...page.rows);
        for (const warning of page.warnings) warnings.add(warning);
        if (page.hasMore && rows.length >= most) {
            warnings.add(`Showing the first ${count(rows.length)} rows: there are more.`);
            break;
        }
    }
    return { rows, warnings: [...warnings] };
}
