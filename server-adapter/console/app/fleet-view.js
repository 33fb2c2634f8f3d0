// The desktops that a filter accepts, in an order; kept up to date as they change.

import { FIELDS, turn } from "./fleet.js";
import { folded } from "./columns.js";

/** @typedef {import("./columns.js").Order} Order */

/** Figures that stand at the newest statistics. */
const CURRENT = /** @type {const} */ (["cpu", "memory", "rootVolume", "userVolume", "uptimeSeconds"]);
/** Fields that are filtered as the interface does: `A`, `in.A,B` or `ne.A`, without case. */
const NAMES = /** @type {const} */ (["state", "region", "directoryId", "runningMode", "computeTypeName", "onHold"]);
const TEXTS = /** @type {const} */ (["workSpId", "username"]);
/** Fields that are filtered by bounds, such as `gt.80`, `lt.-1h` or `null`. */
const MEASURES = /** @type {const} */ (["lastSeen", "asOf", ...CURRENT]);
/** Members of the query that filter. */
export const TERMS = [...NAMES, ...TEXTS, ...MEASURES];

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * What bounds ask for, all of which must hold; what is not understood holds for nothing, as it is refused by the interface.
 * @param {string} term @param {number} now what times before now count from @returns {(value: number) => boolean} a value that is not a number is none
 */
export function bound(term, now) {
    const tests = term.split(",").map((part) => {
        if (part === "null") return Number.isNaN;
        if (part === "ne.null") return (/** @type {number} */ value) => !Number.isNaN(value);
        const [, by, text = ""] = /^(gt|ge|lt|le)\.(.+)$/.exec(part) ?? [];
        const before = /^-(\d+)([mhd])$/.exec(text);
        const limit = before ? now - Number(before[1]) * UNITS[/** @type {"m"} */ (before[2])] : /^\d{4}-/.test(text) ? Date.parse(text) : Number(text);
        return (/** @type {number} */ value) => (by === "gt" ? value > limit : by === "ge" ? value >= limit : by === "lt" ? value < limit : by === "le" && value <= limit);
    });
    return (value) => tests.every((test) => test(value));
}

/** What a term asks for. @param {string} term */
export function termValues(term) {
    const not = term.startsWith("ne.");
    const list = term.startsWith("in.");
    const values = (list ? term.slice(3).split(",") : [not ? term.slice(3) : term]).map(folded).filter((value) => value !== "" || !list);
    return { not, values: new Set(values) };
}

/** Rows that are sorted at once: some 20 ms. */
const TOGETHER = 16_384;

export class FleetView {
    /** Row numbers. */
    rows = new Uint32Array(0);
    /** Desktops by state, in upper case, that all filters but that of the state accept. @type {Map<string, number>} */
    states = new Map();
    /** All rows, also those without a desktop, in the order. */
    #all = new Uint32Array(0);
    #fleet;
    #sorted;
    #wanted = /** @type {Record<string, string | undefined>} */ ({});
    /** None before the first. */
    #sort = "?";
    /** That of the sort that is not done yet. @type {object | undefined} */
    #sorting;
    /** Rows that changed and have not their new place yet. The caller that hears of a change adds it at once. @type {Set<number>} */
    changed = new Set();

    /** @param {import("./fleet.js").Fleet} fleet @param {() => void} sorted called when a sort is done that `set` began */
    constructor(fleet, sorted) {
        this.#fleet = fleet;
        this.#sorted = sorted;
    }

    /**
     * Filters all at once; many desktops get another order only after some turns.
     * @param {Record<string, string | undefined>} wanted `q` and the terms
     * @param {string} sort a field, with `-` before it for the greatest first
     */
    set(wanted, sort) {
        this.#wanted = wanted;
        if (sort !== this.#sort) {
            this.#sort = sort;
            void this.#sortAll();
        }
        this.#filter();
    }

