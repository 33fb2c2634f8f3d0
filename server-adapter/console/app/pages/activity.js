// When the fleet is used: the hours of a week.

import { get } from "../api.js";
import { csv, download } from "../csv.js";
import { count } from "../format.js";
import { askBehind } from "../asked.js";
import { HeatMap } from "../parts/heat-map.js";
import { Loaded, Warnings } from "../parts/problem.js";
import { bounds, useRange } from "../parts/range.js";
import { utc } from "../preferences.js";
import { useResource } from "../resource.js";
import { route, setQuery } from "../router.js";
import { html } from "../vendor/preact.js";

const HOUR_MS = 3_600_000;
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
    const range = useRange();
    const kind = KINDS[route.value.query.kind] ?? KINDS.activity;
    const zone = offset();
    const heat = useResource(`${range.key} ${kind.of} ${zone}`, (signal) => get("/query/heatmap", { of: kind.of, from: range.from, to: range.to, offset: zone }, signal));
    return html`<div class="head"><h1>Activity</h1></div>
        <div class="row choices">
            <label class="compact">Show <select value=${route.value.query.kind ?? "activity"} onChange=${(/** @type {any} */ event) => setQuery({ kind: event.target.value })}>
                ${Object.entries(KINDS).map(([name, { title }]) => html`<option key=${name} value=${name}>${title}</option>`)}
            </select></label>
            <span class="note">Hours of ${zone === "+00:00" ? "UTC" : `UTC${zone}`}</span>
        </div>
        <${Loaded} of=${heat}>${(/** @type {{ rows: Cell[], warnings: string[] }} */ { rows, warnings }) => html`<${Warnings} warnings=${warnings} /><${Week} rows=${rows} kind=${kind} range=${range} />`}<//>`;
}

/** Each such hour of a range, the newest first. @param {number} day from Monday @param {number} hour @param {[number, number]} range @returns {[number, number][]} */
function hoursOf(day, hour, [from, to]) {
    /** @type {[number, number][]} */
    const hours = [];
    const at = new Date(to);
    const [year, month, date, weekday] = utc.value ? [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCDay()] : [at.getFullYear(), at.getMonth(), at.getDate(), at.getDay()];
    for (let back = (weekday + 6 - day) % 7; ; back += 7) {
        const begin = utc.value ? Date.UTC(year, month, date - back, hour) : new Date(year, month, date - back, hour).getTime();
        if (begin + HOUR_MS <= from) return hours;
        if (begin < to) hours.push([Math.max(begin, from), Math.min(begin + HOUR_MS, to)]);
    }
}

/** @param {{ rows: Cell[], kind: typeof KINDS[string], range: import("../parts/range.js").Range }} properties */
function Week({ rows, range, kind: { title, of, member, unit, total } }) {
    const cell = (/** @type {number} */ day, /** @type {number} */ hour) => rows[day * 24 + hour];
    const values = DAYS.map((_, day) => HOURS.map((_, hour) => cell(day, hour)[member]));
    const text = (/** @type {number} */ day, /** @type {number} */ hour) => {
        const { count: number, users } = cell(day, hour);
        return `${DAYS[day]}, ${two(hour)}:00 to ${two((hour + 1) % 24)}:00: ${count(number)} ${of === "activity" ? "records" : "desktops"}, ${count(users)} different users`;
    };
    const open = (/** @type {number} */ day, /** @type {number} */ hour) =>
        askBehind({
            title: `${DAYS[day]}, ${two(hour)}:00 to ${two((hour + 1) % 24)}:00: ${of === "activity" ? "desktops with activity" : "desktops in use"}`,
            stream: of === "activity" ? "activity" : "stats",
            spans: hoursOf(day, hour, bounds(range)),
            accept: of === "activity" ? undefined : ({ username }) => Boolean(username),
        });
    const busiest = rows.reduce((best, each) => (each[member] > best[member] ? each : best), rows[0]);
    const all = rows.reduce((sum, each) => sum + each.count, 0);
    return html`<section class="panel">
        <div class="row"><h2>${title}</h2><button type="button" class="quiet to-end" onClick=${() => download(`heatmap-${of}.csv`, csv(["weekday", "hour", "count", "users"], rows))}>Export CSV</button></div>
        <p>${all === 0 ? "There is no data in this range." : html`${count(all)} ${total}. Busiest: <b>${text(busiest.weekday - 1, busiest.hour)}</b>.`}</p>
        <${HeatMap} caption=${`${title} by day and hour`} rows=${DAYS.map((day) => day.slice(0, 3))} columns=${HOURS} values=${values} text=${text} unit=${unit} open=${open} />
    </section>`;
}
