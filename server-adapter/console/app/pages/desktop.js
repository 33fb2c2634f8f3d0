// One desktop: what it is, how it is, what happened to it, and what can be done about it.

import { get } from "../api.js";
import { askHold } from "../asked.js";
import { DAY_MS, ago, bytes, decimal, duration, percent, time } from "../format.js";
import { Bar } from "../parts/bar-chart.js";
import { ActionMenu } from "../parts/action-menu.js";
import { CopyButton } from "../parts/copy.js";
import { Level } from "../parts/level.js";
import { actionTitle } from "../parts/audit-words.js";
import { DataTable } from "../parts/data-table.js";
import { holds } from "../parts/hold-dialog.js";
import { Logons, logonsOf } from "../parts/logons.js";
import { Loaded, Warnings } from "../parts/problem.js";
import { Sign, State } from "../parts/state.js";
import { Story, firstOf, namesOf } from "../parts/story.js";
import { Text, visible } from "../parts/text.js";
import { Who } from "../parts/who.js";
import { useResource } from "../resource.js";
import { href, route } from "../router.js";
import { may } from "../session.js";
import { html, useEffect } from "../vendor/preact.js";

/** @typedef {import("../live.js").FleetEvent} FleetEvent @typedef {import("../../../../wasm/js/types.js").WorkspaceRow} WorkspaceRow */

const EVERY_MS = 30_000;
const LOGON_DAYS = 28;

export default function DesktopPage() {
    const { id } = route.value;
    if (!id) return html`<h1>Desktop</h1><p>Choose one in <a href=${href("desktops")}>Desktops</a>, or search with Ctrl K.</p>`;
    return html`<${Desktop} key=${id} id=${id} />`;
}

/** @param {{ id: string }} properties */
function Desktop({ id }) {
    const on = (/** @type {FleetEvent} */ { workSpaceId, type }) => workSpaceId === id || type === "import.committed";
    const desktop = useResource(`desktop ${id}`, (signal) => read(id, signal), { every: EVERY_MS, on });
    useEffect(() => {
        document.title = `${visible(id)} · deskfleet`;
    }, [id]);
    const data = desktop.data;
    // An action ends by the clock: it is read again at that time.
    const dueAt = data?.transition?.dueAt;
    useEffect(() => {
        if (!dueAt) return;
        const timer = setTimeout(desktop.reload, Math.min(Math.max(Date.parse(dueAt) - Date.now(), 0) + 300, 2 ** 31 - 1));
        return () => clearTimeout(timer);
    }, [dueAt]);
    return html`<div class="head"><div class="id-line"><h1 class="mono"><${Text} text=${id} /></h1><${CopyButton} text=${id} label="the id" /></div></div>
        <${Loaded} of=${desktop}>${(/** @type {any} */ data) => (data.row ? html`<${Found} id=${id} data=${data} on=${on} />` : html`<${Missing} id=${id} on=${on} />`)}<//>`;
}

/** @param {{ id: string, data: any, on: (event: FleetEvent) => boolean }} properties */
function Found({ id, data: { row, details, transition, hold, stats }, on }) {
    const names = namesOf(row);
    return html`<${Line} row=${row} transition=${transition} />
        <${ActionMenu} ids=${[id]} first=${row.state === "STOPPED" ? "StartWorkSpace" : "RebootWorkSpace"} held=${Boolean(hold)} />
        ${hold && html`<${Hold} id=${id} hold=${hold} />`}
        <${Figures} row=${row} />
        <${Story} id=${id} names=${names} state=${row.state} onHold=${row.onHold} on=${on} />
        <div class="panels"><${Facts} details=${details} /><${Machine} row=${row} stats=${stats} /></div>
        <${Logged} id=${id} names=${names} />
        <${Processes} id=${id} names=${names} />`;
}

/** @param {{ id: string, on: (event: FleetEvent) => boolean }} properties */
function Missing({ id, on }) {
    return html`<p class="problem">No desktop has this id. It may have been removed: what is still known of it is below.</p>
        <p><a href=${href("desktops", undefined, { q: id })}>Search for it in Desktops</a></p>
        <${Story} id=${id} names=${[id]} state=${undefined} onHold=${false} on=${on} />`;
}

