// Columns of a table in memory: a value for each row number.

/** The form in which texts are compared, as the engine does. @param {string} text */
export const folded = (text) => text.normalize("NFC").toLowerCase();

/** @typedef {(one: number, other: number) => number} Order of two row numbers */
/** @typedef {string | number | boolean | null} Value */

/** Texts that are mostly different. */
export class Texts {
    /** @type {(string | null)[]} */
    values = [];
    /** For comparison; empty where there is none. @type {string[]} */
    folded = [];

    grow() {}

    /** @param {number} row @param {any} value */
    set(row, value) {
        this.values[row] = value;
        this.folded[row] = value === null ? "" : folded(value);
    }

    /** @param {number} row @returns {Value} */
    get = (row) => this.values[row];

    /** @param {number} sign 1 or -1; rows without a value come last in both @returns {Order} */
    order(sign) {
        const { folded } = this;
        return (one, other) => {
            const a = folded[one];
            const b = folded[other];
            if (a === b) return one - other;
            if (a === "" || b === "") return a === "" ? 1 : -1;
            return a < b ? -sign : sign;
        };
    }
}

/** Values of which there are few different ones. */
export class Names {
    /** The different values; the number of one is its place. @type {Value[]} */
    names = [null];
    /** @type {Map<Value, number>} */
    #numbers = new Map([[null, 0]]);
    numbers = new Uint32Array(0);

    /** @param {number} rows */
    grow(rows) {
        this.numbers = grown(this.numbers, new Uint32Array(rows));
    }

    /** @param {number} row @param {Value} value */
    set(row, value) {
        let number = this.#numbers.get(value);
        if (number === undefined) {
            number = this.names.push(value) - 1;
            this.#numbers.set(value, number);
        }
        this.numbers[row] = number;
    }

    /** @param {number} row @returns {Value} */
    get = (row) => this.names[this.numbers[row]];

    /** @param {number} sign @returns {Order} */
    order(sign) {
        const { names, numbers } = this;
        const keys = names.map((name) => folded(String(name)));
        const rank = new Map([...new Set(keys)].sort().map((key, place) => [key, place]));
        // That of null is not a number, as in `Numbers`.
        const ranks = names.map((name, number) => (name === null ? Number.NaN : rank.get(keys[number]) ?? Number.NaN));
        return byNumber((row) => ranks[numbers[row]], sign);
    }
}

/** Numbers; null is kept as one that is not a number. */
export class Numbers {
    values = new Float64Array(0);

    /** @param {number} rows */
    grow(rows) {
        this.values = grown(this.values, new Float64Array(rows));
    }

    /** @param {number} row @param {any} value */
    set(row, value) {
        this.values[row] = value ?? Number.NaN;
    }

    /** @param {number} row @returns {Value} */
    get = (row) => (Number.isNaN(this.values[row]) ? null : this.values[row]);

    /** @param {number} sign @returns {Order} */
    order(sign) {
        const { values } = this;
        return byNumber((row) => values[row], sign);
    }
}

/** Times, to the millisecond; written as the interface does. */
export class Times extends Numbers {
    /** @param {number} row @param {any} value */
    set(row, value) {
        super.set(row, value === null ? null : Date.parse(value));
    }

    /** @param {number} row @returns {Value} */
    get = (row) => (Number.isNaN(this.values[row]) ? null : new Date(this.values[row]).toISOString().replace(/\.?0+Z$/, "Z"));
}

/** @param {(row: number) => number} key @param {number} sign @returns {Order} */
function byNumber(key, sign) {
    return (one, other) => {
        const a = key(one);
        const b = key(other);
        if (a < b) return -sign;
        if (a > b) return sign;
        if (a === b) return one - other;
        return Number(Number.isNaN(a)) - Number(Number.isNaN(b)) || one - other;
    };
}

/** @template {Uint32Array | Float64Array} T @param {T} before @param {T} after */
function grown(before, after) {
    after.set(before);
    return after;
}
