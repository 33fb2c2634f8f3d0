// The same request for many desktops, a few at once, and what became of each.

import { ApiError } from "../api.js";
import { csv, download } from "../csv.js";
import { html } from "../vendor/preact.js";
import { DataTable } from "./data-table.js";
import { DesktopLink } from "./links.js";

const AT_ONCE = 4;
const REPORT_MS = 100;
/** How often a request is sent that a busy server refuses unread. */
const TRIES = 4;

/** @typedef {{ workSpId: string, result: string, code: string, message: string }} Outcome */

/**
 * Calls a function for each id. What it throws becomes a refusal; after an abort no further one begins.
 * @param {readonly string[]} ids
 * @param {(id: string) => Promise<unknown>} call
 * @param {AbortSignal} signal
 * @param {(outcomes: Outcome[]) => void} report called with all outcomes so far, now and then and at the end
 */
export async function forEach(ids, call, signal, report) {
    /** @type {Outcome[]} */
    const outcomes = [];
    let next = 0;
    const work = async () => {
        while (next < ids.length && !signal.aborted) {
            const workSpId = ids[next++];
            outcomes.push(
                await whenFree(() => call(workSpId), signal).then(
                    () => ({ workSpId, result: "Done", code: "", message: "" }),
                    (error) => ({ workSpId, result: "Refused", code: error instanceof ApiError ? error.code : "", message: `${error.message} ${error.advice ?? ""}`.trim() }),
                ),
            );
        }
    };
    const timer = setInterval(() => report([...outcomes]), REPORT_MS);
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    clearInterval(timer);
    report(outcomes);
    return outcomes;
}

/** What the server says of a request that it has not looked at: nothing was done. */
const UNREAD = ["ServerBusy", "Throttled", "QueueFull"];

/** Calls a function again while the server has no time for it. @param {() => Promise<unknown>} call @param {AbortSignal} signal */
async function whenFree(call, signal) {
    for (let attempt = 1; ; attempt++) {
        try {
            return await call();
        } catch (error) {
            const busy = error instanceof ApiError && UNREAD.includes(error.code);
            if (!busy || attempt === TRIES || signal.aborted) throw error;
            await new Promise((done) => setTimeout(done, 1000 * attempt));
            if (signal.aborted) throw error;
        }
    }
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
                    { name: "workSpId", title: "Desktop", show: (/** @type {Outcome} */ { workSpId }) => html`<${DesktopLink} id=${workSpId} />` },
                    { name: "code", title: "Code" },
                    { name: "message", title: "Why" },
                ]}
            />`
        }
        ${outcomes.length === of && html`<button type="button" class="quiet" onClick=${save}>Save the results as CSV</button>`}`;
}