/** Everything about a desktop that is not history; what the key may not read is absent. @param {string} id @param {AbortSignal} signal */
async function read(id, signal) {
    const [{ rows, at }, held, view] = await Promise.all([
        get("/query/workspaces", { workSpId: id, window: "7d", limit: 1 }, signal),
        holds({ workSpId: id }, signal),
        may("admin") ? get(`/operator/workspaces/${encodeURIComponent(id)}`, {}, signal).catch(absent) : undefined,
    ]);
    /** @type {WorkspaceRow | undefined} */
    const row = rows[0];
    // With scope `read` the other members of the record, and the newest statistics, are in the answer about its user.
    const user = row?.username ? await get("/api/Information/GetUserInformation", { username: row.username }, signal).catch(absent) : undefined;
    const own = user?.workSpaces.find((/** @type {any} */ each) => each.workSpId === id);
    const instance = user?.lastStats?.instanceId?.toLowerCase();
    const stats = row && namesOf(row).some((name) => name.toLowerCase() === instance) ? user.lastStats : undefined;
    const transition = view?.transition ?? (row?.transition ? { action: row.transition } : undefined);
    return { row, at, details: view?.workSpace ?? own ?? row, transition, hold: held[0], stats };
}

/** Nothing, where there is no such thing. @param {any} error */
function absent(error) {
    if (error.status === 404) return undefined;
    throw error;
}

/** @param {{ row: WorkspaceRow, transition: any }} properties */
function Line({ row, transition }) {
    return html`<p class="row desktop-line" role="status">
        <${State} state=${row.state} />
        ${transition && html`<span><b>${actionTitle(transition.action)}</b> runs${transition.dueAt ? `, due ${time(transition.dueAt)}` : ""}</span>`}
        <span><span class="note">Computer</span> <${Text} text=${row.computerName} /></span>
        <span><span class="note">User</span> ${row.username ? html`<a href=${href("user", row.username)}><${Text} text=${row.username} /></a>` : "nobody"}</span>
    </p>`;
}

/** @param {{ id: string, hold: import("../parts/hold-dialog.js").HoldRow }} properties */
function Hold({ id, hold }) {
    return html`<section class="hold" aria-label="Litigation hold">
        <p><${Sign} tone="care" glyph="▣"><b>On litigation hold</b><//> <${Text} text=${hold.matter} />${hold.reason && html`: <${Text} text=${hold.reason} />`}</p>
        <p class="note">Placed by <${Who} name=${hold.placedBy} /> on ${time(hold.placedAt)}. The desktop is not rebuilt, restored, terminated or removed.</p>
        ${may("admin") && html`<p><button type="button" onClick=${() => askHold([id])}>Change matter or reason …</button></p>`}
    </section>`;
}

/** How good a health score is. @param {number} score */
const band = (score) => (score >= 75 ? { glyph: "●", tone: "good", label: "good" } : score >= 45 ? { glyph: "△", tone: "warn", label: "fair" } : { glyph: "✖", tone: "bad", label: "poor" });

/** @param {{ row: WorkspaceRow }} properties */
function Figures({ row }) {
    const score = row.healthScore;
    const health = score === null ? undefined : band(score);
    // What was measured long ago is not shown as if it were now.
    const stale = row.asOf !== null;
    const now = (/** @type {number | null} */ value) => (stale ? percent(value) : html`<${Level} value=${value} />`);
    const figures = [
        ["Last seen", ago(row.lastSeen, Date.now()), row.lastSeen && time(row.lastSeen)],
        ["CPU", now(row.cpu), row.cpuP95 !== null && `p95 ${percent(row.cpuP95)}, 7 days`],
        ["Memory", now(row.memory), row.memoryP95 !== null && `p95 ${percent(row.memoryP95)}, 7 days`],
        ["Health, 7 days", score === null ? "–" : decimal(score), health ? html`<${Sign} ...${health} />` : "not in use"],
        ["Up for", duration(row.uptimeSeconds === null ? null : row.uptimeSeconds * 1000), stale && `as of ${time(row.asOf)}`],
    ];
    return html`<dl class="figures">${figures.map(([title, value, note]) => html`<div key=${title}><dt>${title}</dt><dd class=${stale && (title === "CPU" || title === "Memory" || title === "Up for") ? "past" : ""}>${value}</dd>${note && html`<dd class="beside">${note}</dd>`}</div>`)}</dl>`;
}

const FACTS = [
    ["workSpId", "Id"],
    ["computerName", "Computer name"],
    ["username", "User"],
    ["state", "State"],
    ["runningMode", "Running mode"],
    ["computeTypeName", "Compute type"],
    ["protocol", "Protocol"],
    ["region", "Region"],
    ["account", "Account"],
    ["directoryId", "Directory"],
];

