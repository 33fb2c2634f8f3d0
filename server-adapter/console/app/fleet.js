// All desktops of the fleet: read once, in pages, and then kept up to date by events. Pages share it until the person signs out.

import { ApiError, get } from "./api.js";
import { Names, Numbers, Texts, Times } from "./columns.js";
import { live, onEvent } from "./live.js";
import { session } from "./session.js";
import { effect, signal } from "./vendor/preact.js";

const PAGE_ROWS = 5000;
/** Desktops that one request reads by their ids, and bytes of the ids: an address has 8 KiB. */
const IDS_MAX = 500;
const IDS_BYTES_MAX = 6000;
/** Events that come together cause one request. */
const TOGETHER_MS = 100;
const RETRY_MS = 10_000;
/** Above this number of changed desktops all are read again. */
const CHANGED_MAX = 5000;

const newColumns = () => ({
    workSpId: new Texts(),
    computerName: new Texts(),
    username: new Texts(),
    state: new Names(),
    runningMode: new Names(),
    computeTypeName: new Names(),
    region: new Names(),
    directoryId: new Names(),
    onHold: new Names(),
    transition: new Names(),
    lastSeen: new Times(),
    cpu: new Numbers(),
    memory: new Numbers(),
    rootVolume: new Numbers(),
    userVolume: new Numbers(),
    uptimeSeconds: new Numbers(),
    asOf: new Times(),
});

/** @typedef {ReturnType<typeof newColumns>} Columns */
/** @typedef {keyof Columns} Field */

/** @type {Field[]} */
export const FIELDS = /** @type {any} */ (Object.keys(newColumns()));

/** Lets the page respond. */
export const turn = () => new Promise((done) => setTimeout(done));

export class Fleet {
    columns = newColumns();
    /** Row numbers in use are below; those of removed desktops have no id. */
    rows = 0;
    /** @type {Map<string, number>} */
    rowOf = new Map();
    /** Grows with each change of a row. @type {number[]} */
    revisions = [];
    /** `complete` once all pages were read. */
    status = signal({ complete: false, error: /** @type {Error | undefined} */ (undefined), warnings: /** @type {string[]} */ ([]) });

    /** @type {Set<(rows: number[]) => void>} */
    #listeners = new Set();
    /** @type {number[]} */
    #free = [];
    #capacity = 0;
    /** The walk over all pages in which a row was read. @type {number[]} */
    #walkOf = [];
    #walk = 1;
    #walking = true;
    #walkAgain = false;
    #nextToken = /** @type {string | undefined} */ (undefined);
    /** Ids of desktops to read again. @type {Set<string>} */
    #changed = new Set();
    #changedDue = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #retrying;
    #busy = false;
    #closing = new AbortController();
    #stops = [onEvent((event) => this.#happened(event))];

