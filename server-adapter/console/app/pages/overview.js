// The home: what needs attention, beside it the fleet at a glance, below it how it went and what was done last.

import { get } from "../api.js";
import { DAY_MS, count, decimal, duration, percent } from "../format.js";
import { KINDS } from "../parts/advice-kinds.js";
import { BarChart } from "../parts/bar-chart.js";
import { DataTable } from "../parts/data-table.js";
import { Gauge } from "../parts/gauge.js";
import { LineChart } from "../parts/line-chart.js";
import { CardLink, UserLink } from "../parts/links.js";
import { fleetLogons } from "../parts/logon-sentence.js";
import { Loaded, Warnings, leavesOut } from "../parts/problem.js";
import { Sparkline } from "../parts/sparkline.js";
import { Strip } from "../parts/strip.js";
import { Text } from "../parts/text.js";
import { useResource } from "../resource.js";
import { WHOLE_FLEET, href } from "../router.js";
import { may } from "../session.js";
import { html } from "../vendor/preact.js";
import { Attention } from "./attention.js";
import { Latest } from "./latest.js";

const EVERY_MS = 15_000;
/** The load is filed by the hour. */
const LOAD_EVERY_MS = 300_000;
/** It takes the server longest, and changes by the day. */
const ADVICE_EVERY_MS = 3_600_000;
const WORST = 5;
/** What changes the counts, besides telemetry, which the period covers. */
const changes = (/** @type {import("../live.js").FleetEvent} */ { type }) => !type.startsWith("key.") && type !== "telemetry.filed";

export default function Overview() {
    const fleet = useResource("fleet", (signal) => get("/query/fleet", {}, signal), { every: EVERY_MS, on: changes });
    return html`<div class="head"><h1>Overview</h1></div>
        <${Loaded} of=${fleet}>${(/** @type {any} */ data) => (data.workSpaces === 0 ? html`<${Empty} />` : html`<${Fleet} fleet=${data} />`)}<//>`;
}

/** The first steps. */
function Empty() {
    if (!may("admin")) return html`<section class="panel"><h2>The fleet is empty</h2><p>A key of scope <code>admin</code> loads it: by an import, or by <a href=${href("api")}>the API</a>.</p></section>`;
    return html`<section class="panel first-steps">
        <h2>The fleet is empty</h2>
        <ol>
            <li><b>Bring your desktops in.</b> Import a list from CSV or NDJSON; its columns are recognised, and you see the first rows before anything is stored.</li>
            <li><b>Connect an agent</b>, so that load, logons and activity are known. A ready command is on the same page.</li>
            <li><b>Or look around first:</b> load the demo fleet, and remove it later.</li>
        </ol>
        <p><a class="button primary" href=${href("import")}>Get started</a></p>
    </section>`;
}

/** @param {{ fleet: any }} properties */
function Fleet({ fleet }) {
    return html`<div class="home">
            <div class="home-part"><${Attention} fleet=${fleet} /><${Latest} /></div>
            <div class="home-part"><${Glance} fleet=${fleet} /><${Savings} /></div>
        </div>
        <${Load} />
        <div class="panels wide">
            <${Worst} />
            <${Groups} title="Region" counts=${fleet.byRegion} filter="region" />
            <${Groups} title="Compute type" counts=${fleet.byComputeType} filter="computeTypeName" />
            <${Groups} title="Running mode" counts=${fleet.byRunningMode} filter="runningMode" />
        </div>`;
}

/** What the fleet is now. @param {{ fleet: any }} properties */
function Glance({ fleet }) {
    const logons = useResource("logons of a day", async (signal) => ({ day: await fleetLogons("-24h", signal), usual: await fleetLogons("-28d", signal) }), { every: LOAD_EVERY_MS });
    const { day, usual } = logons.data ?? { day: {}, usual: {} };
    return html`<section class="panel" aria-labelledby="glance">
        <h2 id="glance"><a class="big" href=${href("desktops", undefined, WHOLE_FLEET)}>${count(fleet.workSpaces)}</a> ${fleet.workSpaces === 1 ? "desktop" : "desktops"}</h2>
        <${Strip} counts=${fleet.byState} />
        <dl class="facts glance">
            <dt><a href=${href("desktops", undefined, { ...WHOLE_FLEET, lastSeen: "ge.-15m" })}>Reporting</a></dt><dd><${Gauge} label="Desktops reporting" value=${fleet.reporting15m} max=${fleet.workSpaces} text=${`${count(fleet.reporting15m)} of ${count(fleet.workSpaces)}`}>${count(fleet.reporting15m)} <span class="note">in 15 min</span><//></dd>
            <dt><a href=${href("logons")}>Logon, median</a></dt><dd>${(day.count ?? 0) === 0 ? html`<span class="note">no logon in 24 h</span>` : html`${duration(day.totalP50)} <span class="note">in 24 h; usually ${duration(usual.totalP50)}</span>`}</dd>
            <dt><a href=${href("audit", undefined, { tab: "running" })}>Actions running</a></dt><dd>${count(fleet.inTransition)}</dd>
            <dt><a href=${href("holds")}>On hold</a></dt><dd>${count(fleet.onHold)}</dd>
        </dl>
    </section>`;
}

/** @typedef {import("../../../../wasm/js/types.js").AdviceTotalRow} Total */