    /** Changed rows get their new place, the others keep theirs. */
    update() {
        if (this.#sorting === undefined) this.#move();
        this.#filter();
    }

    async #sortAll() {
        const mine = (this.#sorting = {});
        const isOver = () => turn().then(() => this.#sorting !== mine);
        const rows = new Uint32Array(this.#fleet.rows).map((_, row) => row);
        if (this.#all.length === 0) this.#all = rows;
        const order = this.#order();
        /** @type {Uint32Array<ArrayBuffer>[]} */
        const runs = [];
        for (let start = 0; start < rows.length; start += TOGETHER) {
            // Few rows are sorted before `set` goes on, and filters.
            if (rows.length > TOGETHER && (await isOver())) return;
            runs.push(this.#kept(rows.slice(start, start + TOGETHER)).sort(order));
        }
        while (runs.length > 1) {
            if (await isOver()) return;
            const [one, other] = runs.splice(0, 2);
            runs.push(merged(this.#kept(one), this.#kept(other), order));
        }
        this.#sorting = undefined;
        this.#all = runs[0] ?? rows;
        this.#move();
        if (rows.length > TOGETHER) {
            this.#filter();
            this.#sorted();
        }
    }

    /** A row that changed would lead others to wrong places: it is left out until it moves. @param {Uint32Array<ArrayBuffer>} run */
    #kept = (run) => only(run, (row) => !this.changed.has(row));

    #move() {
        if (this.changed.size === 0) return;
        const order = this.#order();
        this.#all = merged(this.#kept(this.#all), Uint32Array.from(this.changed).sort(order), order);
        this.changed.clear();
    }

    #filter() {
        const accepted = this.#accepted();
        this.rows = only(this.#all, (row) => accepted[row] === 1);
    }

    /** It reads columns as they are now: they are replaced as they grow. @returns {Order} */
    #order() {
        const name = /** @type {import("./fleet.js").Field} */ (this.#sort.replace(/^-/, ""));
        const column = this.#fleet.columns[FIELDS.includes(name) ? name : "workSpId"];
        const order = column.order(this.#sort.startsWith("-") ? -1 : 1);
        // Figures of the past come after those of now, as the server sorts them.
        const { values } = this.#fleet.columns.asOf;
        const past = (/** @type {number} */ row) => Number(!Number.isNaN(values[row]));
        return /** @type {readonly string[]} */ (CURRENT).includes(name) ? (one, other) => past(one) - past(other) || order(one, other) : order;
    }

    /** 1 for each row that the filter accepts. */
    #accepted() {
        const { columns, rows } = this.#fleet;
        const accepted = new Uint8Array(rows);
        const { workSpId, computerName, username, state } = columns;
        const asked = (/** @type {string} */ field) => this.#wanted[field];
        const part = folded(asked("q") ?? "");
        /** @type {((row: number) => boolean)[]} */
        const tests = [
            (row) => workSpId.values[row] !== null,
            ...NAMES.filter((field) => field !== "state" && asked(field)).map((field) => this.#term(field)),
            ...TEXTS.filter(asked).map((field) => this.#text(field)),
            ...MEASURES.filter(asked).map((field) => this.#bound(field)),
        ];
        if (part) tests.push((row) => workSpId.folded[row].includes(part) || computerName.folded[row].includes(part) || username.folded[row].includes(part));
        const inState = asked("state") ? this.#term("state") : () => true;
        const { names, numbers } = state;
        const counts = new Uint32Array(names.length);
        for (let row = 0; row < rows; row++) {
            if (!tests.every((test) => test(row))) continue;
            counts[numbers[row]]++;
            if (inState(row)) accepted[row] = 1;
        }
        this.states = new Map();
        names.forEach((name, number) => {
            const key = name === null ? "" : String(name).toUpperCase();
            if (counts[number] > 0) this.states.set(key, (this.states.get(key) ?? 0) + counts[number]);
        });
        return accepted;
    }

    /** @param {typeof NAMES[number]} field @returns {(row: number) => boolean} */
    #term(field) {
        const { names, numbers } = this.#fleet.columns[field];
        const { not, values } = termValues(/** @type {string} */ (this.#wanted[field]));
        const wanted = names.map((name) => (name !== null && values.has(folded(String(name)))) !== not);
        return (row) => wanted[numbers[row]];
    }

    /** @param {typeof TEXTS[number]} field @returns {(row: number) => boolean} */
    #text(field) {
        const { values: texts, folded: forms } = this.#fleet.columns[field];
        const { not, values } = termValues(/** @type {string} */ (this.#wanted[field]));
        return (row) => (texts[row] !== null && values.has(forms[row])) !== not;
    }

    /** @param {typeof MEASURES[number]} field @returns {(row: number) => boolean} */
    #bound(field) {
        const { values } = this.#fleet.columns[field];
        const past = this.#fleet.columns.asOf.values;
        const test = bound(/** @type {string} */ (this.#wanted[field]), Date.now());
        // A figure of the past counts as none.
        return field === "lastSeen" || field === "asOf" ? (row) => test(values[row]) : (row) => test(Number.isNaN(past[row]) ? values[row] : Number.NaN);
    }
}

/** The rows that pass; ten times as fast as `filter` of the array. @param {Uint32Array<ArrayBuffer>} rows @param {(row: number) => boolean} passes */
function only(rows, passes) {
    const kept = new Uint32Array(rows.length);
    let count = 0;
    for (const row of rows) if (passes(row)) kept[count++] = row;
    return kept.subarray(0, count);
}

/** Two sorted lists as one. @param {Uint32Array} one @param {Uint32Array} other @param {Order} order */
function merged(one, other, order) {
    const rows = new Uint32Array(one.length + other.length);
    let [a, b, to] = [0, 0, 0];
    // A page that is read follows what was read before it.
    if (one.length > 0 && other.length > 0 && order(one[one.length - 1], other[0]) <= 0) {
        rows.set(one);
        a = to = one.length;
    }
    while (a < one.length && b < other.length) rows[to++] = order(one[a], other[b]) <= 0 ? one[a++] : other[b++];
    rows.set(one.subarray(a), to);
    rows.set(other.subarray(b), to + one.length - a);
    return rows;
}
