import { DeskfleetError, invalidArgument, kindOf } from "../errors.js";
import { readBody } from "../exchange.js";
import { coreOptions } from "../options.js";
import { afterThisTurn } from "../turn.js";
import { CALLS, errorOf, isRepeatable, responseOf } from "./calls.js";
import { isKept } from "./keeping.js";
import { storeName } from "./name.js";

const DEFAULT_NAME = "deskfleet.redb";
/** The largest body that an engine takes unless its limits say otherwise. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

/**
 * Opens the store of this origin in a worker, or joins the tab that has it open.
 * @param {() => Worker} makeWorker
 */
export async function connectThrough(makeWorker, options = {}) {
    const { name = DEFAULT_NAME, worker, ...rest } = options;
    storeName(name);
    for (const unable of ["storage", "clock"]) {
        if (rest[unable] !== undefined) throw invalidArgument(`options.${unable} cannot cross to a worker; leave it out`);
    }
    coreOptions(rest);
    const client = new Client(chosenWorker(worker, makeWorker), rest.limits);
    await client.open(name, rest);
    return client;
}

function chosenWorker(worker, makeWorker) {
    if (worker === undefined) return makeWorker();
    if (typeof worker?.postMessage === "function") return worker;
    if (typeof worker === "string" || worker instanceof URL) return new Worker(worker, { type: "module" });
    throw invalidArgument(`options.worker must be a Worker or the URL of its script, not ${kindOf(worker)}`);
}

/** An engine in a worker, as a page sees it. */
class Client {
    #worker;
    #bodyBytesMax;
    #number = 0;
    /** Calls of this turn. */
    #calls = [];
    /** @type {Map<number, { answered: (value: unknown) => void, failed: (error: unknown) => void }>} */
    #waiting = new Map();
    #kept = false;
    /** @type {DeskfleetError | undefined} */
    #ended;
    #closing;
    #told = () => {};

    constructor(worker, limits = {}) {
        this.#worker = worker;
        this.#bodyBytesMax = Math.max(BODY_BYTES_MAX, limits.batchBodyBytes ?? 0, limits.processesBodyBytes ?? 0, limits.recordBodyBytes ?? 0);
        worker.addEventListener("message", ({ data }) => this.#receive(data));
    }

    async open(name, options) {
        const opened = new Promise((told) => {
            this.#told = told;
            this.#worker.addEventListener("error", (event) => {
                // An error of a worker that runs is that of one call, which is told by itself.
                told({ failed: { code: "StorageUnavailable", message: `the worker did not start: ${event.message ?? "its script cannot be loaded"}` } });
            });
        });
        try {
            this.#worker.postMessage({ open: { name, options } });
        } catch (error) {
            this.#worker.terminate();
            throw invalidArgument("an option cannot cross to a worker", error);
        }
        const { failed } = await opened;
        if (failed) {
            this.#worker.terminate();
            throw errorOf(failed);
        }
        this.#kept = await isKept();
    }

    async fetch(request) {
        const { method, url, headers } = request ?? {};
        if (typeof method !== "string" || typeof url !== "string" || typeof headers?.get !== "function") {
            throw invalidArgument(`fetch takes a Request, not ${kindOf(request)}`);
        }
        const pairs = [...headers];
        const body = request.body === null ? null : await readBody(request, this.#bodyBytesMax);
        // What is sent is given away, so it must be nobody else's.
        const own = body === null || body.byteLength === body.buffer.byteLength ? body : body.slice();
        return responseOf(await this.#call("fetch", { method, url, headers: pairs, body: own }));
    }

    advanceClock(milliseconds) {
        if (!Number.isFinite(milliseconds)) throw invalidArgument("milliseconds must be a finite number");
        this.#call("advanceClock", [milliseconds]).catch(() => {});
    }

    persisted() {
        return this.#kept;
    }

    async persist() {
        try {
            await navigator.storage.persist();
        } catch {
            // Where it cannot be asked for it is not given.
        }
        this.#kept = await isKept();
        return this.#kept;
    }

    wipe() {
        return this.#call("wipe", []);
    }

    close() {
        this.#closing ??= this.#close();
        return this.#closing;
    }

    async #close() {
        await Promise.allSettled([...this.#waiting.values()].map(({ ended }) => ended));
        const closed = new Promise((told) => (this.#told = told));
        this.#worker.postMessage({ close: true });
        this.#ended = new DeskfleetError("EngineClosed", "the engine was closed; connect again");
        const { failed } = await closed;
        this.#worker.terminate();
        for (const { failed: fail } of this.#waiting.values()) fail(this.#ended);
        if (failed) throw errorOf(failed);
    }

    async [Symbol.asyncDispose]() {
        await this.close();
    }

    static {
        for (const name of CALLS) {
            if (name in this.prototype) continue;
            this.prototype[name] = async function (...argument) {
                return this.#call(name, argument);
            };
        }
    }

    // ---- inside

    /** Calls of one turn cross together, so that their writes share a commit. */
    #call(name, argument) {
        if (this.#ended) return Promise.reject(this.#ended);
        const id = (this.#number += 1);
        const call = { id, name, argument, repeatable: isRepeatable(name, argument) };
        const ended = new Promise((answered, failed) => this.#waiting.set(id, { answered, failed }));
        this.#waiting.get(id).ended = ended;
        this.#calls.push(call);
        if (this.#calls.length === 1) afterThisTurn(() => this.#send());
        return ended;
    }

    #send() {
        const calls = this.#calls;
        this.#calls = [];
        const bodies = calls.flatMap(({ argument }) => (argument.body ? [argument.body.buffer] : []));
        try {
            this.#worker.postMessage({ calls }, bodies);
        } catch (error) {
            // One of them holds what cannot be copied; the others are not to blame.
            if (calls.length > 1) return calls.forEach((call) => ((this.#calls = [call]), this.#send()));
            this.#settle({ id: calls[0].id, error: { code: "InvalidArgument", message: `${calls[0].name} was given what cannot cross to a worker`, cause: error } });
        }
    }

    #receive({ answers, opened, closed, failed }) {
        if (answers) answers.forEach((answer) => this.#settle(answer));
        if (opened || closed || failed) this.#told({ failed });
    }

    #settle({ id, value, error }) {
        const waiting = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (error) waiting?.failed(errorOf(error));
        else waiting?.answered(value);
    }
}
