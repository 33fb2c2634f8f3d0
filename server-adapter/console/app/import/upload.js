// Import of a file as the engine reads it: CSV whose first line names the fields, NDJSON, or JSON.

import { request } from "../api.js";
import { count } from "../format.js";
import { DataTable } from "../parts/data-table.js";
import { Warnings } from "../parts/problem.js";
import { html, useState } from "../vendor/preact.js";
import { run, running } from "./job.js";

const COLUMNS = [
    { name: "line", title: "Line", number: true },
    { name: "column", title: "Column", number: true },
    { name: "message", title: "Error" },
];

/** @typedef {import("../../../../wasm/js/types.js").ImportReport} ImportReport */

export function Upload() {
    const [report, setReport] = useState(/** @type {ImportReport | undefined} */ (undefined));
    /** @param {File} file */
    const send = (file) =>
        run(`Importing ${file.name}`, async (step, signal) => {
            setReport(undefined);
            step(0, 0);
            // Without a type the engine tells the format by the text.
            /** @type {ImportReport} */
            const done = await (await request("POST", "/operator/workspaces", { body: new Blob([file]), signal })).json();
            setReport(done);
            return `${count(done.upserted)} desktops were created or changed, ${count(done.rejected)} lines rejected.`;
        });
    /** @param {any} event */
    const chosen = (event) => {
        const [file] = event.target.files;
        event.target.value = "";
        if (file !== undefined) void send(file);
    };
    return html`<section class="panel">
        <h2>Import your desktops</h2>
        <p>
            NDJSON, a JSON array, a saved answer of <code>GetAllWorkSpaces</code>, or CSV with commas whose first line names the fields, <code>workSpId</code> among
            them. It is imported at once: desktops that are there are changed, and what a line leaves out stays as it is.
        </p>
        <label>File <input type="file" accept=".csv,.json,.ndjson,.jsonl,.txt" disabled=${running.value !== undefined} onChange=${chosen} /></label>
        ${report &&
        html`<p>${count(report.upserted)} created or changed, ${count(report.rejected)} rejected${report.rejected > report.errors.length && `, of which the first ${report.errors.length} are listed`}.</p>
            <${Warnings} warnings=${report.warnings.map(({ line, message }) => `Line ${line}: ${message}`)} />
            ${report.errors.length > 0 && html`<${DataTable} columns=${COLUMNS} rows=${report.errors} caption="Rejected lines" file="rejected" rowKey=${(/** @type {any} */ row) => row.line} />`}`}
    </section>`;
}