/** @param {{ details: any }} properties */
function Facts({ details }) {
    return html`<section class="panel">
        <h2>Record</h2>
        <dl class="facts">${FACTS.filter(([name]) => name in details).map(([name, title]) => html`<dt>${title}</dt><dd>${name === "state" ? html`<${State} state=${details[name]} />` : html`<${Text} text=${details[name]} />`}</dd>`)}</dl>
    </section>`;
}

/** Volumes, and what its newest statistics say of the machine. @param {{ row: WorkspaceRow, stats: any }} properties */
function Machine({ row, stats }) {
    const volumes = [
        ["Root volume", row.rootVolume, stats?.rootTotal, stats?.rootAvailable],
        ["User volume", row.userVolume, stats?.userTotal, stats?.userAvailable],
        ["Memory", row.memory, stats?.physicalMemory, stats?.availablePhysicalMemory],
    ];
    const facts = [
        ["Processors", stats?.processorCount],
        ["Operating system", stats?.osVersion],
        ["Tenant", stats?.tenantId],
        ["Reports as", stats?.instanceId],
    ].filter(([, value]) => value !== undefined && value !== null);
    return html`<section class="panel">
        <h2>Machine</h2>
        <table class="plain bars">
            <caption class="hidden">Used part of volumes and memory</caption>
            <tbody>
                ${volumes.map(
                    ([title, used, total, free]) => html`<tr key=${title}>
                        <th scope="row">${title}</th>
                        <td class="meter"><${Bar} value=${used ?? null} max=${100} tone=${2} /></td>
                        <td class="number"><${Level} value=${used ?? null} /></td>
                        <td class="number note of">${total === undefined || total === null ? "" : `${bytes(total - (free ?? total))} of ${bytes(total)}`}</td>
                    </tr>`,
                )}
            </tbody>
        </table>
        <dl class="facts">${facts.map(([title, value]) => html`<dt>${title}</dt><dd><${Text} text=${String(value)} /></dd>`)}</dl>
    </section>`;
}

/** @param {{ id: string, names: readonly string[] }} properties */
function Logged({ id, names }) {
    const logons = useResource(`logons ${names}`, (signal) => firstOf(names, (name) => logonsOf(name, Date.now() - LOGON_DAYS * DAY_MS, signal), (found) => found.length > 0), { every: EVERY_MS });
    return html`<section class="panel">
        <h2>Logons, ${LOGON_DAYS} days</h2>
        <${Loaded} of=${logons}>${(/** @type {any} */ data) => html`<${Logons} logons=${data} file=${`${id} logons`} />`}<//>
    </section>`;
}

/** @param {{ id: string, names: readonly string[] }} properties */
function Processes({ id, names }) {
    const processes = useResource(
        `processes ${names}`,
        (signal) =>
            firstOf(
                names,
                (instanceId) => get("/query/processes", { instanceId, from: "-24h", limit: 100 }, signal),
                ({ rows }) => rows.length > 0,
            ),
        { every: EVERY_MS },
    );
    const columns = [
        { name: "processName", title: "Process", show: (/** @type {any} */ { processName }) => html`<${Text} text=${processName} />` },
        { name: "reports", title: "Reports", number: true },
        { name: "cpuAvg", title: "CPU, mean", number: true, show: (/** @type {any} */ { cpuAvg }) => percent(cpuAvg) },
        { name: "cpuMax", title: "CPU, max", number: true, show: (/** @type {any} */ { cpuMax }) => percent(cpuMax) },
        { name: "memoryAvg", title: "Memory, mean", number: true, show: (/** @type {any} */ { memoryAvg }) => bytes(memoryAvg) },
        { name: "memoryMax", title: "Memory, max", number: true, show: (/** @type {any} */ { memoryMax }) => bytes(memoryMax) },
    ];
    return html`<section class="panel">
        <h2>Processes, 24 h</h2>
        <${Loaded} of=${processes}>
            ${(/** @type {any} */ { rows, warnings }) => html`<${Warnings} warnings=${warnings} /><${DataTable} caption="Processes" columns=${columns} rows=${rows} rowKey=${(/** @type {any} */ row) => row.processName} sort="-cpuAvg" file=${`${id} processes`} empty="No process was reported in this time." />`}
        <//>
    </section>`;
}