    constructor() {
        // What happened between the first page and the first event is in neither: all is read once more.
        let early = live.value === "connecting";
        this.#stops.push(
            live.subscribe((state) => {
                if (early && state === "live") this.#readAll();
                early &&= state !== "live";
            }),
        );
        void this.#run();
    }

    close() {
        this.#closing.abort();
        for (const stop of this.#stops) stop();
        clearTimeout(this.#timer);
        clearTimeout(this.#retrying);
    }

    /** Calls a function with the numbers of changed rows. @param {(rows: number[]) => void} listener @returns {() => void} stops it */
    listen(listener) {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
    }

    /** Reads desktops again soon. @param {Iterable<string>} ids */
    refresh(ids) {
        for (const id of ids) this.#changed.add(id);
        this.#timer ??= setTimeout(() => {
            this.#timer = undefined;
            this.#changedDue = true;
            void this.#run();
        }, TOGETHER_MS);
    }

    /** Goes on after an error, at once. */
    retry = () => void this.#run();

    /** A desktop as the interface has it. @param {number} row */
    record(row) {
        return Object.fromEntries(FIELDS.map((field) => [field, this.columns[field].get(row)]));
    }

    /** @param {import("./live.js").FleetEvent} event */
    #happened({ type, workSpaceId, detail }) {
        // Each desktop of a listed part had an event of its own.
        if ((type === "import.committed" && !detail.listed) || type === "resync") this.#readAll();
        else if (workSpaceId !== null) this.refresh([workSpaceId]);
    }

    #readAll() {
        this.#walkAgain = true;
        this.refresh([]);
    }

    /** One request at a time, so that no older response overwrites a newer one. */
    async #run() {
        if (this.#busy) return;
        this.#busy = true;
        try {
            while (!this.#closing.signal.aborted) {
                if (this.#changed.size > CHANGED_MAX) {
                    this.#changed.clear();
                    this.#walkAgain = true;
                }
                if (this.#changedDue && this.#changed.size > 0) await this.#readChanged();
                else if (this.#walking) await this.#readPage();
                else if (this.#walkAgain) this.#beginWalk();
                else break;
            }
        } catch (error) {
            this.#failed(/** @type {Error} */ (error));
        }
        this.#busy = false;
    }

    #beginWalk() {
        this.#walk++;
        this.#nextToken = undefined;
        this.#walking = true;
        this.#walkAgain = false;
    }

    /** @param {Error} error */
    #failed(error) {
        if (this.#closing.signal.aborted) return;
        // The token, or an id, is not accepted: begin anew.
        if (error instanceof ApiError && error.status === 400) {
            this.#changed.clear();
            this.#beginWalk();
        }
        this.status.value = { ...this.status.value, error };
        clearTimeout(this.#retrying);
        this.#retrying = setTimeout(this.retry, RETRY_MS);
    }

    /** @param {Record<string, any>} query */
    async #read(query) {
        const page = await get("/query/workspaces", { format: "columns", limit: PAGE_ROWS, fields: FIELDS.join(), ...query }, this.#closing.signal);
        // Reading and storing are two tasks, so that neither is long.
        await turn();
        this.#closing.signal.throwIfAborted();
        return page;
    }

    async #readPage() {
        const { columns, nextToken, hasMore, warnings } = await this.#read({ nextToken: this.#nextToken });
        const rows = this.#store(columns);
        this.#nextToken = nextToken;
        this.#walking = hasMore;
        if (!hasMore) rows.push(...this.#removeMissing());
        this.status.value = { complete: !hasMore || this.status.value.complete, error: undefined, warnings };
        this.#say(rows);
    }

    async #readChanged() {
        const ids = this.#nextIds();
        // Removed before the request: what changes during it is read once more.
        for (const id of ids) this.#changed.delete(id);
        const { columns } = await this.#read({ workSpId: ids[0].includes(",") ? ids[0] : ids }).catch((error) => {
            for (const id of ids) this.#changed.add(id);
            throw error;
        });
        const rows = this.#store(columns);
        const found = new Set(columns.workSpId);
        for (const id of ids) {
            const row = this.rowOf.get(id);
            if (row !== undefined && !found.has(id)) rows.push(this.#remove(row));
        }
        this.#changedDue = this.#changed.size > 0;
        if (this.status.value.error !== undefined) this.status.value = { ...this.status.value, error: undefined };
        this.#say(rows);
    }

    /** The engine takes a comma for the end of an id: such a one is read alone. */
    #nextIds() {
        const ids = [];
        let bytes = 0;
        for (const id of this.#changed) {
            bytes += encodeURIComponent(id).length + 3;
            const alone = id.includes(",");
            if (ids.length > 0 && (ids.length === IDS_MAX || bytes > IDS_BYTES_MAX || alone)) break;
            ids.push(id);
            if (alone) break;
        }
        return ids;
    }

    /** @param {Record<string, any[]>} columns @returns {number[]} the numbers of the rows */
    #store(columns) {
        const rows = columns.workSpId.map((id) => this.#rowFor(id));
        for (const field of FIELDS) {
            const column = this.columns[field];
            const values = columns[field];
            for (let index = 0; index < rows.length; index++) column.set(rows[index], values[index]);
        }
        for (const row of rows) this.#walkOf[row] = this.#walk;
        return rows;
    }

    /** @param {string} id */
    #rowFor(id) {
        const known = this.rowOf.get(id);
        if (known !== undefined) return known;
        const row = this.#free.pop() ?? this.rows++;
        if (row >= this.#capacity) {
            this.#capacity = Math.max(8192, this.#capacity * 2);
            for (const field of FIELDS) this.columns[field].grow(this.#capacity);
        }
        this.rowOf.set(id, row);
        return row;
    }

    /** @param {number} row */
    #remove(row) {
        this.rowOf.delete(/** @type {string} */ (this.columns.workSpId.values[row]));
        this.columns.workSpId.set(row, null);
        this.#free.push(row);
        return row;
    }

    /** Removes what the walk that ends did not find. */
    #removeMissing() {
        return [...this.rowOf.values()].filter((row) => this.#walkOf[row] !== this.#walk).map((row) => this.#remove(row));
    }

    /** @param {number[]} rows */
    #say(rows) {
        for (const row of rows) this.revisions[row] = (this.revisions[row] ?? 0) + 1;
        for (const listener of this.#listeners) listener(rows);
    }
}

/** @type {Fleet | undefined} */
let shared;

/** The fleet of the session, read from the first call on. */
export function openFleet() {
    return (shared ??= new Fleet());
}

effect(() => {
    if (session.value !== null) return;
    shared?.close();
    shared = undefined;
});
