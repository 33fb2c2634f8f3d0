// One user: what the help desk asks first.

import { get } from "../api.js";
import { DAY_MS, ago, time } from "../format.js";
import { DataTable } from "../parts/data-table.js";
import { DesktopActions } from "../parts/desktop-actions.js";
import { Figure } from "../parts/level.js";
import { Logons, logonsOf } from "../parts/logons.js";
import { Loaded, Warnings } from "../parts/problem.js";
import { Sparkline } from "../parts/sparkline.js";
import { Sign, State } from "../parts/state.js";
import { TIMELINE_COLUMNS, firstOf, namesOf, timelineRows } from "../parts/story.js";
import { Text, visible } from "../parts/text.js";
import { useResource } from "../resource.js";
import { href, route } from "../router.js";
import { html, useEffect } from "../vendor/preact.js";
import { Users } from "./users.js";

/** @typedef {import("../live.js").FleetEvent} FleetEvent @typedef {import("../../../../wasm/js/types.js").WorkspaceRow} WorkspaceRow */

const EVERY_MS = 30_000;
const LOGON_DAYS = 28;
/** Desktops of a user that are read in full: an account for a service may have thousands. */
const DESKTOPS = 10;

export default function UserPage() {
    const { id } = route.value;
    return id ? html`<${User} key=${id} name=${id} />` : html`<${Users} />`;
}

/** @param {{ name: string }} properties */
function User({ name }) {
    useEffect(() => {
        document.title = `${visible(name)} · deskfleet`;
    }, [name]);
    // Events of desktops that were just given to the user, or taken away, name the user as well.
    const on = (/** @type {FleetEvent} */ { workSpaceId, username, type }) => type === "import.committed" || [username, workSpaceId].some((text) => text !== null && names.has(text.toLowerCase()));
    /** @type {import("../resource.js").Resource<any>} */
    const user = useResource(`user ${name}`, (signal) => read(name, signal), { every: EVERY_MS, on });
    const names = new Set([name, user.data?.info.username ?? name, ...(user.data?.rows ?? []).map((/** @type {WorkspaceRow} */ { workSpId }) => workSpId)].map((text) => text.toLowerCase()));
    if (/** @type {any} */ (user.error)?.status === 404) return html`<${Unknown} name=${name} />`;
    return html`<div class="head"><h1><${Text} text=${user.data?.info.username ?? name} /></h1></div>
        <${Loaded} of=${user}>${(/** @type {any} */ data) => html`<${Found} name=${name} data=${data} on=${on} />`}<//>`;
}

/** @param {{ name: string }} properties */
function Unknown({ name }) {
    return html`<div class="head"><h1><${Text} text=${name} /></h1></div>
        <section class="panel">
            <p>No desktop belongs to a user of this name, and none has reported one.</p>
            <ul>
                <li>Is the name spelt as in the directory? The whole name is compared, without its domain.</li>
                <li><a href=${href("user", undefined, { q: name })}>Search by a part of it</a></li>
            </ul>
        </section>`;
}

/** @param {string} name @param {AbortSignal} signal */
async function read(name, signal) {
    const info = await get("/api/Information/GetUserInformation", { username: name }, signal);
    const ids = info.workSpaces.slice(0, DESKTOPS).map((/** @type {any} */ { workSpId }) => workSpId);
    if (ids.length === 0) return { info, rows: [], loads: [] };
    const { rows } = await get("/query/workspaces", { workSpId: ids, limit: DESKTOPS }, signal);
    const loads = await Promise.all(
        rows.map((/** @type {WorkspaceRow} */ row) =>
            firstOf(
                namesOf(row),
                (instanceId) => get("/query/series", { instanceId, metrics: "cpu,memory", from: "-24h", step: "30m" }, signal),
                (series) => series.rows.some((/** @type {any} */ point) => point.count > 0),
            ),
        ),
    );
    return { info, rows, loads };
}

/** @param {{ name: string, data: any, on: (event: FleetEvent) => boolean }} properties */
function Found({ name, data: { info, rows, loads }, on }) {
    const now = Date.now();
    const figures = [
        ["Last activity", info.lastActivity ? html`<${Text} text=${info.lastActivity} />` : "–", info.lastActivityTime && `${ago(info.lastActivityTime, now)}, ${time(info.lastActivityTime)}`],
        ["Seen", ago(info.lastSeen, now), info.lastSeen && time(info.lastSeen)],
        ["Desktops", info.workSpaces.length, ""],
        ["Litigation hold", info.litigationHold ? html`<${Sign} tone="care" glyph="▣">Yes<//>` : "No", ""],
    ];
    const key = rows.map((/** @type {WorkspaceRow} */ { workSpId }) => workSpId).join(" ");
    return html`<dl class="figures">${figures.map(([title, value, note]) => html`<div key=${title}><dt>${title}</dt><dd>${value}</dd>${note && html`<dd class="beside">${note}</dd>`}</div>`)}</dl>
        ${info.workSpaces.length === 0 && html`<p class="panel">The user has no desktop; telemetry has named the user.</p>`}
        <div class="panels">${rows.map((/** @type {WorkspaceRow} */ row, /** @type {number} */ index) => html`<${Desktop} key=${row.workSpId} row=${row} load=${loads[index]} />`)}</div>
        ${info.workSpaces.length > rows.length && html`<p><a href=${href("desktops", undefined, { username: info.username })}>All ${info.workSpaces.length} desktops of the user</a></p>`}
        ${rows.length > 0 && html`<${Lately} key=${key} name=${name} rows=${rows} on=${on} />`}`;
}

