// The fleet in numbers: states, load, what is running, what happened last.

import { get } from "../api.js";
import { ago, count, look, percent } from "../format.js";
import { Result, actionTitle } from "../parts/audit-words.js";
import { BarChart } from "../parts/bar-chart.js";
import { DataTable } from "../parts/data-table.js";
import { Gauge } from "../parts/gauge.js";
import { LineChart } from "../parts/line-chart.js";
import { DesktopLink, UserLink } from "../parts/links.js";
import { Loaded, Problem, Warnings, leavesOut } from "../parts/problem.js";
import { Sparkline } from "../parts/sparkline.js";
import { State } from "../parts/state.js";
import { Strip } from "../parts/strip.js";
import { Text } from "../parts/text.js";
import { useResource } from "../resource.js";
import { href } from "../router.js";
import { html } from "../vendor/preact.js";

const EVERY_MS = 15_000;
/** The load is filed by the hour. */
const LOAD_EVERY_MS = 300_000;
const DAY_MS = 86_400_000;
const ACTIVITIES = 6;
const WORST = 5;
/** What changes the counts, besides telemetry, which the period covers. */
const changes = (/** @type {import("../live.js").FleetEvent} */ { type }) => !type.startsWith("key.") && type !== "telemetry.filed";

export default function Overview() {
    const fleet = useResource("fleet", (signal) => get("/query/fleet", {}, signal), { every: EVERY_MS, on: changes });
    return html`<div class="head"><h1>Overview</h1></div>
        <${Loaded} of=${fleet}>${(/** @type {any} */ data) => (data.workSpaces === 0 ? html`<${Empty} />` : html`<${Fleet} fleet=${data} />`)}<//>`;
}

function Empty() {
    return html`<section class="panel">
        <h2>The fleet is empty</h2>
        <p>Load the demo fleet to look around, import your desktops, or connect an agent.</p>
        <p><a class="button" href=${href("import")}>Begin</a></p>
    </section>`;
}

/** @param {{ fleet: any }} properties */
function Fleet({ fleet }) {
    return html`<${Attention} /><section class="panel" aria-label="Desktops by state"><${Strip} counts=${fleet.byState} /></section>
        <dl class="figures">
            <${Figure} title="Desktops" to=${href("desktops")}>${count(fleet.workSpaces)}<//>
            <${Figure} title="Reporting"><${Gauge} label="Desktops reporting" value=${fleet.reporting15m} max=${fleet.workSpaces} text=${`${count(fleet.reporting15m)} of ${count(fleet.workSpaces)}`}>${count(fleet.reporting15m)} <small>in 15 min</small><//><//>
            <${Figure} title="Actions running" to=${href("audit", undefined, { tab: "running" })}>${count(fleet.inTransition)}<//>
            <${Figure} title="On hold" to=${href("holds")}>${count(fleet.onHold)}<//>
        </dl>
        <${Load} />
        <div class="panels wide"><${Worst} /><${Latest} /></div>
        <div class="panels">
            <${Groups} title="Running mode" counts=${fleet.byRunningMode} filter="runningMode" />
            <${Groups} title="Compute type" counts=${fleet.byComputeType} filter="computeTypeName" />
            <${Groups} title="Region" counts=${fleet.byRegion} filter="region" />
        </div>`;
}

/** What is wrong now, the worst first. */
function Attention() {
    const wrong = useResource("conditions", (signal) => get("/query/conditions", {}, signal), { every: EVERY_MS });
    const now = Date.now();
    return html`<section class="panel">
        <h2>Needs attention</h2>
        <${Loaded} of=${wrong}>${(/** @type {{ rows: import("../../../../wasm/js/types.js").Condition[] }} */ { rows }) => html`
            ${rows.length === 0 && "Nothing."}
            <ul class="latest">
                ${rows.map(
                    ({ code, severity, since, text, count: number, subjects }) => html`<li key=${code}>
                        <span><span class="state ${severity === "critical" ? "bad" : "warn"}">${severity}</span> ${text} ${number && `(${number})`}</span>
                        <span class="note">${/^(Desktops|Fleet)/.test(code) && subjects.map((id) => html`<${DesktopLink} key=${id} id=${id} /> `)}since ${ago(since, now)}</span>
                    </li>`,
                )}
            </ul>`}<//>
    </section>`;
}

