// Import of a file: choose, drop or paste it, look at its first rows, say which column is which field, check, send.

import { count } from "../format.js";
import { DataTable } from "../parts/data-table.js";
import { Problem, Warnings } from "../parts/problem.js";
import { Text } from "../parts/text.js";
import { csv, download } from "../csv.js";
import { html, signal, useEffect, useRef } from "../vendor/preact.js";
import { running } from "./job.js";
import { FIELDS, leftOut } from "./mapping.js";
import { understood } from "./names.js";
import { ENCODINGS, inspect } from "./read.js";
import { importRows, REJECTED_MAX, report } from "./send.js";

/** The file that was chosen, and which of its columns are which fields. They outlive a visit to another page. */
const chosen = signal(/** @type {{ name: string, source: import("./read.js").Source, mapping: import("./mapping.js").Mapping } | undefined} */ (undefined));
const problem = signal(/** @type {unknown} */ (undefined));

/** @param {Blob} file @param {string} name @param {string} [encoding] */
async function take(file, name, encoding) {
    if (running.value !== undefined) return;
    report.value = undefined;
    problem.value = undefined;
    try {
        const source = await inspect(file, encoding);
        chosen.value = { name, source, mapping: await understood(source.columns) };
    } catch (error) {
        chosen.value = undefined;
        problem.value = error;
    }
}

/** Takes what is dropped on the page or pasted into it. */
function useDropAndPaste() {
    useEffect(() => {
        const over = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") && event.preventDefault();
        /** @param {Event} event @param {DataTransfer | null} data */
        const given = (event, data) => {
            if (/** @type {Element} */ (event.target).closest?.("input, textarea, dialog")) return;
            const [file] = data?.files ?? [];
            const text = data?.getData("text/plain") ?? "";
            if (file === undefined && text === "") return;
            event.preventDefault();
            void take(file ?? new Blob([text]), file?.name ?? "what was pasted");
        };
        const drop = (/** @type {DragEvent} */ event) => given(event, event.dataTransfer);
        const paste = (/** @type {ClipboardEvent} */ event) => given(event, event.clipboardData);
        document.addEventListener("dragover", over);
        document.addEventListener("drop", drop);
        document.addEventListener("paste", paste);
        return () => {
            document.removeEventListener("dragover", over);
            document.removeEventListener("drop", drop);
            document.removeEventListener("paste", paste);
        };
    }, []);
}

export function Upload() {
    useDropAndPaste();
    /** @param {any} event */
    const picked = (event) => {
        const [file] = event.target.files;
        event.target.value = "";
        if (file !== undefined) void take(file, file.name);
    };
    return html`<section class="panel import">
        <h2>Import your desktops</h2>
        <p>
            Choose a file, drop it on this page, or paste its text: JSON such as <code>aws workspaces describe-workspaces</code> prints it, NDJSON, a saved
            response of <code>GetAllWorkSpaces</code>, or CSV whose first line names the columns. Existing desktops are updated; missing fields stay unchanged.
        </p>
        <p><label class="button file-button">Choose a file … <input type="file" class="hidden" accept=".csv,.tsv,.json,.ndjson,.jsonl,.txt" disabled=${running.value !== undefined} onChange=${picked} /></label></p>
        <${Problem} error=${problem.value} />
        ${chosen.value && html`<${Chosen} ...${chosen.value} />`}
        ${report.value && html`<${Report} ...${report.value} />`}
    </section>`;
}

