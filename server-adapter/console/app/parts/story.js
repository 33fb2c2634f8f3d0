// One desktop over time: its timeline and its load on one axis, and each row of the timeline in a list.

import { get, pages } from "../api.js";
import { count, duration, time } from "../format.js";
import { useResource } from "../resource.js";
import { route, setQuery } from "../router.js";
import { html, useRef, useState } from "../vendor/preact.js";
import { actionTitle } from "./audit-words.js";
import { DataTable } from "./data-table.js";
import { OVERLOAD } from "./level.js";
import { LineChart } from "./line-chart.js";
import { marksOf } from "./marks.js";
import { Loaded, Warnings } from "./problem.js";
import { bounds, useRange } from "./range.js";
import { Sign, State } from "./state.js";
import { Text } from "./text.js";
import { KINDS, LEFT, Timeline, isRefused } from "./timeline.js";

/** @typedef {import("./states.js").TimelineRow} TimelineRow */

const EVERY_MS = 30_000;
/** Pages of 500 rows that are read at first, and with each "more" beyond them. */
const PAGES = 4;
/** Rows that are drawn at first. */
const SHOWN = 50;

/** The names under which a desktop may report. @param {{ workSpId: string, computerName: string | null }} row */
export const namesOf = ({ workSpId, computerName }) => (computerName && computerName !== workSpId ? [workSpId, computerName] : [workSpId]);

/**
 * The first result that has something in it, of the names under which a desktop may report: its id and its computer name.
 * @template T
 * @param {readonly string[]} names
 * @param {(name: string) => Promise<T>} load
 * @param {(result: T) => boolean} has
 */
export async function firstOf(names, load, has) {
    let result = await load(names[0]);
    for (const name of names.slice(1)) {
        if (has(result)) break;
        const other = await load(name);
        if (has(other)) result = other;
    }
    return result;
}

/** Rows of a timeline, newest first, of `most` pages. @param {import("../api.js").Query} query @param {number} most @param {AbortSignal} signal */
export async function timelineRows(query, most, signal) {
    /** @type {{ rows: TimelineRow[], warnings: string[], at: string, hasMore: boolean }} */
    const all = { rows: [], warnings: [], at: "", hasMore: false };
    for await (const { rows, warnings, at, hasMore } of pages("/query/timeline", query, signal)) {
        all.rows.push(...rows);
        all.warnings.push(...warnings);
        Object.assign(all, { hasMore, at: all.at || at });
        if (--most === 0) break;
    }
    return all;
}

/** @param {{ id: string, names: readonly string[], state: string | null | undefined, onHold: boolean, on: (event: import("../live.js").FleetEvent) => boolean }} properties */
export function Story({ id, names, state, onHold, on }) {
    const range = useRange();
    const most = useRef(PAGES);
    const story = useResource(
        `story ${id} ${range.key}`,
        async (signal) => {
            const query = { from: range.from, to: range.to };
            const [timeline, load] = await Promise.all([
                timelineRows({ workSpaceId: id, ...query }, most.current, signal),
                firstOf(
                    names,
                    (instanceId) => get("/query/series", { instanceId, metrics: "cpu,memory", ...query }, signal),
                    ({ rows }) => rows.some((/** @type {any} */ row) => row.count > 0),
                ),
            ]);
            return { ...timeline, load, bounds: bounds(range, Date.parse(timeline.at)) };
        },
        { every: EVERY_MS, on },
    );
    const more = () => {
        most.current += PAGES;
        story.reload();
    };
    return html`<section class="panel" aria-label="What happened">
        <div class="head"><h2>What happened</h2></div>
        <${Loaded} of=${story}>${(/** @type {any} */ data) => html`<${Shown} id=${id} story=${data} state=${state} onHold=${onHold} more=${more} />`}<//>
    </section>`;
}

