// The store: size, queue, commits, upkeep, backup; where the engine runs in the browser, also what that allows.

import { host, request } from "../api.js";
import { csv, download } from "../csv.js";
import { ago, bytes, count, decimal, duration, percent, time } from "../format.js";
import { Copy } from "../parts/copy.js";
import { Loaded } from "../parts/problem.js";
import { Sparkline } from "../parts/sparkline.js";
import { useResource } from "../resource.js";
import { may } from "../session.js";
import { html, useRef } from "../vendor/preact.js";
import { Backups } from "./backups.js";
import { BrowserStore } from "./browser-store.js";
import { Nodes } from "./nodes.js";

const EVERY_MS = 10_000;
/** An hour of them. */
const COURSE_MAX = 360;

/** @typedef {Record<string, number>} Metrics values by series, without `deskfleet_` */
/** @typedef {{ at: number, text: string, metrics: Metrics, ready: string | undefined, node: boolean }} Reading `node`: whether the server is one of several nodes */

/** Reads the metrics of the fleet, and over a server those of the server, and whether it is ready. @param {AbortSignal} signal @returns {Promise<Reading>} */
async function read(signal) {
    const answered = (/** @type {string} */ path) => request("GET", path, { signal });
    const server = host().kind === "server";
    const [answer, process, ready] = await Promise.all([
        answered("/query/metrics"),
        // Of a server behind a proxy, `/metrics` may be kept for those who watch it.
        server ? answered("/metrics").then((response) => response.text()).catch(() => "") : "",
        server ? host().fetch("/readyz", { signal }).then(async (response) => (response.ok ? "ready" : await response.text()), () => undefined) : undefined,
    ]);
    const fleet = await answer.text();
    const text = process || fleet;
    const node = answer.headers.has("x-deskfleet-position");
    return { at: Date.now(), text, metrics: { ...parsed(fleet), ...parsed(process) }, ready, node };
}

/** The samples of a text in Prometheus' format. @param {string} text @returns {Metrics} */
function parsed(text) {
    const samples = text.matchAll(/^deskfleet_(\w+(?:\{.*\})?) (\S+)$/gm);
    return Object.fromEntries([...samples].map(([, name, value]) => [name, Number(value)]));
}

export default function Store() {
    const reading = useResource("store", read, { every: EVERY_MS });
    const course = useRef(/** @type {Reading[]} */ ([]));
    if (reading.data !== undefined && course.current.at(-1) !== reading.data) course.current = [...course.current, reading.data].slice(-COURSE_MAX);
    return html`<div class="head"><h1>Store</h1></div>
        <${Loaded} of=${reading}>${(/** @type {Reading} */ data) => html`<${Shown} reading=${data} course=${course.current} reload=${reading.reload} />`}<//>`;
}

/** Upper limits of the commits' histogram, in seconds. */
const LIMITS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

/** @typedef {[name: string, value: string]} Fact */