/** @param {{ name: string, source: import("./read.js").Source, mapping: import("./mapping.js").Mapping }} properties */
function Chosen({ name, source, mapping }) {
    const busy = running.value !== undefined;
    const without = leftOut(source.columns, mapping);
    const columns = source.columns.map((title, index) => ({ name: String(index), title, fixed: true, show: (/** @type {any} */ row) => html`<${Text} text=${String(row.cells?.[index] ?? "").slice(0, 100)} />` }));
    /** @param {boolean} only */
    const start = (only) => void importRows(name, source, mapping, only);
    const title = useRef(/** @type {HTMLElement | null} */ (null));
    // The keys go on at what the file has become.
    useEffect(() => title.current?.focus(), [source]);
    return html`<h3 ref=${title} tabindex="-1">${name}</h3>
        <label>
            Encoding
            <select value=${source.encoding} disabled=${busy} onChange=${(/** @type {any} */ event) => take(source.file, name, event.target.value)}>
                ${Object.entries(ENCODINGS).map(([value, title]) => html`<option key=${value} value=${value}>${title}</option>`)}
            </select>
        </label>
        <div class="row">
            <button type="button" disabled=${busy || mapping.workSpId === undefined} onClick=${() => start(true)}>Check only</button>
            <button type="button" class="primary" disabled=${busy || mapping.workSpId === undefined} onClick=${() => start(false)}>Import</button>
        </div>
        <p class="note">The first ${count(source.sample.length)} rows of the file:</p>
        <${DataTable} columns=${[{ name: "line", title: "Line", number: true, fixed: true }, ...columns]} rows=${source.sample} caption="First rows of the file" rowKey=${(/** @type {any} */ row) => `${row.line} ${row.column}`} />
        <h3>Fields</h3>
        <div class="mapping">${FIELDS.map((field) => html`<${Field} key=${field} field=${field} columns=${source.columns} mapping=${mapping} busy=${busy} />`)}</div>
        ${without.length > 0 && html`<p class="note">Left out: ${without.slice(0, 20).join(", ")}${without.length > 20 && ` and ${without.length - 20} more`}.</p>`}
        ${mapping.workSpId === undefined && html`<p class="note">Choose the column with the id: nothing can be imported without it.</p>`}`;
}

/** Fields as the table of desktops calls them. @type {Record<string, string>} */
const FIELD_TITLES = { workSpId: "Id", computerName: "Computer", username: "User", state: "State", runningMode: "Running mode", computeTypeName: "Compute type", region: "Region", account: "Account", directoryId: "Directory", protocol: "Protocol" };

/** Which column a field comes from, or one text for all. @param {{ field: string, columns: string[], mapping: import("./mapping.js").Mapping, busy: boolean }} properties */
function Field({ field, columns, mapping, busy }) {
    const from = mapping[field];
    /** @param {string | number | undefined} value */
    const set = (value) => {
        const { [field]: _, ...others } = mapping;
        if (chosen.value) chosen.value = { ...chosen.value, mapping: value === undefined ? others : { ...others, [field]: value } };
    };
    /** @param {any} event */
    const choose = ({ target: { value } }) => set(value === "" ? undefined : value === "fixed" ? "" : Number(value));
    return html`<div>
        <label>
            ${FIELD_TITLES[field] ?? field}
            <select name=${field} value=${typeof from === "string" ? "fixed" : (from ?? "")} disabled=${busy} onChange=${choose}>
                <option value="">–</option>
                ${field !== "workSpId" && html`<option value="fixed">One value for all</option>`}
                ${columns.map((title, index) => html`<option key=${index} value=${index} disabled=${from !== index && Object.values(mapping).includes(index)}>${title || `Column ${index + 1}`}</option>`)}
            </select>
        </label>
        ${typeof from === "string" && html`<input aria-label=${`Value of ${FIELD_TITLES[field] ?? field} for all`} maxlength="256" value=${from} disabled=${busy} onInput=${(/** @type {any} */ event) => set(event.target.value)} />`}
    </div>`;
}

const COLUMNS = [
    { name: "line", title: "Line", number: true },
    { name: "column", title: "Column", number: true },
    { name: "error", title: "Error" },
    { name: "text", title: "Row of the file", fixed: true, show: (/** @type {any} */ row) => html`<code><${Text} text=${row.text} /></code>` },
];

/** @param {import("./send.js").Report} properties */
function Report({ only, over, good, created, changed, bad, rejected, warnings, columns, problem: failure }) {
    const save = () => {
        const rows = rejected.map(({ cells, line, column, error, text }) => ({ ...Object.fromEntries(columns.map((name, index) => [name, cells?.[index]])), line, column, error, ...(cells ? {} : { text }) }));
        download("rejected.csv", csv([...new Set([...columns, "line", "column", "error", "text"])], rows));
    };
    return html`<h3>${only ? "Check" : "Import"}${!over && ", until now"}</h3>
        <p role="status">
            ${only ? `${count(good)} rows can be imported` : `${count(good)} rows imported: ${count(created)} desktops created, ${count(changed)} changed`}; ${count(bad)} rejected.
            ${bad > rejected.length && ` The first ${count(REJECTED_MAX)} rejected rows are kept.`}
        </p>
        <${Problem} error=${failure} />
        <${Warnings} warnings=${warnings} />
        ${rejected.length > 0 &&
        html`<div class="row"><button type="button" onClick=${save}>Export the rejected rows (CSV)</button></div>
            <${DataTable} columns=${COLUMNS} rows=${rejected} caption="Rejected rows" most=${100} rowKey=${(/** @type {any} */ row) => `${row.line} ${row.column}`} />`}`;
}