/** @param {{ id: string, story: any, state: string | null | undefined, onHold: boolean, more: () => void }} properties */
function Shown({ id, story: { rows, warnings, hasMore, load, bounds: axis }, state, onHold, more }) {
    const [chosen, choose] = useState(/** @type {TimelineRow | undefined} */ (undefined));
    const [from, to] = axis;
    const sample = load.rows.find((/** @type {any} */ row) => row.count > 0);
    const since = [...rows, ...(sample ? [sample] : [])].reduce((first, { at }) => Math.min(first, Date.parse(at)), to);
    const marks = marksOf((/** @type {TimelineRow[]} */ (rows)).filter(({ kind }) => kind === "audit" || kind === "hold").map(({ at, title, detail, by }) => ({ activityTime: at, action: title, result: /^\w+/.exec(detail ?? "")?.[0] ?? "", requester: by })));
    const chart = { rows: load.rows, unit: "%", max: 100, from, to, step: load.stepSeconds, inset: LEFT, threshold: { at: OVERLOAD, label: `${OVERLOAD} %` }, marks };
    return html`<${Warnings} warnings=${[...new Set([...warnings, ...load.warnings])]} />
        <${Timeline} rows=${rows} from=${from} to=${to} since=${since} state=${state} onHold=${onHold} chosen=${chosen} choose=${choose} />
        <${LineChart} ...${chart} title="Processor" file=${`${id} processor`} series=${[{ name: "cpuAvg", label: "mean", tone: 1 }]} band=${{ low: "cpuMin", high: "cpuMax" }} height=${120} />
        <${LineChart} ...${chart} title="Memory in use" file=${`${id} memory`} series=${[{ name: "memoryAvg", label: "mean", tone: 2 }]} band=${{ low: "memoryMin", high: "memoryMax" }} height=${120} />
        <${List} id=${id} rows=${rows} hasMore=${hasMore} more=${more} chosen=${chosen} choose=${choose} />`;
}

/** @param {{ id: string, rows: TimelineRow[], hasMore: boolean, more: () => void, chosen: TimelineRow | undefined, choose: (row: TimelineRow) => void }} properties */
function List({ id, rows, hasMore, more, chosen, choose }) {
    const wanted = route.value.query.kind?.split(",") ?? Object.keys(KINDS);
    const listed = rows.filter(({ kind }) => wanted.includes(kind));
    /** @param {string} kind */
    const toggle = (kind) => {
        const next = wanted.includes(kind) ? wanted.filter((each) => each !== kind) : [...wanted, kind];
        setQuery({ kind: next.length === Object.keys(KINDS).length ? undefined : next.join(",") || "none" });
    };
    const tools = html`<span class="row" role="group" aria-label="Kinds">
        ${Object.entries(KINDS).map(([kind, { glyph, tone, title }]) => html`<label key=${kind} class="check"><input type="checkbox" checked=${wanted.includes(kind)} onChange=${() => toggle(kind)} /><${Sign} tone=${tone} glyph=${glyph}>${title}<//></label>`)}
    </span>`;
    return html`<${DataTable} caption="Timeline" rows=${listed} most=${SHOWN} rowKey=${(/** @type {TimelineRow} */ row) => rows.indexOf(row)} columns=${columns(chosen, choose)} tools=${tools} file=${`${id} timeline`} empty="Nothing of this kind happened in this time." />
        ${hasMore && html`<p class="row"><button type="button" onClick=${more}>Read what was before</button> <span class="note">The ${count(rows.length)} newest rows are read.</span></p>`}`;
}

/** @param {TimelineRow | undefined} chosen @param {(row: TimelineRow) => void} choose */
const columns = (chosen, choose) => [
    { name: "at", title: "Time", show: (/** @type {TimelineRow} */ row) => html`<button type="button" class="quiet at" aria-pressed=${row === chosen} onClick=${() => choose(row)}>${time(row.at)}</button>` },
    ...TIMELINE_COLUMNS,
];

/** Columns of a timeline, without the time. */
export const TIMELINE_COLUMNS = [
    { name: "kind", title: "Kind", show: (/** @type {TimelineRow} */ { kind }) => html`<${Sign} ...${KINDS[kind]}>${KINDS[kind]?.title ?? kind}<//>` },
    { name: "title", title: "What", show: (/** @type {TimelineRow} */ { kind, title }) => (kind === "state" ? html`<${State} state=${title} />` : kind === "audit" || kind === "hold" ? actionTitle(title) : html`<${Text} text=${title} />`) },
    { name: "detail", title: "More", show: (/** @type {TimelineRow} */ row) => row.detail && html`<div class="detail">${isRefused(row) && html`<span class="bad"><span class="glyph" aria-hidden="true">✖</span></span> `}<${Text} text=${row.kind === "startup" ? row.detail.replaceAll(/\b(\d+) ms\b/g, (_, ms) => duration(Number(ms))) : row.detail} /></div>` },
    { name: "by", title: "By", show: (/** @type {TimelineRow} */ { by }) => html`<${Text} text=${by} />` },
];
