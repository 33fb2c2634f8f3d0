// What runs on the desktops, and what it takes.

import { askBehind } from "../asked.js";
import { bytes, count, percent } from "../format.js";
import { spansOf } from "../parts/behind.js";
import { Bar } from "../parts/bar-chart.js";
import { allRows } from "../parts/all-rows.js";
import { DataTable } from "../parts/data-table.js";
import { DesktopLink } from "../parts/links.js";
import { Loaded, Warnings } from "../parts/problem.js";
import { bounds, useRange } from "../parts/range.js";
import { Text, visible } from "../parts/text.js";
import { useResource } from "../resource.js";
import { route, setQuery } from "../router.js";
import { html } from "../vendor/preact.js";

/** @typedef {import("../../../../wasm/js/types.js").ProcessRow} Process */

/** Names that are read: more than a fleet has, in a few requests. */
const NAMES_MAX = 2000;
/** Rows that are drawn. */
const SHOWN_MAX = 200;

/** What the interface sorts by, and the column of it. @type {Record<string, string>} */
const SORTS = { cpuAvg: "cpu", memoryAvg: "memory" };

export default function Processes() {
    const range = useRange();
    const { instanceId, sort = "-cpuAvg", q = "" } = route.value.query;
    const found = useResource(JSON.stringify([range.key, instanceId, sort]), (signal) => allRows("/query/processes", { from: range.from, to: range.to, instanceId, sort: sort.replace(/\w+$/, (name) => SORTS[name] ?? name) }, NAMES_MAX, signal));
    return html`<div class="head"><h1>Processes</h1></div>
        <div class="row choices">
            <label class="compact">Name <input type="search" value=${q} placeholder="part of a name" onInput=${(/** @type {any} */ event) => setQuery({ q: event.target.value || undefined }, "q")} /></label>
            ${instanceId && html`<span>On <${DesktopLink} id=${instanceId} /></span><button type="button" onClick=${() => setQuery({ instanceId: undefined })}>Show all desktops</button>`}
        </div>
        <${Loaded} of=${found}>${(/** @type {{ rows: Process[], warnings: string[] }} */ data) => html`<${Shown} ...${data} range=${range} q=${q.toLowerCase()} sort=${sort} />`}<//>`;
}

/** The desktops that ran a process in the range. @param {string} name @param {import("../parts/range.js").Range} range @returns {import("../asked.js").Behind} */
function running(name, range) {
    const items = (/** @type {any} */ { processes }) => (processes ?? []).filter((/** @type {any} */ each) => each.processName === name);
    return {
        title: `Desktops that ran ${visible(name)}`,
        stream: "processes",
        spans: spansOf(...bounds(range)),
        accept: (record) => items(record).length > 0,
        value: { title: "CPU, max", text: percent, of: (record) => items(record).reduce((/** @type {number} */ sum, /** @type {any} */ { processorUsage = 0 }) => sum + processorUsage, 0) },
    };
}

/** @param {{ rows: Process[], warnings: string[], range: import("../parts/range.js").Range, q: string, sort: string }} properties */
function Shown({ rows, warnings, range, q, sort }) {
    const named = rows.filter(({ processName }) => processName.toLowerCase().includes(q));
    const greatest = (/** @type {keyof Process} */ name) => Math.max(...rows.map((row) => Number(row[name] ?? 0)));
    /** A number with its bar, in proportion to the greatest of both columns. @param {keyof Process} name @param {string} title @param {(value: any) => string} text @param {number} max @param {number} tone */
    const measured = (name, title, text, max, tone) => ({ name, title, number: true, show: (/** @type {Process} */ row) => html`<span class="measured"><${Bar} value=${/** @type {number} */ (row[name])} max=${max} tone=${tone} />${text(row[name])}</span>` });
    const [cpu, memory] = [greatest("cpuMax"), greatest("memoryMax")];
    const columns = [
        { name: "processName", title: "Process", show: (/** @type {Process} */ row) => html`<span class="named"><${Text} text=${row.processName} /></span>` },
        { name: "machines", title: "Desktops", number: true, show: (/** @type {Process} */ row) => html`<button type="button" class="number-link" aria-label=${`${count(row.machines)} desktops ran ${visible(row.processName)}: show them`} onClick=${() => askBehind(running(row.processName, range))}>${count(row.machines)}</button>` },
        { name: "reports", title: "Reports", number: true, show: (/** @type {Process} */ row) => count(row.reports) },
        measured("cpuAvg", "CPU, mean", percent, cpu, 1),
        measured("cpuMax", "CPU, max", percent, cpu, 1),
        measured("memoryAvg", "Memory, mean", bytes, memory, 2),
        measured("memoryMax", "Memory, max", bytes, memory, 2),
    ];
    return html`<${Warnings} warnings=${warnings} />
        <${DataTable}
            caption="Processes"
            columns=${columns}
            rows=${named}
            most=${SHOWN_MAX}
            rowKey=${(/** @type {Process} */ row) => row.processName}
            file="processes"
            sort=${sort}
            onSort=${(/** @type {string} */ by) => setQuery({ sort: by === "-cpuAvg" ? undefined : by })}
            empty=${q === "" ? "No desktop reported its processes in this range." : "No process has this in its name."}
        />`;
}
