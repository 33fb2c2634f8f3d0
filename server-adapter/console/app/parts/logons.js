// Logons of one desktop or one user: how long each phase took.

import { pages } from "../api.js";
import { duration, time } from "../format.js";
import { href } from "../router.js";
import { html } from "../vendor/preact.js";
import { DataTable } from "./data-table.js";
import { Text } from "./text.js";

/** @typedef {import("../../../../wasm/js/types.js").ReceivedStartupRecord} StartupRecord */
/** @typedef {StartupRecord & { at: string, restMs: number | undefined }} Logon */

/** Those that are read: 90 days of a user who logs on five times a day. */
const PAGES = 1;

/** The logons of an instance since a time, newest first. @param {string} instanceId @param {string} from a date-time @param {AbortSignal} signal @returns {Promise<Logon[]>} */
export async function logonsOf(instanceId, from, signal) {
    const logons = [];
    let left = PAGES;
    for await (const { records } of pages("/operator/telemetry/startup", { instanceId, from }, signal)) {
        logons.push(...records.map(logon));
        if (--left === 0) break;
    }
    return logons.reverse();
}

/** @param {StartupRecord} record @returns {Logon} */
export function logon(record) {
    const phases = PHASES.map(({ name }) => /** @type {any} */ (record)[name]).filter((value) => value !== undefined && value !== null);
    const restMs = record.totalMs === undefined ? undefined : record.totalMs - phases.reduce((sum, value) => sum + value, 0);
    return { ...record, at: record.baselineUtc ?? record.receivedAt, restMs };
}

const PHASES = [
    { name: "profileMs", title: "Profile", tone: 1 },
    { name: "groupPolicyMs", title: "Group policy", tone: 2 },
    { name: "shellMs", title: "Shell", tone: 3 },
];
const REST = { name: "restMs", title: "Rest", tone: 4 };

/** @param {{ logons: Logon[], file: string, withDesktop?: boolean }} properties */
export function Logons({ logons, file, withDesktop }) {
    const longest = Math.max(1, ...logons.map(({ totalMs }) => totalMs ?? 0));
    const phases = [...PHASES, REST];
    const columns = [
        { name: "at", title: "Began", show: (/** @type {Logon} */ { at }) => html`<span class="at">${time(at)}</span>` },
        withDesktop
            ? { name: "instanceId", title: "Desktop", show: (/** @type {Logon} */ { instanceId }) => html`<a href=${href("desktop", instanceId ?? "")}><${Text} text=${instanceId} /></a>` }
            : { name: "username", title: "User", show: (/** @type {Logon} */ { username }) => html`<${Text} text=${username} />` },
        { name: "totalMs", title: "Total", number: true, show: (/** @type {Logon} */ { totalMs }) => duration(totalMs) },
        ...phases.map(({ name, title, tone }) => ({ name, title: html`<span class=${`phase series-${tone}`}>${title}</span>`, number: true, show: (/** @type {any} */ row) => duration(row[name]) })),
        { name: "bar", title: "Phases", fixed: true, show: (/** @type {any} */ row) => html`<${Phases} row=${row} longest=${longest} />` },
    ];
    return html`<${DataTable} caption="Logons" columns=${columns} rows=${logons} rowKey=${(/** @type {Logon} */ row) => `${row.at} ${row.instanceId} ${row.receivedAt}`} file=${file} empty="No logon was reported in this time." />`;
}

/** The phases of a logon one after the other, in proportion to the longest of the table. @param {{ row: any, longest: number }} properties */
function Phases({ row, longest }) {
    let begin = 0;
    return html`<svg class="phases" width="120" height="10" aria-hidden="true">
        ${[...PHASES, REST].map(({ name, tone }) => {
            const width = (120 * Math.max(row[name] ?? 0, 0)) / longest;
            begin += width;
            return html`<rect key=${name} class=${`series-${tone}`} x=${begin - width} y="1" width=${width} height="8" />`;
        })}
    </svg>`;
}
