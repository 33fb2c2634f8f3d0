// What the columns of a file are called.

import { request } from "../api.js";

/**
 * Which column is which field, as the engine understands their names: it is asked by an import of a record without values that writes nothing.
 * @param {string[]} columns @returns {Promise<import("./mapping.js").Mapping>}
 */
export async function understood(columns) {
    const names = columns.filter((name, index) => name !== "" && columns.indexOf(name) === index);
    const body = JSON.stringify(Object.fromEntries(names.map((name) => [name, null])));
    const response = await request("POST", "/operator/workspaces", { query: { dryRun: true }, body, type: "application/x-ndjson" });
    /** @type {import("../../../../wasm/js/types.js").ImportReport} */
    const { mapping = [] } = await response.json();
    /** @type {import("./mapping.js").Mapping} */
    const found = {};
    for (const { from, to } of mapping) if (to !== null) found[to] ??= columns.indexOf(from);
    return found;
}
