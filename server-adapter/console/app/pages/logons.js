// How long logons took: quantiles over time, by phase, and the slowest.

import { get } from "../api.js";
import { askBehind } from "../asked.js";
import { DAY_MS, duration, time } from "../format.js";
import { spansOf } from "../parts/behind.js";
import { Bar } from "../parts/bar-chart.js";
import { DataTable } from "../parts/data-table.js";
import { LineChart } from "../parts/line-chart.js";
import { logon } from "../parts/logons.js";
import { useMarks } from "../parts/marks.js";
import { DesktopLink, UserLink } from "../parts/links.js";
import { Loaded, Warnings } from "../parts/problem.js";
import { bounds, rangeText, useRange, useScope } from "../parts/range.js";
import { useResource } from "../resource.js";
import { route, setQuery } from "../router.js";
import { html } from "../vendor/preact.js";

/** @typedef {import("../../../../wasm/js/types.js").StartupReport} StartupReport */
/** @typedef {import("../../../../wasm/js/types.js").SlowStartup & Record<string, any>} Slow */

/** The whole and its phases, each with its colour in every chart. */
const PHASES = [
    { name: "total", title: "Total", label: "total", tone: 0 },
    { name: "profile", title: "Profile", label: "profile", tone: 1 },
    { name: "groupPolicy", title: "Group policy", label: "group policy", tone: 2 },
    { name: "shell", title: "Shell", label: "shell", tone: 3 },
    { name: "unattributed", title: "Other", label: "other", tone: 4 },
];
/** One step that holds any range: the next ends in 2079. */
const WHOLE = "20000d";

export default function Logons() {
    const range = useRange();
    const filter = useScope();
    const key = JSON.stringify([range.key, filter]);
    const logons = useResource(key, (signal) => load(range, filter, signal));
    const chosen = PHASES.find(({ name }) => name === route.value.query.phase) ?? PHASES[0];
    return html`<div class="head"><h1>Logons</h1></div>
        <div class="row choices">
            <label class="compact">Phase <select value=${chosen.name} onChange=${(/** @type {any} */ event) => setQuery({ phase: event.target.value })}>
                ${PHASES.map(({ name, title }) => html`<option key=${name} value=${name}>${title}</option>`)}
            </select></label>
        </div>
        <${Loaded} of=${logons}>${(/** @type {Found} */ found) => html`<${Shown} found=${found} phase=${chosen} range=${range} />`}<//>`;
}

/** Logons of a desktop that may have begun at the same time. */
const SAME_TIME_MAX = 5;

/** @typedef {Awaited<ReturnType<typeof load>>} Found */

/** @param {import("../parts/range.js").Range} range @param {Record<string, string | undefined>} filter @param {AbortSignal} signal */
async function load(range, filter, signal) {
    const [from, to] = bounds(range);
    const query = { from: range.from, to: range.to, ...filter };
    /** @type {StartupReport[]} */
    const [report, whole] = await Promise.all([
        get("/query/startup", { ...query, step: to - from > 2 * DAY_MS ? "1d" : "1h" }, signal),
        get("/query/startup", { ...query, step: WHOLE }, signal),
    ]);
    const slowest = await Promise.all((report.slowest ?? []).map((slow) => withPhases(slow, signal)));
    return { report, whole: /** @type {Record<string, any>} */ (whole.rows.at(-1) ?? {}), slowest };
}

/** A slow logon with the phases of its record. @param {import("../../../../wasm/js/types.js").SlowStartup} slow @param {AbortSignal} signal @returns {Promise<Slow>} */
async function withPhases(slow, signal) {
    const { instanceId, at, totalMs } = slow;
    const { records } = await get("/operator/telemetry/startup", { instanceId, from: at, limit: SAME_TIME_MAX }, signal);
    const { profileMs = null, groupPolicyMs = null, shellMs = null, unattributedMs = null } = records.map(logon).find((/** @type {any} */ record) => record.totalMs === totalMs) ?? {};
    return { ...slow, profileMs, groupPolicyMs, shellMs, unattributedMs };
}

/** @param {{ found: Found, phase: typeof PHASES[number], range: import("../parts/range.js").Range }} properties */
function Shown({ found: { report, whole, slowest }, phase: { name, title, tone }, range }) {
    const quantiles = ["P50", "P90", "P95"].map((quantile) => ({ name: name + quantile, label: quantile.toLowerCase(), tone }));
    const medians = PHASES.slice(1).map((each) => ({ name: `${each.name}P50`, label: each.label, tone: each.tone }));
    const marks = useMarks(range);
    const logonsIn = (/** @type {string} */ when, /** @type {[number, number][]} */ spans) => askBehind({ title: `Logons, ${when}`, stream: "startup", spans, value: { title: "Slowest", of: ({ totalMs }) => totalMs, text: duration } });
    const open = (/** @type {number} */ from, /** @type {number} */ to) => logonsIn(`${time(from)} to ${time(to)}`, [[from, to]]);
    const [from, to] = bounds(range);
    const axis = { unit: "ms", step: report.stepSeconds, from, to, marks, open };
    const amount = { name: "count", label: "logons" };
    return html`<${Warnings} warnings=${report.warnings} />
        <div class="panels wide">
            <section class="panel"><${LineChart} title=${title} rows=${report.rows} series=${quantiles} ...${axis} amount=${amount} file=${`logons-${name}`} /></section>
            <section class="panel"><${LineChart} title="Median of each phase" rows=${report.rows} series=${medians} ...${axis} amount=${amount} file="logons-phases" /></section>
        </div>
        <section class="panel">
            <div class="head"><h2>Slowest logons</h2><button type="button" class="quiet" onClick=${() => logonsIn(rangeText(range), spansOf(from, to))}>All desktops with logons</button></div>
            <${Slowest} rows=${slowest} whole=${whole} />
        </section>`;
}

/** @param {{ rows: Slow[], whole: Record<string, any> }} properties */
function Slowest({ rows, whole }) {
    const max = Math.max(...rows.map(({ totalMs }) => totalMs), whole.totalP95 ?? 0);
    const phases = PHASES.map(({ name, title, tone }) => ({
        name: `${name}Ms`,
        title,
        number: true,
        show: (/** @type {Slow} */ row) => html`${duration(row[`${name}Ms`])}<${Bar} value=${row[`${name}Ms`]} max=${max} whole=${row.totalMs} ticks=${[whole[`${name}P50`] ?? null, whole[`${name}P95`] ?? null]} tone=${tone} />`,
    }));
    const columns = [
        { name: "instanceId", title: "Desktop", show: (/** @type {Slow} */ row) => html`<${DesktopLink} id=${row.instanceId} />` },
        { name: "username", title: "User", show: (/** @type {Slow} */ row) => html`<${UserLink} name=${row.username} />` },
        { name: "at", title: "Time", show: (/** @type {Slow} */ row) => html`<span class="nowrap">${time(row.at)}</span>` },
        ...phases,
    ];
    return html`<${DataTable} caption="Slowest logons" columns=${columns} rows=${rows} rowKey=${(/** @type {Slow} */ row) => `${row.instanceId} ${row.at}`} sort="-totalMs" file="slowest-logons" empty="There are no logons in this range." />
        ${rows.length > 0 && html`<p class="note">Coloured: this phase. Grey: whole logon. Ticks: fleet median (thin, ${duration(whole.totalP50)} in total) and 95th percentile (thick, ${duration(whole.totalP95)}). Phases may overlap: a record holds how long each took, not when.</p>`}`;
}