/** What following the advice saves. */
function Savings() {
    const totals = useResource("totals", (signal) => get("/query/advice/totals", { from: "-30d" }, signal), { every: ADVICE_EVERY_MS });
    return html`<section class="panel" aria-labelledby="savings">
        <${Loaded} of=${totals}>${(/** @type {{ rows: Total[] }} */ { rows }) => {
            const found = rows.filter(({ desktops }) => desktops > 0);
            const priced = found.some(({ savingPerMonth }) => savingPerMonth !== null);
            const sum = found.reduce((sum, { savingPerMonth }) => sum + (savingPerMonth ?? 0), 0);
            return html`<h2 id="savings">${priced ? html`Save up to <a class="big" href=${href("advice")}>${decimal(sum, 0)}</a> a month` : "Advice"}</h2>
                ${found.length === 0 && html`<p class="note">No advice: as far as telemetry says, no desktop is unused or of the wrong size.</p>`}
                ${found.length > 0 && html`<table class="plain totals"><caption class="hidden">Advice by kind</caption><tbody>${found.map(({ advice, desktops, savingPerMonth }) => html`<tr key=${advice}>
                    <th scope="row"><a href=${href("advice", undefined, { kind: advice })}>${KINDS[advice]?.title ?? advice}</a></th>
                    <td class="number">${count(desktops)} <span class="note">${desktops === 1 ? "desktop" : "desktops"}</span></td>
                    ${priced && html`<td class="number">${savingPerMonth === null ? "–" : decimal(savingPerMonth, 0)}</td>`}
                </tr>`)}</tbody></table>`}
                ${!priced && found.length > 0 && html`<p class="note">With prices in the server's configuration (<code>cost.prices</code>) this is in money.</p>`}`;
        }}<//>
    </section>`;
}

/** Processor and memory of the fleet. */
function Load() {
    const series = useResource("load", (signal) => get("/query/series", { metrics: "cpu,memory", from: "-24h" }, signal), { every: LOAD_EVERY_MS });
    const chart = (/** @type {string} */ title, /** @type {string} */ metric, /** @type {number} */ tone, /** @type {any} */ { rows, stepSeconds }) => html`<section class="panel">
        <${LineChart} title=${title} rows=${rows} series=${[{ name: `${metric}Avg`, label: "mean", tone }, { name: `${metric}P95`, label: "p95", tone }]} amount=${{ name: "count", label: "records" }} unit="%" max=${100} step=${stepSeconds} height=${126} file=${`fleet-${metric}`} />
    </section>`;
    return html`<${Loaded} of=${series}>${(/** @type {any} */ data) => html`<${Warnings} warnings=${data.warnings.filter(leavesOut)} />
        <div class="panels wide">${chart("CPU of the fleet, 24 h", "cpu", 1, data)}${chart("Memory of the fleet, 24 h", "memory", 2, data)}</div>`}<//>`;
}

/** The desktops whose processors are the busiest, with their day. */
function Worst() {
    const worst = useResource("worst", loadWorst, { every: LOAD_EVERY_MS });
    return html`<section class="panel">
        <h2>Highest CPU since yesterday 00:00 UTC</h2>
        <${Loaded} of=${worst}>${(/** @type {Awaited<ReturnType<typeof loadWorst>>} */ { rows, warnings }) => html`<${DataTable} caption="The desktops with the highest 95th percentile of CPU" columns=${WORST_COLUMNS} rows=${rows} rowKey=${(/** @type {Busy} */ row) => row.workSpId} file="busiest-processors" sort="-p95" empty="No desktop reported its CPU." />
            <${Warnings} warnings=${warnings} />`}<//>
    </section>`;
}

/** @typedef {{ workSpId: string, username: string | null, p95: number, values: (number | null)[] }} Busy */

const WORST_COLUMNS = [
    { name: "workSpId", title: "Desktop", show: (/** @type {Busy} */ { workSpId }) => html`<${CardLink} id=${workSpId} />` },
    { name: "username", title: "User", show: (/** @type {Busy} */ { username }) => html`<${UserLink} name=${username} />` },
    { name: "values", title: "CPU", fixed: true, unsaved: true, show: (/** @type {Busy} */ { values }) => html`<${Sparkline} values=${values} max=${100} label="CPU, %" width=${140} />` },
    { name: "p95", title: "p95", number: true, show: (/** @type {Busy} */ { p95 }) => percent(p95) },
];

/** @param {AbortSignal} signal */
async function loadWorst(signal) {
    // What is asked for a day is of whole days: so are the lines.
    const from = `${new Date(Date.now() - DAY_MS).toISOString().slice(0, 10)}T00:00:00Z`;
    const { rows, warnings } = await get("/query/top", { metric: "cpu", statistic: "p95", from, limit: WORST }, signal);
    const load = async (/** @type {import("../../../../wasm/js/types.js").TopRow} */ { workSpId, instanceId, username, value }) => {
        const { rows: steps } = await get("/query/series", { instanceId, metrics: "cpu", from, step: "30m" }, signal);
        return { workSpId: workSpId ?? instanceId, username, p95: value, values: steps.map((/** @type {any} */ { cpuAvg }) => cpuAvg) };
    };
    return { rows: await Promise.all(rows.map(load)), warnings: /** @type {string[]} */ (warnings) };
}

/** The greatest groups of the fleet, each a link to its desktops. @param {{ title: string, counts: Record<string, number>, filter: string }} properties */
function Groups({ title, counts, filter }) {
    const groups = Object.entries(counts).sort(([, one], [, other]) => other - one);
    const rows = groups.slice(0, 10).map(([name, value]) => {
        const listed = name !== "other" && name !== "unknown";
        return { key: name, label: listed ? html`<a href=${href("desktops", undefined, { ...WHOLE_FLEET, [filter]: name })}><${Text} text=${name} /></a>` : name, value, text: count(value) };
    });
    return html`<section class="panel"><h2>${title}</h2><${BarChart} caption=${title} rows=${rows} tone=${0} /></section>`;
}
