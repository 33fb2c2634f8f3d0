import { DeskfleetError, invalidArgument, kindOf } from "../errors.js";
import { followed, position } from "../events.js";
import { Underway, requestFrom } from "../exchange.js";
import { isUrl } from "../kinds.js";
import { coreOptions } from "../options.js";
import { questions } from "../query.js";
import { clearTimeout, setTimeout } from "../timers.js";
import { afterThisTurn } from "../turn.js";
import { CALLS, errorOf, errorParts, isRepeatable, lost, responseOf } from "./calls.js";
import { isKept } from "./keeping.js";
import { storeName } from "./name.js";
import { problemParts } from "./problem.js";

/** What `connect` does where the browser has no files for pages. */
const FALLBACKS = ["indexeddb", "memory"];
const DEFAULT_NAME = "deskfleet.redb";
/** The default limit of the largest body that an engine reads, but for an import. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;
/** An import has any length. */
const IMPORT = /^\/operator\/workspaces\/?$/i;
/** Bytes of the units of sizes in text, such as "16 MiB". */
const SIZES = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };
/** A worker whose script was loaded says so at once. */
const START_MS = 60_000;
/** How long closing waits for the bodies of earlier requests, in milliseconds. */
const CLOSE_PATIENCE_MS = 1000;
/** How often the worker is asked for events that another tab may have made, in milliseconds. */
const EVENTS_EVERY_MS = 500;

/**
 * Opens the store of this origin in a worker, or joins the tab that has it open.
 * @param {() => Worker} makeWorker
 */
export async function connectThrough(makeWorker, options = {}) {
    const { name = DEFAULT_NAME, worker, fallback, ...rest } = options;
    storeName(name);
    if (fallback !== undefined && !FALLBACKS.includes(fallback)) throw invalidArgument(`options.fallback must be one of ${FALLBACKS.join(", ")}`);
    for (const unable of ["storage", "clock"]) {
        if (rest[unable] !== undefined) throw invalidArgument(`options.${unable} cannot be sent to a worker; leave it out`);
    }
    coreOptions(rest);
    if (fallback !== "memory" && globalThis.navigator?.locks === undefined) throw insecure();
    const client = new Client(workerMaker(worker, makeWorker), name, rest, fallback);
    await client.open();
    return client;
}

/** Makes the worker, and another one after the first has ended. */
function workerMaker(worker, makeWorker) {
    if (worker === undefined) return makeWorker;
    if (typeof worker === "function") return worker;
    if (typeof worker === "string" || isUrl(worker)) return () => new Worker(worker, { type: "module" });
    if (typeof worker?.postMessage !== "function") throw invalidArgument(`options.worker must be a Worker, a function that makes one or the URL of its script, not ${kindOf(worker)}`);
    let given = worker;
    return () => {
        if (given === undefined) throw new DeskfleetError("StorageUnavailable", "the worker given as options.worker has ended; give a function that makes a worker, so that another can be started");
        [worker, given] = [given, undefined];
        return worker;
    };
}

/**
 * An engine in a worker, as a page sees it. A page that the browser freezes, as in its back/forward cache, ends its
 * worker first, so that the store is not frozen with it, and starts another when it is shown again.
 */
class Client {
    #makeWorker;
    #name;
    #options;
    #fallback;
    #storageKind;
    #bodyBytesMax;
    /** @type {Worker | undefined} */
    #worker;
    /** Whether the worker has joined the others, so that it takes calls. */
    #ready = false;
    /** Whether the browser has frozen this page, or is about to. */
    #away = false;
    #starting;
    /** Stops waiting for the end of the worker. */
    #watching = new AbortController();
    /** Removes the listeners of the page's lifecycle events. */
    #listening = new AbortController();
    #number = 0;
    #underway = new Underway();
    /** @type {Map<number, { call: object, sent: boolean, doubtful?: boolean, ended: Promise<unknown>, answered: (value: unknown) => void, failed: (error: unknown) => void }>} */
    #waiting = new Map();
    /** Those of them that no worker has received yet; calls of one turn. */
    #unsent = [];
    #sending = false;
    #kept = false;
    /** @type {DeskfleetError | undefined} */
    #ended;
    #closing;
    #opened = { joined() {}, failed() {} };
    #closed = () => {};
    query = questions(this);

