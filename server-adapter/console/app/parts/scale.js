// Ticks of axes, and values with their units.

import { bytes, clock, count, day, decimal, duration, utcDay } from "../format.js";
import { utc } from "../preferences.js";

/** @typedef {import("../format.js").MaybeNumber} MaybeNumber */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Distances of ticks that people read as durations, in milliseconds. */
const DURATIONS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 20 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY];
/** Distances of ticks on a calendar, in minutes. */
const CALENDAR = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 7 * 1440, 14 * 1440, 28 * 1440, 91 * 1440];

/** A value with its unit: `%`, `ms`, `s`, `B`, `B/s` or another word. @param {MaybeNumber} value @param {string} [unit] */
export function withUnit(value, unit = "") {
    if (value === null || value === undefined) return "no data";
    if (unit === "ms") return duration(value);
    if (unit === "s") return duration(value * 1000);
    if (unit === "B") return bytes(value);
    if (unit === "B/s") return `${bytes(value)}/s`;
    const text = Math.abs(value) >= 1000 || Number.isInteger(value) ? count(value) : decimal(value, Math.abs(value) < 1 ? 2 : 1);
    return unit === "" ? text : `${text} ${unit}`;
}

/** A value without its unit, every digit of it. @param {MaybeNumber} value */
export const exact = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en", { maximumFractionDigits: 6 }));

/** The distance between ticks, at least `least`. @param {number} least @param {string} unit */
function distance(least, unit) {
    if (unit === "ms") return DURATIONS.find((each) => each >= least) ?? least;
    if (unit === "s") return (DURATIONS.find((each) => each >= least * 1000) ?? least * 1000) / 1000;
    if (unit.startsWith("B")) return 2 ** Math.ceil(Math.log2(Math.max(least, 1)));
    const power = 10 ** Math.floor(Math.log10(least));
    return power * ([1, 2, 2.5, 5].find((each) => each * power >= least) ?? 10);
}

/** Ticks from 0 to at least `greatest`, the last one being the end of the axis. @param {number} greatest @param {number} most @param {string} unit @returns {number[]} */
export function numberTicks(greatest, most, unit) {
    const step = distance((greatest > 0 ? greatest : 1) / most, unit);
    // The sum of many steps has an error that their product has not.
    return Array.from({ length: Math.max(1, Math.ceil(greatest / step - 1e-9)) + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

/**
 * Ticks at round times of the zone in which times are shown, with their texts.
 * @param {number} from
 * @param {number} to
 * @param {number} most
 * @param {boolean} [inUtc] for steps of days, which are those of UTC
 * @returns {{ at: number, text: string }[]}
 */
export function timeTicks(from, to, most, inUtc = utc.value) {
    const least = (to - from) / MINUTE / Math.max(most, 1);
    const step = CALENDAR.find((each) => each >= least) ?? 364 * 1440;
    const start = new Date(from);
    // Midnight before the range: the fields of the calendar, and not the milliseconds, so that ticks stay round when clocks change.
    const [year, month, date] = inUtc ? [start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate()] : [start.getFullYear(), start.getMonth(), start.getDate()];
    const ticks = [];
    for (let index = 0, last = -Infinity; ; index++) {
        const at = inUtc ? Date.UTC(year, month, date, 0, index * step) : new Date(year, month, date, 0, index * step).getTime();
        if (at > to) return ticks;
        if (at < from || at <= last) continue;
        last = at;
        ticks.push({ at, text: inUtc && !utc.value ? utcDay(at) : step >= 1440 || clock(at) === "00:00" ? day(at) : clock(at) });
    }
}
