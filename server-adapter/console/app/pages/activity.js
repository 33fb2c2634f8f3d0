// When the fleet is used: the hours of a week.

import { get } from "../api.js";
import { csv, download } from "../csv.js";
import { count } from "../format.js";
import { HeatMap } from "../parts/heat-map.js";
import { Loaded, Warnings } from "../parts/problem.js";
import { RangePicker, useRange } from "../parts/range.js";
import { utc } from "../preferences.js";
import { useResource } from "../resource.js";
import { route, setQuery } from "../router.js";
import { html } from "../vendor/preact.js";

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
const HOURS = Array.from({ length: 24 }, (_, hour) => two(hour));

/** What can be counted, by the name in the address. @type {Record<string, { title: string, of: string, member: "count" | "users", unit: string, total: string }>} */
const KINDS = {
    activity: { title: "Records of activity", of: "activity", member: "count", unit: "records", total: "records of activity" },
    users: { title: "Users with activity", of: "activity", member: "users", unit: "users", total: "records of activity" },
    reporting: { title: "Desktops in use", of: "reporting", member: "count", unit: "desktops", total: "desktops that reported a user, once in each hour" },
    reportingUsers: { title: "Users at work", of: "reporting", member: "users", unit: "users", total: "desktops that reported a user, once in each hour" },
};

/** @typedef {{ weekday: number, hour: number, count: number, users: number }} Cell */

/** How far the clocks are ahead of UTC, as the interface takes it. */
function offset() {
    const minutes = utc.value ? 0 : -new Date().getTimezoneOffset();
    return `${minutes < 0 ? "-" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

export default function Activity() {
    const range = useRange("-28d");
    const kind = KINDS[route.value.query.kind] ?? KINDS.activity;
    const zone = offset();
    const heat = useResource(`${range.key} ${kind.of} ${zone}`, (signal) => get("/query/heatmap", { of: kind.of, from: range.from, to: range.to, offset: zone }, signal));
    return html`<div class="head"><h1>Activity</h1><${RangePicker} range=${range} presets=${{ "-7d": "7 days", "-28d": "28 days", "-91d": "13 weeks" }} /></div>
        <div class="row choices">
            <label class="compact">Show <select value=${route.value.query.kind ?? "activity"} onChange=${(/** @type {any} */ event) => setQuery({ kind: event.target.value })}>
                ${Object.entries(KINDS).map(([name, { title }]) => html`<option key=${name} value=${name}>${title}</option>`)}
            </select></label>
            <span class="note">Hours at UTC${zone}</span>
        </div>
        <${Loaded} of=${heat}>${(/** @type {{ rows: Cell[], warnings: string[] }} */ { rows, warnings }) => html`<${Warnings} warnings=${warnings} /><${Week} rows=${rows} kind=${kind} />`}<//>`;
}

/** @param {{ rows: Cell[], kind: typeof KINDS[string] }} properties */
function Week({ rows, kind: { title, of, member, unit, total } }) {
    const cell = (/** @type {number} */ day, /** @type {number} */ hour) => rows[day * 24 + hour];
    const values = DAYS.map((_, day) => HOURS.map((_, hour) => cell(day, hour)[member]));
    const text = (/** @type {number} */ day, /** @type {number} */ hour) => {
        const { count: number, users } = cell(day, hour);
        return `${DAYS[day]}, ${two(hour)}:00 to ${two((hour + 1) % 24)}:00: ${count(number)} ${of === "activity" ? "records" : "desktops"}, ${count(users)} different users`;
    };
    const busiest = rows.reduce((best, each) => (each[member] > best[member] ? each : best), rows[0]);
    const all = rows.reduce((sum, each) => sum + each.count, 0);
    return html`<section class="panel">
        <div class="row"><h2>${title}</h2><button type="button" class="quiet to-end" onClick=${() => download(`heatmap-${of}.csv`, csv(["weekday", "hour", "count", "users"], rows))}>Save as CSV</button></div>
        <p>${all === 0 ? "There is no data in this range." : html`${count(all)} ${total}. Busiest: <b>${text(busiest.weekday - 1, busiest.hour)}</b>.`}</p>
        <${HeatMap} caption=${`${title} by day and hour`} rows=${DAYS.map((day) => day.slice(0, 3))} columns=${HOURS} values=${values} text=${text} unit=${unit} />
    </section>`;
}
