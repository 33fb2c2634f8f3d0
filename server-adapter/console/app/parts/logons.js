// Logons of one desktop or one user: how long each phase took.

import { pages } from "../api.js";
import { duration, time } from "../format.js";
import { href } from "../router.js";
import { html } from "../vendor/preact.js";
import { Bar } from "./bar-chart.js";
import { DataTable } from "./data-table.js";
import { Text } from "./text.js";

/** @typedef {import("../../../../wasm/js/types.js").ReceivedStartupRecord} StartupRecord */
/** @typedef {StartupRecord & { at: string, unattributedMs: number | null, workSpId?: string }} Logon */

/** Pages of 500 that are read of one desktop. */
const PAGES = 2;
const SHOWN = 20;

/** The logons that an instance reported since a time, newest first. @param {string} instanceId @param {number} from in ms @param {AbortSignal} signal @returns {Promise<Logon[]>} */
export async function logonsOf(instanceId, from, signal) {
    /** @type {Logon[]} */
    const logons = [];
    let left = PAGES;
    for await (const { records } of pages("/operator/telemetry/startup", { instanceId, from: new Date(from).toISOString() }, signal)) {
        logons.push(...records.map(logon));
        if (--left === 0) break;
    }
    return logons.reverse();
}

/** A record with what no phase accounts for. @param {StartupRecord} record @returns {Logon} */
export function logon(record) {
    const { totalMs, profileMs, groupPolicyMs, shellMs } = record;
    const isComplete = totalMs !== undefined && profileMs !== undefined && groupPolicyMs !== undefined && shellMs !== undefined;
    return { ...record, at: record.baselineUtc ?? record.receivedAt, unattributedMs: isComplete ? totalMs - profileMs - groupPolicyMs - shellMs : null };
}

/** The whole and its phases, each with its colour in every chart. */
const PHASES = [
    { name: "totalMs", title: "Total", tone: 0 },
    { name: "profileMs", title: "Profile", tone: 1 },
    { name: "groupPolicyMs", title: "Group policy", tone: 2 },
    { name: "shellMs", title: "Shell", tone: 3 },
    { name: "unattributedMs", title: "Other", tone: 4 },
];

/** @param {{ logons: Logon[], file: string, withDesktop?: boolean }} properties */
export function Logons({ logons, file, withDesktop }) {
    const max = Math.max(1, ...logons.map(({ totalMs }) => totalMs ?? 0));
    const columns = [
        { name: "at", title: "Began", show: (/** @type {Logon} */ { at }) => html`<span class="nowrap">${time(at)}</span>` },
        withDesktop
            ? { name: "workSpId", title: "Desktop", show: (/** @type {Logon} */ { workSpId = "" }) => html`<a class="nowrap" href=${href("desktop", workSpId)}><${Text} text=${workSpId} /></a>` }
            : { name: "username", title: "User", show: (/** @type {Logon} */ { username }) => html`<span class="nowrap"><${Text} text=${username} /></span>` },
        ...PHASES.map(({ name, title, tone }) => ({
            name,
            title,
            number: true,
            show: (/** @type {any} */ row) => html`${duration(row[name])}<${Bar} value=${row[name]} max=${max} whole=${row.totalMs} tone=${tone} />`,
        })),
    ];
    return html`<${DataTable} caption="Logons" columns=${columns} rows=${logons} most=${SHOWN} rowKey=${(/** @type {Logon} */ row) => logons.indexOf(row)} file=${file} empty="No logon was reported in this time." />`;
}
