// What the help desk asks first of a desktop: how it is, how the last logon went, what happened last, what can be done.

import { get, pages } from "../api.js";
import { DAY_MS, NONE, ago, duration, time } from "../format.js";
import { useResource } from "../resource.js";
import { href } from "../router.js";
import { html, useState } from "../vendor/preact.js";
import { actionTitle } from "./audit-words.js";
import { Bar } from "./bar-chart.js";
import { DesktopActions } from "./desktop-actions.js";
import { holds } from "./hold-dialog.js";
import { Figure } from "./level.js";
import { UserLink } from "./links.js";
import { LogonSentence, fleetLogons } from "./logon-sentence.js";
import { logonsOf } from "./logons.js";
import { Loaded } from "./problem.js";
import { Sign, State } from "./state.js";
import { firstOf, namesOf } from "./story.js";
import { Text } from "./text.js";
import { Who } from "./who.js";
import { KINDS, isRefused } from "./timeline.js";

/** @typedef {import("../live.js").FleetEvent} FleetEvent @typedef {import("../../../../wasm/js/types.js").WorkspaceRow} WorkspaceRow @typedef {import("./states.js").TimelineRow} TimelineRow */

const EVERY_MS = 15_000;
const EVENTS = 5;
const LOGON_DAYS = 28;
/** Desktops of a user that are offered: an account for a service may have thousands. */
const DESKTOPS = 12;

/** @param {{ asked: import("../asked.js").Card }} properties */
export function DesktopCard({ asked }) {
    const [chosen, choose] = useState("id" in asked ? asked.id : "");
    /** @type {Set<string>} */
    const shown = new Set();
    const on = (/** @type {FleetEvent} */ { workSpaceId, type }) => (workSpaceId !== null && shown.has(workSpaceId)) || type === "import.committed";
    const found = useResource(`card ${JSON.stringify(asked)}`, (signal) => desktopsOf(asked, signal), { every: EVERY_MS, on });
    for (const { workSpId } of found.data ?? []) shown.add(workSpId);
    return html`<${Loaded} of=${found}>${(/** @type {WorkspaceRow[]} */ rows) => {
        const row = rows.find(({ workSpId }) => workSpId === chosen) ?? rows[0];
        if (row === undefined) return html`<p>${"id" in asked ? "No desktop has this id. It may have been removed." : "No desktop belongs to this user."}</p>`;
        return html`${rows.length > 1 && html`<${Choice} rows=${rows} chosen=${row.workSpId} choose=${choose} user=${row.username} />`}
            <${One} key=${row.workSpId} row=${row} named=${rows.length > 1 || "user" in asked} on=${on} />`;
    }}<//>`;
}

/** The desktop, and those that its user has besides; or those of a user. @param {import("../asked.js").Card} asked @param {AbortSignal} signal @returns {Promise<WorkspaceRow[]>} */
async function desktopsOf(asked, signal) {
    const own = "id" in asked ? (await get("/query/workspaces", { workSpId: asked.id, window: "7d", limit: 1 }, signal)).rows : [];
    const user = "user" in asked ? asked.user : own[0]?.username;
    if (!user) return own;
    const { rows } = await get("/query/workspaces", { username: user, window: "7d", limit: DESKTOPS }, signal);
    const others = rows.filter((/** @type {WorkspaceRow} */ { workSpId }) => workSpId !== own[0]?.workSpId);
    return [...own, ...others];
}

/** @param {{ rows: WorkspaceRow[], chosen: string, choose: (id: string) => void, user: string | null }} properties */
function Choice({ rows, chosen, choose, user }) {
    return html`<div class="row" role="group" aria-label="Desktops of the user">
        ${rows.map(({ workSpId, state }) => html`<button key=${workSpId} type="button" class="toggle" aria-pressed=${workSpId === chosen} onClick=${() => choose(workSpId)}><${Text} text=${workSpId} /> <span class="note"><${State} state=${state} /></span></button>`)}
        ${rows.length >= DESKTOPS && user && html`<a href=${href("desktops", undefined, { q: user })}>All of them</a>`}
    </div>`;
}

/** @param {{ row: WorkspaceRow, named: boolean, on: (event: FleetEvent) => boolean }} properties */
function One({ row, named, on }) {
    const id = row.workSpId;
    const more = useResource(`more ${id}`, (signal) => read(row, signal), { every: EVERY_MS, on });
    // What is usual changes by the day.
    const fleet = useResource("usual logons", (signal) => fleetLogons(`-${LOGON_DAYS}d`, signal));
    const now = Date.now();
    const what = [row.computeTypeName, row.runningMode, row.region].filter(Boolean);
    return html`<div class="card-line">
            <p class="row">${named && html`<b class="mono"><${Text} text=${id} /></b>`}<span class="card-state"><${State} state=${row.state} /></span>${row.transition && html`<span class="note">${actionTitle(row.transition)} runs</span>`}</p>
            <p>${row.username ? html`<${UserLink} name=${row.username} />` : "No user"} <span class="note">on</span> <${Text} text=${row.computerName} /></p>
            <p class="note">${what.map((text, index) => html`${index > 0 && ", "}<${Text} text=${text} />`)}</p>
        </div>
        ${more.data?.hold && html`<${Hold} hold=${more.data.hold} />`}
        <${DesktopActions} row=${row} held=${row.onHold} />
        <${Values} row=${row} now=${now} />
        <${Loaded} of=${more}>${(/** @type {Awaited<ReturnType<typeof read>>} */ { logon, events }) => html`
            <section><h3>Last logon</h3><p><${LogonSentence} logon=${logon} fleet=${fleet.data ?? {}} now=${now} days=${LOGON_DAYS} /></p></section>
            <section><h3>Last events</h3><${Events} events=${events} now=${now} /></section>`}<//>
        <p class="dialog-actions"><a class="button" href=${href("desktop", id)}>Open the desktop's page</a></p>`;
}