/** @param {{ row: WorkspaceRow, load: any }} properties */
function Desktop({ row, load }) {
    const values = (/** @type {string} */ name) => load.rows.map((/** @type {any} */ point) => point[name]);
    const loads = [
        { title: "CPU", now: row.cpu, values: values("cpuAvg"), tone: 1 },
        { title: "Memory", now: row.memory, values: values("memoryAvg"), tone: 2 },
    ];
    return html`<section class="panel">
        <div class="head"><h2 class="mono"><a href=${href("desktop", row.workSpId)}><${Text} text=${row.workSpId} /></a></h2><${State} state=${row.state} />${row.onHold && html`<span class="tag">▣ On hold</span>`}</div>
        <p class="note"><${Text} text=${row.computerName} />, ${[row.computeTypeName, row.runningMode, row.region].filter(Boolean).map((text, index) => html`${index > 0 && ", "}<${Text} text=${text} />`)}</p>
        <table class="plain bars">
            <caption class="hidden">Load now, and in the last 24 hours</caption>
            <tbody>${loads.map(({ title, now, values, tone }) => html`<tr key=${title}><th scope="row">${title}</th><td class="number"><${Figure} value=${now} asOf=${row.asOf} /></td><td class="spark"><${Sparkline} values=${values} max=${100} label=${`${title}, 24 h, %`} width=${110} tone=${tone} /></td></tr>`)}</tbody>
        </table>
        <p class="note">${row.asOf === null ? `Seen ${ago(row.lastSeen, Date.now())}.` : `Not reporting: values of ${time(row.asOf)}.`}</p>
        <${DesktopActions} row=${row} held=${row.onHold} />
    </section>`;
}

/** Logons, and what happened, on all desktops of the user. @param {{ name: string, rows: WorkspaceRow[], on: (event: FleetEvent) => boolean }} properties */
function Lately({ name, rows, on }) {
    const lately = useResource(
        `lately ${name}`,
        async (signal) => {
            const since = Date.now() - LOGON_DAYS * DAY_MS;
            const found = await Promise.all(
                rows.map(async (row) => {
                    const own = (/** @type {any} */ each) => ({ ...each, workSpId: row.workSpId });
                    const [logons, story] = await Promise.all([
                        firstOf(namesOf(row), (instance) => logonsOf(instance, since, signal), (found) => found.length > 0),
                        timelineRows({ workSpaceId: row.workSpId, from: "-7d" }, 1, signal),
                    ]);
                    return { logons: logons.map(own), rows: story.rows.map(own), warnings: story.warnings };
                }),
            );
            return {
                logons: newestFirst(found.flatMap(({ logons }) => logons)),
                rows: newestFirst(found.flatMap(({ rows }) => rows)),
                warnings: found.flatMap(({ warnings }) => warnings),
            };
        },
        { every: EVERY_MS, on },
    );
    const columns = [
        { name: "at", title: "Time", show: (/** @type {any} */ { at }) => html`<span class="nowrap">${time(at)}</span>` },
        { name: "workSpId", title: "Desktop", show: (/** @type {any} */ { workSpId }) => html`<a class="nowrap" href=${href("desktop", workSpId)}><${Text} text=${workSpId} /></a>` },
        ...TIMELINE_COLUMNS,
    ];
    return html`<${Loaded} of=${lately}>
        ${(/** @type {any} */ { logons, rows, warnings }) => html`<section class="panel">
                <h2>Logons, ${LOGON_DAYS} days</h2>
                <${Logons} logons=${logons} file=${`${name} logons`} withDesktop=${true} />
            </section>
            <section class="panel">
                <h2>What happened, 7 days</h2>
                <${Warnings} warnings=${warnings} />
                <${DataTable} caption="What happened on the user's desktops" columns=${columns} rows=${rows} most=${50} rowKey=${(/** @type {any} */ row) => rows.indexOf(row)} file=${`${name} timeline`} empty="Nothing happened in this time." />
            </section>`}
    <//>`;
}

/** @param {{ at: string }[]} rows */
const newestFirst = (rows) => rows.sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
