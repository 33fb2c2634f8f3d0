// The same request for many desktops, a few at once, and what became of each.

import { ApiError } from "../api.js";
import { csv, download } from "../csv.js";
import { href } from "../router.js";
import { html } from "../vendor/preact.js";
import { DataTable } from "./data-table.js";
import { Text } from "./text.js";

const AT_ONCE = 4;

/** @typedef {{ workSpId: string, result: string, code: string, message: string }} Outcome */

/**
 * Calls a function for each id. What it throws becomes a refusal; after an abort no further one begins.
 * @param {readonly string[]} ids
 * @param {(id: string) => Promise<unknown>} call
 * @param {AbortSignal} signal
 * @param {(outcomes: Outcome[]) => void} report called with all outcomes so far
 */
export async function forEach(ids, call, signal, report) {
    /** @type {Outcome[]} */
    const outcomes = [];
    let next = 0;
    const work = async () => {
        while (next < ids.length && !signal.aborted) {
            const workSpId = ids[next++];
            outcomes.push(
                await call(workSpId).then(
                    () => ({ workSpId, result: "Done", code: "", message: "" }),
                    (error) => ({ workSpId, result: "Refused", code: error instanceof ApiError ? error.code : "", message: `${error.message} ${error.advice ?? ""}`.trim() }),
                ),
            );
            report([...outcomes]);
        }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return outcomes;
}

const COLUMNS = ["workSpId", "result", "code", "message"];

/** How many are done, and each that was refused. @param {{ outcomes: Outcome[], of: number, file: string }} properties */
export function Outcomes({ outcomes, of, file }) {
    const refused = outcomes.filter(({ result }) => result === "Refused");
    const save = () => download(`${file}.csv`, csv(COLUMNS, outcomes));
    return html`<p role="status"><b>${outcomes.length - refused.length}</b> done, <b>${refused.length}</b> refused, ${of - outcomes.length} left of ${of}.</p>
        <progress max=${of} value=${outcomes.length} aria-label="Progress"></progress>
        ${
            refused.length > 0 &&
            html`<${DataTable}
                caption="Refused"
                rows=${refused}
                rowKey=${(/** @type {Outcome} */ row) => row.workSpId}
                columns=${[
                    { name: "workSpId", title: "Desktop", show: (/** @type {Outcome} */ { workSpId }) => html`<a href=${href("desktop", workSpId)}><${Text} text=${workSpId} /></a>` },
                    { name: "code", title: "Code" },
                    { name: "message", title: "Why" },
                ]}
            />`
        }
        ${outcomes.length === of && html`<button type="button" class="quiet" onClick=${save}>Save the results as CSV</button>`}`;
}
