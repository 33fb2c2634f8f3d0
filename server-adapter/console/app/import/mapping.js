// Which column becomes which field, and what is wrong with a row.

/** The fields of a desktop. */
export const FIELDS = ["workSpId", "username", "computerName", "state", "runningMode", "computeTypeName", "protocol", "region", "directoryId", "account"];
const ID_MAX = 64;
const FIELD_MAX = 256;
/** Beyond this many ids repeated ones are no longer found. */
const IDS_MAX = 1_000_000;

/** For each field the number of a column, or a fixed text. @typedef {Record<string, number | string>} Mapping */

/** Columns that no field takes. @param {string[]} columns @param {Mapping} mapping */
export const leftOut = (columns, mapping) => columns.filter((_, index) => !Object.values(mapping).includes(index));

/**
 * Makes records of rows. A function that says what to send for a row, or what is wrong with it; it remembers the ids.
 * @param {Mapping} mapping
 * @returns {(row: import("./read.js").Row) => { patch: Record<string, unknown> } | { error: string, column: number }}
 */
export function checker(mapping) {
    /** @type {Map<string, number>} */
    const lines = new Map();
    const fields = Object.entries(mapping);
    const idColumn = typeof mapping.workSpId === "number" ? mapping.workSpId + 1 : 1;
    return (row) => {
        if (row.error !== undefined) return { error: row.error, column: row.column };
        /** @type {Record<string, unknown>} */
        const patch = {};
        for (const [field, from] of fields) {
            let value = typeof from === "string" ? from : row.cells?.[from];
            // An empty cell leaves its field as it is, as the engine has it.
            if (value === undefined || value === "") continue;
            if (value !== null && typeof value !== "string") value = String(value);
            // An apostrophe that was put before a formula, when the text was exported, is taken away.
            if (typeof value === "string" && typeof from === "number") value = value.replace(/^'(?=[=+\-@\t\r])/, "");
            if (typeof value === "string" && [...value.slice(0, 2 * FIELD_MAX + 2)].length > FIELD_MAX) return { error: `${field} is longer than ${FIELD_MAX} characters.`, column: typeof from === "number" ? from + 1 : 1 };
            patch[field] = value;
        }
        const id = patch.workSpId;
        if (typeof id !== "string" || [...id].length > ID_MAX) return { error: id ? `The id is longer than ${ID_MAX} characters.` : "The id is missing.", column: idColumn };
        const before = lines.get(id);
        if (before !== undefined) return { error: `The id ${id} is on line ${before} already.`, column: idColumn };
        if (lines.size < IDS_MAX) lines.set(id, row.line);
        return { patch };
    };
}
