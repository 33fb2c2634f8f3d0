// Saves what the fleet holds as a file: desktops, holds, telemetry.

import { MEMORY_BYTES_MAX, SOURCES, save } from "../import/export.js";
import { bytes } from "../format.js";
import { Running, running } from "../import/job.js";
import { bounds, rangeText, useRange, zone } from "../parts/range.js";
import { href, route, setQuery } from "../router.js";
import { may } from "../session.js";
import { html, useState } from "../vendor/preact.js";

export default function Export() {
    const { what = "stats", format = "csv" } = route.value.query;
    const source = SOURCES.find(({ name }) => name === what) ?? SOURCES[0];
    const range = useRange();
    const [instanceId, setInstanceId] = useState("");
    /** @param {SubmitEvent} event */
    const submit = (event) => {
        event.preventDefault();
        const [from, to] = bounds(range);
        void save(source, { format: format === "ndjson" ? "ndjson" : "csv", from, to, instanceId: instanceId.trim() });
    };
    const set = (/** @type {string} */ name) => (/** @type {any} */ event) => setQuery({ [name]: event.target.value });
    return html`<div class="head"><h1>Export</h1></div>
        <${Running} />
        <form class="panel export" onSubmit=${submit}>
            <div class="row">
                <label>What <select value=${source.name} onChange=${set("what")}>${SOURCES.map(({ name, title }) => html`<option key=${name} value=${name}>${title}</option>`)}</select></label>
                <label>Format <select value=${format} onChange=${set("format")}><option value="csv">CSV</option><option value="ndjson">NDJSON</option></select></label>
                ${source.days && html`<label>Only this desktop (reported name) <input value=${instanceId} maxlength="50" spellcheck=${false} placeholder="all desktops" onInput=${(/** @type {any} */ event) => setInstanceId(event.target.value)} /></label>`}
            </div>
            ${source.days && html`<p class="note">Records of the time range in the header: ${rangeText(range)}, ${zone()}.</p>`}
            <div class="row"><button class="primary" disabled=${running.value !== undefined}>Save as a file</button></div>
            <p class="note">
                In CSV, texts that a spreadsheet would take for formulas begin with an apostrophe. A browser that cannot write to the disk keeps the file in memory, at
                most ${bytes(MEMORY_BYTES_MAX)}. ${may("admin") ? html`The audit is saved on <a href=${href("audit")}>its own page</a>.` : ""}
            </p>
        </form>`;
}
