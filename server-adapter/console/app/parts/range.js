// The range of time that a page is about, kept in its address.

import { utc } from "../preferences.js";
import { route, setQuery } from "../router.js";
import { html, useState } from "../vendor/preact.js";

const PRESETS = { "-1h": "1 h", "-24h": "24 h", "-7d": "7 days", "-28d": "28 days" };

/**
 * @typedef {object} Range
 * @property {string} from for the interface: a time before now such as `-24h`, or a date-time
 * @property {string | undefined} to a date-time, or nothing for now
 * @property {string} key another range has another one
 * @property {string} initial the range that stands for no choice
 */

/** The chosen range: `from` and `to` of the address, or `initial`. @param {string} [initial] @returns {Range} */
export function useRange(initial = "-24h") {
    const { from = initial, to } = route.value.query;
    const two = isTime(from) && isTime(to) && Date.parse(from) < Date.parse(/** @type {string} */ (to));
    const chosen = two || /^-[1-9]\d{0,5}[mhd]$/.test(from) ? from : initial;
    return { from: chosen, to: two ? to : undefined, key: two ? `${chosen} ${to}` : chosen, initial };
}

/** @param {string | undefined} text */
const isTime = (text) => /^\d{4}-/.test(text ?? "") && !Number.isNaN(Date.parse(/** @type {string} */ (text)));

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Begin and end of a range in ms, as of now. @param {Range} range @returns {[number, number]} */
export function bounds({ from, to }, now = Date.now()) {
    if (to !== undefined) return [Date.parse(from), Date.parse(to)];
    return [now - Number(from.slice(1, -1)) * UNITS[/** @type {"m"} */ (from.at(-1))], now];
}

/** Buttons for the range of `useRange`; `presets` are some of `-1h`, `-24h`, `-7d`, `-28d`, and any other with its text. @param {{ range: Range, presets?: Record<string, string> }} properties */
export function RangePicker({ range, presets = PRESETS }) {
    const [open, setOpen] = useState(false);
    const own = range.to !== undefined;
    const choose = (/** @type {string} */ from) => {
        setOpen(false);
        setQuery({ from: from === range.initial ? undefined : from, to: undefined });
    };
    return html`<div class="range" role="group" aria-label="Range">
        ${Object.entries(presets).map(([from, text]) => html`<button key=${from} type="button" aria-pressed=${range.from === from} onClick=${() => choose(from)}>${text}</button>`)}
        <button type="button" aria-pressed=${own} aria-expanded=${open} onClick=${() => setOpen(!open)}>${own ? `${range.from.slice(0, 10)} – ${range.to?.slice(0, 10)}` : "From – to"}</button>
        ${open && html`<${OwnRange} range=${range} close=${() => setOpen(false)} />`}
    </div>`;
}

/** Two date-times. @param {{ range: Range, close: () => void }} properties */
function OwnRange({ range, close }) {
    const [problem, setProblem] = useState("");
    const [from, to] = bounds(range);
    /** @param {SubmitEvent} event */
    const submit = (event) => {
        event.preventDefault();
        const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
        const [begin, end] = ["from", "to"].map((name) => new Date(`${fields.get(name)}${utc.value ? "Z" : ""}`));
        if (!(begin < end)) return setProblem("The end must be after the begin.");
        setQuery({ from: begin.toISOString(), to: end.toISOString() });
        close();
    };
    return html`<form class="row own-range" onSubmit=${submit}>
        <label>From${utc.value ? ", UTC" : ""} <input type="datetime-local" name="from" required value=${field(from)} /></label>
        <label>To <input type="datetime-local" name="to" required value=${field(to)} /></label>
        <button class="primary">Show</button>
        ${problem && html`<p role="alert" class="note">${problem}</p>`}
    </form>`;
}

/** A time as a field of the browser holds it, in the zone in which times are shown. @param {number} at */
function field(at) {
    const shift = utc.value ? 0 : new Date(at).getTimezoneOffset() * UNITS.m;
    return new Date(at - shift).toISOString().slice(0, 16);
}