/** What is not in the row. @param {WorkspaceRow} row @param {AbortSignal} signal */
async function read(row, signal) {
    const since = Date.now() - LOGON_DAYS * DAY_MS;
    const [held, logons, events] = await Promise.all([
        holds({ workSpId: row.workSpId }, signal),
        firstOf(namesOf(row), (name) => logonsOf(name, since, signal), (found) => found.length > 0),
        lastEvents(row.workSpId, signal),
    ]);
    return { hold: held[0], logon: logons[0], events };
}

/** @param {string} id @param {AbortSignal} signal */
async function lastEvents(id, signal) {
    /** @type {TimelineRow[]} */
    const events = [];
    // A page may have fewer rows than were asked for, even none.
    let left = 4;
    for await (const { rows } of pages("/query/timeline", { workSpaceId: id, from: `-${LOGON_DAYS}d`, limit: 20 }, signal)) {
        events.push(...rows);
        if (events.length >= EVENTS || --left === 0) break;
    }
    return events.slice(0, EVENTS);
}

/** @param {{ hold: import("./hold-dialog.js").HoldRow }} properties */
function Hold({ hold: { matter, placedBy, placedAt } }) {
    return html`<section class="hold" aria-label="Litigation hold">
        <p><${Sign} tone="care" glyph="▣"><b>On litigation hold</b><//> <${Text} text=${matter} /></p>
        <p class="note">Placed by <${Who} name=${placedBy} /> on ${time(placedAt)}</p>
    </section>`;
}

/** @type {["cpu" | "memory" | "rootVolume" | "userVolume", string][]} */
const VALUES = [
    ["cpu", "CPU"],
    ["memory", "Memory"],
    ["rootVolume", "Root volume"],
    ["userVolume", "User volume"],
];

/** @param {{ row: WorkspaceRow, now: number }} properties */
function Values({ row, now }) {
    if (row.lastSeen === null) return html`<p class="note">No telemetry: no agent has reported from this desktop.</p>`;
    return html`<section>
        <h3>Now</h3>
        ${row.asOf !== null && html`<p class="warning">Not reporting: these values are of ${time(row.asOf)}, ${ago(row.asOf, now)}.</p>`}
        <table class="plain bars values">
            <caption class="hidden">Values, the newest that were reported</caption>
            <tbody>${VALUES.map(([metric, title]) => html`<tr key=${metric}><th scope="row">${title}</th><td class="meter"><${Bar} value=${row[metric]} max=${100} whole=${100} tone=${0} /></td><td class="number"><${Figure} value=${row[metric]} asOf=${row.asOf} volume=${metric.endsWith("Volume")} /></td></tr>`)}</tbody>
        </table>
        <p class="note">${row.asOf === null && html`Reported ${ago(row.lastSeen, now)}. `}${row.uptimeSeconds !== null && html`${row.asOf === null ? "Up" : "It was up"} for ${duration(1000 * row.uptimeSeconds)}. `}${row.healthScore !== null && `Health in 7 days ${row.healthScore.toFixed(0)} of 100.`}</p>
    </section>`;
}

/** The times of a startup as everywhere else. @param {string} detail */
const inSeconds = (detail) => detail.replaceAll(/(\d+) ms/g, (_, ms) => duration(Number(ms)));

/** @param {{ events: TimelineRow[], now: number }} properties */
function Events({ events, now }) {
    if (events.length === 0) return html`<p class="note">Nothing in ${LOGON_DAYS} days.</p>`;
    return html`<ul class="events">
        ${events.map((row) => {
            const { kind, at, title, detail, by } = row;
            const { glyph, tone } = isRefused(row) ? { glyph: "✖", tone: "bad" } : (KINDS[kind] ?? { glyph: NONE, tone: "off" });
            const what = kind === "state" ? html`<${State} state=${title} />` : html`<${Sign} tone=${tone} glyph=${glyph}>${kind === "audit" || kind === "hold" ? actionTitle(title) : html`<${Text} text=${title} />`}<//>`;
            return html`<li key=${`${at} ${kind} ${title}`}><span class="note nowrap" title=${time(at)}>${ago(at, now)}</span> <span>${what}${detail && html` <span class="note"><${Text} text=${kind === "startup" ? inSeconds(detail) : detail} /></span>`}${by && html` <span class="note">· <${Text} text=${by} /></span>`}</span></li>`;
        })}
    </ul>`;
}