/** What is known, by area. @param {Reading} reading @returns {Record<string, Fact[]>} */
function facts({ metrics: m, at, ready }) {
    const date = (/** @type {number | undefined} */ seconds) => (seconds ? new Date(1000 * seconds).toISOString() : undefined);
    const half = LIMITS.find((limit) => 2 * m[`commit_duration_seconds_bucket{le="${limit}"}`] >= m.commits_total);
    /** @type {Record<string, Fact[]>} */
    const areas = {
        Queue: [
            ["Still being processed", count(m.queue_records)],
            ["Limit", count(m.queue_records_max)],
            ["In the file", bytes(m.queue_bytes)],
            ["Oldest", m.queue_records > 0 ? `${duration(1000 * m.oldest_queued_record_age_seconds)} old` : "–"],
            ["Processed since the start", count(m.records_filed_total)],
        ],
        Commits: [
            ["Since the start", count(m.commits_total)],
            ["Writes per commit", m.commits_total > 0 ? decimal(m.commit_mutations_total / m.commits_total) : "–"],
            ["Median commit", half === undefined ? "–" : `${half * 1000} ms`],
            ["Failed", count(m.commit_failures_total)],
            ["Reopened after error", count(m.store_reopened_total)],
        ],
        Upkeep: [
            ["Last round", ago(date(m.maintenance_last_success_timestamp_seconds), at)],
            ["Failed rounds", count(m.maintenance_failures_total)],
            ["Retention applied up to", time(date(m.retention_applied_timestamp_seconds))],
        ],
    };
    if (ready === undefined) {
        // Only the server counts commits and rounds of upkeep.
        return { Queue: areas.Queue.slice(0, 4), Upkeep: areas.Upkeep.slice(2) };
    }
    const version = /version="([^"]*)"/.exec(Object.keys(m).find((name) => name.startsWith("build_info")) ?? "")?.[1];
    areas.Server = [
        ["Status", ready],
        ["Version", version ?? "–"],
        ["Connections", `${count(m.connections)} of ${count(m.connections_max)}`],
        ["Internal errors", count(m.internal_errors_total)],
        ["File removed or replaced", m.file_displaced === 1 ? "yes: writes are refused until it is back" : "no"],
    ];
    return areas;
}

/** @param {{ reading: Reading, course: Reading[], reload: () => void }} properties */
function Shown({ reading, course, reload }) {
    const { metrics, text, ready, node } = reading;
    const areas = facts(reading);
    const used = (100 * metrics.queue_records) / metrics.queue_records_max;
    const save = () => download("store.csv", csv(["area", "name", "value"], Object.entries(areas).flatMap(([area, list]) => list.map(([name, value]) => ({ area, name, value })))));
    return html`${ready !== undefined && ready !== "ready" && html`<p class="problem" role="alert">The store cannot be used: ${ready}</p>`}
        <dl class="figures">
            <div><dt>Size</dt><dd>${bytes(metrics.store_bytes)}</dd></div>
            <div><dt>Queue</dt><dd>${count(metrics.queue_records)} <small>${percent(used)} of limit</small></dd></div>
            <div><dt>Records a second</dt><dd>${decimal(metrics.records_per_second)}</dd></div>
        </dl>
        <div class="table-tools">
            <span class="note">Updates every 10 s</span>
            <button type="button" class="quiet" onClick=${() => download("metrics.txt", text, "text/plain;charset=utf-8")}>Save the metrics, for Prometheus</button>
            <button type="button" class="quiet" onClick=${save}>Export CSV</button>
        </div>
        <div class="panels">
            ${Object.entries(areas).map(
                ([area, list]) => html`<section key=${area} class="panel">
                    <h2>${area}</h2>
                    ${area === "Queue" && html`<${Gauge} used=${used} course=${course.map(({ metrics }) => metrics.queue_records)} />`}
                    <dl class="facts">${list.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
                </section>`,
            )}
            ${host().kind === "engine" ? html`<${BrowserStore} onChanged=${reload} />` : html`${may("admin") && html`${node && html`<${Nodes} />`}<${Backups} />`}<${Check} />`}
        </div>`;
}

const Check = () => html`<section class="panel">
    <h2>Check</h2>
    <p>Reads a whole store and says whether every record is as it should be. The store must not be open: check a backup, or stop the server.</p>
    <${Copy} text="deskfleet check --data deskfleet-backup.redb" label="the command" />
</section>`;

/** @param {{ used: number, course: number[] }} properties */
function Gauge({ used, course }) {
    return html`<meter class="gauge" min="0" max="100" low="50" high="80" optimum="0" value=${used} aria-label="Queue, part of its limit">${percent(used)}</meter>
        ${course.length > 1 && html`<div class="row"><${Sparkline} values=${course} label="Queue while this page is open" width=${240} /><span class="note">while this page is open</span></div>`}`;
}