    constructor(makeWorker, name, options, fallback) {
        const { limits = {} } = options;
        this.#makeWorker = makeWorker;
        this.#name = name;
        this.#options = options;
        this.#fallback = fallback;
        const sizes = [limits.batchBodyBytes, limits.processesBodyBytes, limits.recordBodyBytes];
        this.#bodyBytesMax = Math.max(BODY_BYTES_MAX, ...sizes.map(sizeOf));
        const { signal } = this.#listening;
        for (const [target, gone, back] of [[globalThis, "pagehide", "pageshow"], [globalThis.document, "freeze", "resume"]]) {
            target?.addEventListener(gone, () => this.#leave(), { signal });
            target?.addEventListener(back, () => this.#return(), { signal });
        }
    }

    async open() {
        try {
            await new Promise((joined, failed) => {
                this.#opened = { joined, failed };
                this.#start();
            });
        } catch (error) {
            this.#listening.abort();
            throw error;
        }
        this.#kept = await isKept();
        // The tab with the store may have loaded the package when a file was the only kind.
        this.#storageKind = await this.#call("storageKind", []).catch(() => "opfs");
    }

    get storageKind() {
        return this.#storageKind;
    }

    async fetch(input, init) {
        const request = requestFrom(input, init);
        this.#mustBeOpen();
        return this.#underway.add(this.#respond(request));
    }

    advanceClock(milliseconds) {
        if (!Number.isFinite(milliseconds)) throw invalidArgument("milliseconds must be a finite number");
        this.#mustBeOpen();
        this.#call("advanceClock", [milliseconds]).catch(() => {});
    }

    events(options = {}) {
        const after = position(options?.after);
        this.#mustBeOpen();
        const start = after ?? this.readEvents().then((read) => read.position);
        return followed(start, {
            read: (from) => this.readEvents(from),
            whenMoved: (wake) => void setTimeout(wake, EVENTS_EVERY_MS),
            isOver: () => this.#ended !== undefined || this.#closing !== undefined,
        });
    }

    persisted() {
        return this.#kept;
    }

    async persist() {
        try {
            await navigator.storage.persist();
        } catch {
            // Without a way to ask for it, it is not granted.
        }
        this.#kept = await isKept();
        return this.#kept;
    }

    async wipe() {
        this.#mustBeOpen();
        return this.#call("wipe", []);
    }

    close() {
        this.#closing ??= this.#close();
        return this.#closing;
    }

    async #close() {
        const error = closed();
        await this.#underway.drained(CLOSE_PATIENCE_MS);
        this.#underway.stop(error);
        await Promise.allSettled([...this.#waiting.values()].map(({ ended }) => ended));
        this.#ended = error;
        const failed = await new Promise((resolve) => {
            this.#closed = resolve;
            if (this.#worker === undefined) resolve();
            else this.#worker.postMessage({ close: true });
        });
        this.#listening.abort();
        this.#drop(error);
        if (failed) throw errorOf(failed);
    }

    async [Symbol.asyncDispose]() {
        await this.close();
    }

    static {
        for (const name of CALLS) {
            if (name in this.prototype) continue;
            this.prototype[name] = async function (...argument) {
                this.#mustBeOpen();
                return this.#call(name, argument);
            };
        }
    }

    // ---- inside

    /** Used by calls made before `close()`. */
    #mustBeOpen() {
        if (this.#ended || this.#closing) throw this.#ended ?? closed();
    }

    async #respond(request) {
        const { method, url, headers } = request;
        request.signal?.throwIfAborted();
        const pairs = [...headers];
        const max = method === "POST" && IMPORT.test(new URL(url, "http://fleet").pathname) ? Infinity : this.#bodyBytesMax;
        const body = request.body === null ? null : await this.#underway.read(request, max);
        // The worker would take what was read for the whole body.
        if (body?.byteLength > max) return responseOf(problemParts(413, "PayloadTooLarge", `The body is larger than ${max} bytes.`));
        // Posting a view copies the whole buffer behind it.
        const own = body === null || body.byteLength === body.buffer.byteLength ? body : body.slice();
        return responseOf(await this.#call("fetch", { method, url, headers: pairs, body: own }));
    }

    // The worker

    #start() {
        let worker;
        try {
            worker = this.#makeWorker();
        } catch (error) {
            return this.#drop(error instanceof DeskfleetError ? error : unstarted(error?.message ?? error, error));
        }
        const fail = (error) => {
            if (worker === this.#worker) this.#drop(error);
        };
        this.#worker = worker;
        this.#starting = setTimeout(() => fail(unstarted(`it said nothing for ${START_MS / 1000} s`)), START_MS);
        worker.addEventListener("message", ({ data }) => {
            if (worker === this.#worker) this.#receive(data, fail);
        });
        worker.addEventListener("error", (event) => {
            // An error of a running worker belongs to one call, which reports it itself.
            if (!this.#ready) fail(unstarted(event.message ?? "its script cannot be loaded"));
        });
        try {
            worker.postMessage({ open: { name: this.#name, options: this.#options, fallback: this.#fallback } });
        } catch (error) {
            fail(invalidArgument("an option cannot be sent to a worker", error));
        }
    }

    /** Ends the worker. With an error, refuses all calls; without, keeps repeatable calls for the next worker. */
    #drop(error) {
        clearTimeout(this.#starting);
        this.#watching.abort();
        this.#worker?.terminate();
        this.#worker = undefined;
        this.#ready = false;
        this.#unsent = [];
        for (const waiting of this.#waiting.values()) {
            const { call } = waiting;
            // A call in doubt stays in doubt: a repeated one may have been made the first time.
            waiting.doubtful ||= waiting.sent;
            if (error === undefined && (!waiting.sent || isRepeatable(call))) {
                waiting.sent = false;
                this.#unsent.push(waiting);
            } else if (waiting.doubtful) this.#settle(lost(call, "the worker with the engine ended"));
            else this.#settle({ id: call.id, error: errorParts(error) });
        }
        this.#closed();
        if (error !== undefined) this.#opened.failed(error);
    }

    #leave() {
        if (this.#away) return;
        this.#away = true;
        this.#drop();
    }

    #return() {
        if (!this.#away) return;
        this.#away = false;
        if (this.#ended === undefined) this.#start();
    }

    #receive({ lock, opened, answers, closed, failed }, fail) {
        if (lock) {
            clearTimeout(this.#starting);
            this.#watching = new AbortController();
            // A lock that the worker holds, so that it is free when the worker has ended for any reason.
            const ended = () => fail(new DeskfleetError("StorageUnavailable", "the worker with the engine ended"));
            // A worker that closes releases it shortly before it reports the end.
            const gone = () => void (this.#closing ? setTimeout(ended, CLOSE_PATIENCE_MS) : ended());
            navigator.locks.request(lock, { signal: this.#watching.signal }, gone).catch(() => {});
        }
        if (answers) answers.forEach((answer) => this.#settle(answer));
        if (opened) {
            clearTimeout(this.#starting);
            this.#ready = true;
            this.#opened.joined();
            this.#send();
        }
        if (closed) this.#closed(failed);
        else if (failed) fail(errorOf(failed));
    }

    // Calls

    /** Calls of one turn are posted together, so that their writes share a commit. */
    #call(name, argument) {
        if (this.#ended) return Promise.reject(this.#ended);
        const id = (this.#number += 1);
        const call = { id, name, argument };
        const waiting = { call, sent: false };
        waiting.ended = new Promise((answered, failed) => Object.assign(waiting, { answered, failed }));
        this.#waiting.set(id, waiting);
        this.#unsent.push(waiting);
        if (this.#worker === undefined && !this.#away) this.#start();
        else if (!this.#sending) {
            this.#sending = true;
            afterThisTurn(() => this.#send());
        }
        return waiting.ended;
    }

    #send() {
        this.#sending = false;
        if (!this.#ready) return;
        const unsent = this.#unsent;
        this.#unsent = [];
        if (unsent.length === 0) return;
        for (const waiting of unsent) waiting.sent = true;
        if (this.#post(unsent) === undefined) return;
        // One of them holds a value that cannot be cloned; the others are sent one by one.
        for (const waiting of unsent) {
            const { id, name } = waiting.call;
            const cause = this.#post([waiting]);
            if (cause !== undefined) this.#settle({ id, error: { code: "InvalidArgument", message: `${name} was given what cannot cross to a worker`, cause } });
        }
    }

    /** Posts calls to the worker; returns why that failed. */
    #post(waiting) {
        try {
            this.#worker.postMessage({ calls: waiting.map(({ call }) => call) });
            return undefined;
        } catch (error) {
            return error;
        }
    }

    #settle({ id, value, error }) {
        const waiting = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (error) waiting?.failed(errorOf(error));
        else waiting?.answered(value);
    }
}

/** Bytes of a limit: a number, or a text that the engine reads too. One that it refuses is 0. */
function sizeOf(size = 0) {
    if (typeof size === "number") return size;
    const amounts = [...String(size).matchAll(/(\d+)\s*([A-Za-z]+)/g)];
    return amounts.reduce((sum, [, count, unit]) => sum + count * (SIZES[unit] ?? 0), 0);
}

function closed() {
    return new DeskfleetError("EngineClosed", "the engine was closed; connect again");
}

/** Thrown before a worker is started: without a file or a lock, nothing could be kept there. */
function insecure() {
    const where = globalThis.isSecureContext === false ? "this page is not from a secure origin (https or localhost)" : "this browser has no Web Locks";
    return new DeskfleetError("StorageUnavailable", `${where}, so it can keep no store that tabs share; pass { fallback: "memory" } to keep it until the page is closed`);
}

function unstarted(why, cause) {
    return new DeskfleetError("StorageUnavailable", `the worker did not start: ${why}`, { cause });
}
