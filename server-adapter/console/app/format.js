// Numbers, times and states as text.

import { utc } from "./preferences.js";

export const DAY_MS = 86_400_000;

/** What stands where nothing is known. */
export const NONE = "–";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** @typedef {number | null | undefined} MaybeNumber */
/** @typedef {string | null | undefined} MaybeText */

/** A count, with thousands separated. @param {MaybeNumber} value */
export const count = (value) => (value === null || value === undefined ? NONE : whole.format(value));

/** Such as `1 desktop`. @param {number} number */
export const desktops = (number) => `${count(number)} ${number === 1 ? "desktop" : "desktops"}`;

/** A count in a few characters, such as `12.4K`. @param {MaybeNumber} value */
export const compact = (value) => (value === null || value === undefined ? NONE : short.format(value));

/** A number with a fixed number of decimals. @param {MaybeNumber} value */
export const decimal = (value, digits = 1) => (value === null || value === undefined ? NONE : value.toFixed(digits));

/** A percentage. @param {MaybeNumber} value */
export const percent = (value) => (value === null || value === undefined ? NONE : `${value.toFixed(1)} %`);

/** A size in binary units. @param {MaybeNumber} value */
export function bytes(value) {
    if (value === null || value === undefined) return NONE;
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = 0;
    for (; Math.abs(value) >= 1024 && unit < units.length - 1; unit++) value /= 1024;
    return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** A length of time in milliseconds, in its two greatest units. @param {MaybeNumber} milliseconds @returns {string} */
export function duration(milliseconds) {
    if (milliseconds === null || milliseconds === undefined) return NONE;
    if (milliseconds < 0) return `-${duration(-milliseconds)}`;
    if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
    const seconds = milliseconds / 1000;
    if (seconds < 60) return `${seconds.toFixed(1)} s`;
    const parts = [
        [Math.floor(seconds / 86_400), "d"],
        [Math.floor(seconds / 3600) % 24, "h"],
        [Math.floor(seconds / 60) % 60, "min"],
        [Math.floor(seconds) % 60, "s"],
    ];
    const first = parts.findIndex(([amount]) => amount !== 0);
    return parts
        .slice(first, first + 2)
        .filter(([amount]) => amount !== 0)
        .map(([amount, unit]) => `${amount} ${unit}`)
        .join(" ");
}

const formats = new Map();

/** @param {Intl.DateTimeFormatOptions} options */
function dated(options) {
    const name = JSON.stringify(options) + utc.value;
    let format = formats.get(name);
    if (format === undefined) {
        format = new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...(utc.value ? { timeZone: "UTC" } : {}), ...options });
        formats.set(name, format);
    }
    return format;
}

/** @param {Intl.DateTimeFormatOptions} options @param {MaybeText | number | Date} at */
function timeAs(options, at) {
    if (at === null || at === undefined || at === "") return NONE;
    const date = new Date(at);
    return Number.isNaN(date.getTime()) ? String(at) : dated(options).format(date);
}

/** A date with its time to the second. @param {MaybeText | number | Date} at */
export const time = (at) => timeAs({ year: "numeric", month: "short", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" }, at);
/** @param {MaybeText | number | Date} at */
export const clock = (at) => timeAs({ hour: "2-digit", minute: "2-digit" }, at);
/** @param {MaybeText | number | Date} at */
export const day = (at) => timeAs({ month: "short", day: "2-digit" }, at);
/** A day of UTC, whatever the zone in which times are shown. @param {MaybeText | number | Date} at */
export const utcDay = (at) => timeAs({ month: "short", day: "2-digit", timeZone: "UTC" }, at);

/** A time of UTC, whatever the zone in which times are shown. @param {MaybeText} at */
export const utcTime = (at) => timeAs({ month: "short", day: "2-digit", hour: "2-digit", minute: "2-digit", timeZone: "UTC" }, at).replace(",", "");

/** How long ago a time is, such as `5 min ago`. @param {MaybeText} at @param {number} now */
export function ago(at, now) {
    if (at === null || at === undefined) return NONE;
    const passed = now - Date.parse(at);
    if (passed < 0) return time(at);
    if (passed < 60_000) return "just now";
    const [amount] = duration(passed).split(/(?<=[a-z]) /);
    return `${amount} ago`;
}

/**
 * How a state looks: never by its colour alone.
 * @type {Record<string, { glyph: string, tone: string, label: string }>}
 */
const STATES = {
    AVAILABLE: { glyph: "●", tone: "good", label: "Available" },
    STOPPED: { glyph: "○", tone: "off", label: "Stopped" },
    PENDING: { glyph: "◔", tone: "busy", label: "Pending" },
    STARTING: { glyph: "◔", tone: "busy", label: "Starting" },
    STOPPING: { glyph: "◔", tone: "busy", label: "Stopping" },
    REBOOTING: { glyph: "◑", tone: "busy", label: "Rebooting" },
    REBUILDING: { glyph: "◕", tone: "busy", label: "Rebuilding" },
    RESTORING: { glyph: "◕", tone: "busy", label: "Restoring" },
    UPDATING: { glyph: "◑", tone: "busy", label: "Updating" },
    MAINTENANCE: { glyph: "◇", tone: "care", label: "Maintenance" },
    ADMIN_MAINTENANCE: { glyph: "◆", tone: "care", label: "Admin maintenance" },
    SUSPENDED: { glyph: "▣", tone: "care", label: "Suspended" },
    IMPAIRED: { glyph: "△", tone: "warn", label: "Impaired" },
    UNHEALTHY: { glyph: "▲", tone: "warn", label: "Unhealthy" },
    ERROR: { glyph: "✖", tone: "bad", label: "Error" },
    TERMINATING: { glyph: "◌", tone: "off", label: "Terminating" },
    TERMINATED: { glyph: "◌", tone: "off", label: "Terminated" },
};

/** The known states, those that need a look first at the end. */
export const STATE_NAMES = Object.keys(STATES);

/** @param {MaybeText} state */
export function look(state) {
    const known = STATES[(state ?? "").toUpperCase()];
    return known ?? { glyph: "?", tone: "off", label: state || "Unknown" };
}
