// The load of a desktop's processor over the last day, for rows on the screen: read a few at once, and kept for some minutes.

import { get } from "../api.js";
import { session } from "../session.js";
import { effect, html, useEffect, useState } from "../vendor/preact.js";
import { Sparkline } from "./sparkline.js";

const AT_ONCE = 4;
/** Before it, a row may only be scrolled past. */
const REST_MS = 150;
const KEPT_MS = 300_000;
const KEPT_MAX = 2000;

/** @typedef {(number | null)[]} Values */
/** @type {Map<string, { at: number, values: Values }>} */
const kept = new Map();
/** @typedef {{ id: string, controller: AbortController, done: (values: Values) => void }} Job */
/** @type {Set<Job>} */
const waiting = new Set();
let running = 0;

effect(() => {
    if (session.value === null) kept.clear();
});

/** @param {Job} job */
async function read({ id, controller: { signal }, done }) {
    const query = { instanceId: id, metrics: "cpu", from: "-24h", step: "30m", fields: "at,cpuAvg" };
    const { rows } = await get("/query/series", query, signal);
    const values = rows.map((/** @type {{ cpuAvg: number | null }} */ { cpuAvg }) => cpuAvg);
    for (const oldest of kept.keys()) {
        if (kept.size < KEPT_MAX) break;
        kept.delete(oldest);
    }
    kept.delete(id);
    kept.set(id, { at: Date.now(), values });
    if (!signal.aborted) done(values);
}

function next() {
    for (const job of waiting) {
        if (running === AT_ONCE) return;
        waiting.delete(job);
        running++;
        // A line that cannot be read stays away; the table says itself when the server does not respond.
        void read(job)
            .catch(() => {})
            .finally(() => {
                running--;
                next();
            });
    }
}

/** @param {{ id: string, minute: number }} properties */
export function CpuLine({ id, minute }) {
    const [state, setState] = useState({ id, values: kept.get(id)?.values });
    useEffect(() => {
        const known = kept.get(id);
        setState({ id, values: known?.values });
        if (known !== undefined && Date.now() - known.at < KEPT_MS) return;
        const job = { id, controller: new AbortController(), done: (/** @type {Values} */ values) => setState({ id, values }) };
        const timer = setTimeout(() => {
            waiting.add(job);
            next();
        }, REST_MS);
        return () => {
            clearTimeout(timer);
            waiting.delete(job);
            job.controller.abort();
        };
    }, [id, Math.floor((minute * 60_000) / KEPT_MS)]);
    return state.id === id && state.values !== undefined && html`<${Sparkline} values=${state.values} max=${100} label="CPU, last 24 h" />`;
}