/** @param {{ title: string, to?: string, children?: any }} properties */
function Figure({ title, to, children }) {
    return html`<div><dt>${to ? html`<a href=${to}>${title}</a>` : title}</dt><dd>${children}</dd></div>`;
}

/** Processor and memory of the fleet. */
function Load() {
    const series = useResource("load", (signal) => get("/query/series", { metrics: "cpu,memory", from: "-24h" }, signal), { every: LOAD_EVERY_MS });
    const chart = (/** @type {string} */ title, /** @type {string} */ metric, /** @type {number} */ tone, /** @type {any} */ { rows, stepSeconds }) => html`<section class="panel">
        <${LineChart} title=${title} rows=${rows} series=${[{ name: `${metric}Avg`, label: "mean", tone }, { name: `${metric}P95`, label: "p95", tone }]} amount=${{ name: "count", label: "desktops" }} unit="%" max=${100} step=${stepSeconds} height=${126} file=${`fleet-${metric}`} />
    </section>`;
    return html`<${Loaded} of=${series}>${(/** @type {any} */ data) => html`<${Warnings} warnings=${data.warnings.filter(leavesOut)} />
        <div class="panels wide">${chart("Processor of the fleet, 24 h", "cpu", 1, data)}${chart("Memory of the fleet, 24 h", "memory", 2, data)}</div>`}<//>`;
}

/** The desktops whose processors are the busiest, with their day. */
function Worst() {
    const worst = useResource("worst", loadWorst, { every: LOAD_EVERY_MS });
    return html`<section class="panel">
        <h2>Busiest processors, since yesterday (UTC)</h2>
        <${Loaded} of=${worst}>${(/** @type {Awaited<ReturnType<typeof loadWorst>>} */ { rows, warnings }) => html`<${DataTable} caption="The desktops with the greatest 95th percentile of processor use" columns=${WORST_COLUMNS} rows=${rows} rowKey=${(/** @type {Busy} */ row) => row.workSpId} file="busiest-processors" sort="-p95" empty="No desktop reported its processor." />
            <${Warnings} warnings=${warnings} />`}<//>
    </section>`;
}

/** @typedef {{ workSpId: string, username: string | null, p95: number, values: (number | null)[] }} Busy */

const WORST_COLUMNS = [
    { name: "workSpId", title: "Desktop", show: (/** @type {Busy} */ { workSpId }) => html`<${DesktopLink} id=${workSpId} />` },
    { name: "username", title: "User", show: (/** @type {Busy} */ { username }) => html`<${UserLink} name=${username} />` },
    { name: "values", title: "Processor", fixed: true, unsaved: true, show: (/** @type {Busy} */ { values }) => html`<${Sparkline} values=${values} max=${100} label="Processor, %" width=${140} />` },
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
        return { key: name, label: listed ? html`<a href=${href("desktops", undefined, { [filter]: name })}><${Text} text=${name} /></a>` : name, value, text: count(value) };
    });
    return html`<section class="panel"><h2>${title}</h2><${BarChart} caption=${title} rows=${rows} tone=${0} /></section>`;
}

function Latest() {
    const audit = useResource("latest", (signal) => get("/api/Information/GetAdminActivity", { numberOfActivities: ACTIVITIES }, signal), { on: changes });
    const now = Date.now();
    return html`<section class="panel">
        <h2>Latest actions</h2>
        <${Problem} error=${audit.error} retry=${audit.reload} />
        ${audit.data?.length === 0 && html`<p class="note">Nobody has done anything yet.</p>`}
        <ul class="latest">
            ${(audit.data ?? []).map(
                (/** @type {any} */ row) => html`<li key=${row.id}>
                    <span>${actionTitle(row.action)} ${row.workSpaceId && html`<${DesktopLink} id=${row.workSpaceId} />`}</span>
                    <span class="note"><${Result} result=${row.result} />${row.newState && look(row.newState).label !== row.result ? html` · <${State} state=${row.newState} />` : ""} · <${Text} text=${row.requester} /> · ${ago(row.activityTime, now)}</span>
                </li>`,
            )}
        </ul>
        <p><a href=${href("audit")}>All actions and the audit</a></p>
    </section>`;
}

