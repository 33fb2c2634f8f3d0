// The range of time and the part of the fleet that pages are about: one for all pages, in the header and in the address.

import { duration } from "../format.js";
import { PAGES } from "../pages/index.js";
import { utc } from "../preferences.js";
import { route, setQuery } from "../router.js";

/** What a range is called that ends now. @type {Record<string, string>} */
export const PRESETS = { "-1h": "1 hour", "-24h": "24 hours", "-7d": "7 days", "-28d": "28 days", "-91d": "13 weeks", "-365d": "1 year" };

/**
 * @typedef {object} Range
 * @property {string} from for the interface: a time before now such as `-24h`, or a date-time
 * @property {string | undefined} to a date-time, or nothing for now
 * @property {string} key another range has another one
 */

/** The shown page, as `pages/index.js` declares it. */
export const shownPage = () => PAGES.find(({ name }) => name === route.value.page);

/** The chosen range: `from` and `to` of the address, or that of the page, or `initial`. @param {string} [initial] @returns {Range} */
export function useRange(initial = shownPage()?.range ?? "-24h") {
    const { from = initial, to } = route.value.query;
    const two = isTime(from) && isTime(to) && Date.parse(from) < Date.parse(/** @type {string} */ (to));
    const chosen = two || /^-[1-9]\d{0,5}[mhd]$/.test(from) ? from : initial;
    return { from: chosen, to: two ? to : undefined, key: two ? `${chosen} ${to}` : chosen };
}

/** @param {string | undefined} text */
const isTime = (text) => /^\d{4}-/.test(text ?? "") && !Number.isNaN(Date.parse(/** @type {string} */ (text)));

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Begin and end of a range in ms, as of now. @param {Range} range @returns {[number, number]} */
export function bounds({ from, to }, now = Date.now()) {
    if (to !== undefined) return [Date.parse(from), Date.parse(to)];
    return [now - Number(from.slice(1, -1)) * UNITS[/** @type {"m"} */ (from.at(-1))], now];
}

/** Sets the range of all pages. @param {number} from in ms @param {number} to */
export function setRange(from, to) {
    setQuery({ from: new Date(from).toISOString(), to: new Date(Math.max(to, from + UNITS.m)).toISOString() });
}

/** A range in a few words. @param {Range} range */
export function rangeText({ from, to }) {
    if (to === undefined) return PRESETS[from] ?? duration(-bounds({ from, to, key: "" }, 0)[0]);
    const [begin, end] = [field(Date.parse(from)), field(Date.parse(to))];
    return `${begin} – ${begin.slice(0, 10) === end.slice(0, 10) ? end.slice(11) : end}`;
}

/** A time as it is written and read in fields: 24 hours, in the zone in which times are shown. @param {number} at */
export function field(at) {
    const shift = utc.value ? 0 : new Date(at).getTimezoneOffset() * UNITS.m;
    return new Date(at - shift).toISOString().slice(0, 16).replace("T", " ");
}

/** The zone in which times are shown, such as `UTC+01:00`. @param {number} [at] clocks change during a year */
export function zone(at = Date.now()) {
    const minutes = utc.value ? 0 : -new Date(at).getTimezoneOffset();
    if (minutes === 0) return "UTC";
    const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
    return `UTC${minutes < 0 ? "−" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

/** The part of the fleet that the shown page is about, as members of a query. @returns {Record<string, string | undefined>} */
export const useScope = () => Object.fromEntries((shownPage()?.parts ?? []).map((name) => [name, route.value.query[name]]));
