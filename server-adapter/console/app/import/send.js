// Checks the rows of a file and sends them in parts.

import { count } from "../format.js";
import { onEvent } from "../live.js";
import { session } from "../session.js";
import { signal } from "../vendor/preact.js";
import { run, sendLines } from "./job.js";
import { checker } from "./mapping.js";
import { read } from "./read.js";

const PART = 1000;
/** Rejected rows that are kept to be shown and saved. */
export const REJECTED_MAX = 10_000;
const WARNINGS_MAX = 20;

/** @typedef {{ line: number, column: number, error: string, text: string, cells?: unknown[] }} Rejected */
/**
 * `only` where the engine checked the rows, and wrote nothing. What was created and changed comes from the events of the fleet.
 * @typedef {{ only: boolean, over: boolean, good: number, created: number, changed: number, bad: number, rejected: Rejected[], warnings: string[], columns: string[], problem?: unknown }} Report
 */

/** @type {import("../vendor/preact.js").Signal<Report | undefined>} */
export const report = signal(undefined);

/** A row and what is sent for it; `wrong`: it is rejected already. @typedef {{ row: import("./read.js").Row, line: string, wrong: boolean }} Ready */

/**
 * @param {string} name
 * @param {import("./read.js").Source} source
 * @param {import("./mapping.js").Mapping} mapping
 * @param {boolean} only checks, and writes nothing
 */
export function importRows(name, source, mapping, only) {
    return run(`${only ? "Checking" : "Importing"} ${name}`, async (step, stop) => {
        /** @type {Report} */
        const now = { only, over: false, good: 0, created: 0, changed: 0, bad: 0, rejected: [], warnings: [], columns: source.columns };
        const show = () => void (report.value = { ...now });
        /** @param {import("./read.js").Row} row @param {string} error @param {number} column */
        const reject = (row, error, column) => {
            now.bad++;
            if (now.rejected.length < REJECTED_MAX) now.rejected.push({ line: row.line, column, error, text: row.text.slice(0, 500), cells: row.cells });
        };
        /** @param {Ready[]} part */
        const send = async (part) => {
            let left = part;
            for (let first = true; left.length > 0; first = false) {
                /** @type {import("../../../../wasm/js/types.js").ImportReport} */
                const said = await sendLines("/operator/workspaces", left.map(({ line }) => line), stop, only ? { dryRun: true } : undefined);
                if (first) {
                    now.good += said.upserted;
                    for (const { line, message } of said.warnings) if (now.warnings.length < WARNINGS_MAX) now.warnings.push(`Line ${left[line - 1]?.row.line ?? "?"}: ${message}`);
                }
                for (const { line, message } of said.errors) if (!left[line - 1].wrong) reject(left[line - 1].row, message, columnOf(message, mapping));
                // Not all errors are listed: what follows the last one is sent again, which changes nothing.
                left = said.rejected > said.errors.length && said.errors.length > 0 ? left.slice(/** @type {any} */ (said.errors.at(-1)).line).filter(({ wrong }) => !wrong) : [];
            }
        };
        const forget = onEvent(({ type, detail }) => {
            if (type !== "import.committed" || detail.by !== session.value?.name || only) return;
            now.created += detail.created ?? 0;
            now.changed += detail.changed ?? 0;
            show();
        });
        try {
            const check = checker(mapping);
            /** @type {Ready[]} */
            let part = [];
            for await (const { rows, done } of read(source, stop)) {
                for (const row of rows) {
                    const checked = check(row);
                    const wrong = "error" in checked;
                    if (wrong) reject(row, checked.error, checked.column);
                    // The engine rejects a record without an id, so that the audit counts the wrong row as the page does.
                    part.push({ row, wrong, line: wrong ? "{}" : JSON.stringify(checked.patch) });
                    if (part.length === PART) {
                        await send(part);
                        part = [];
                        show();
                    }
                }
                step(done, source.file.size, `${count(now.good)} rows, ${count(now.bad)} rejected`);
            }
            await send(part);
        } catch (error) {
            now.problem = stop.aborted ? undefined : error;
            throw error;
        } finally {
            now.over = true;
            now.rejected.sort((one, other) => one.line - other.line);
            show();
            // The last events arrive after the response.
            setTimeout(forget, 5000);
        }
        const said = only ? `${count(now.good)} rows can be imported, ${count(now.bad)} cannot.` : `${count(now.good)} rows imported, ${count(now.bad)} rejected.`;
        return now.bad > 0 ? [said, "bad"] : said;
    });
}

/** The column of the field that an error names, or the first. @param {string} message @param {import("./mapping.js").Mapping} mapping */
function columnOf(message, mapping) {
    const from = Object.entries(mapping).find(([field]) => message.includes(field))?.[1];
    return typeof from === "number" ? from + 1 : 1;
}
