import { problemParts } from "./browser/problem.js";
import { responseOf } from "./browser/calls.js";
import { invalidArgument, kindOf } from "./errors.js";
import { Engine } from "./index.js";
import { coreOptions } from "./options.js";
import { indexedDbStorage } from "./storage/indexeddb.js";

const DEFAULT_NAME = "deskfleet";
const MAINTAIN_EVERY_MS = 1000;

/**
 * Serves requests of pages with an engine, see `service-worker.d.ts`. Call it when the script of the worker is first
 * run.
 * @param {object} [options]
 */
export function answerFetches(options = {}) {
    const { name = DEFAULT_NAME, paths = ["/api/"], base = "/", storage, onOpen = () => {}, takeOver = true, ...rest } = options;
    if (storage !== undefined && typeof storage !== "function") throw invalidArgument(`options.storage must be a function that opens a storage, not ${kindOf(storage)}`);
    if (!Array.isArray(paths) || paths.some((path) => typeof path !== "string" || !path.startsWith("/"))) throw invalidArgument("options.paths must be a list of path prefixes that begin with a slash");
    if (typeof base !== "string" || !base.startsWith("/") || !base.endsWith("/")) throw invalidArgument("options.base must begin and end with a slash");
    coreOptions(rest);
    const desk = new Desk(storage ?? (() => indexedDbStorage(name)), rest, onOpen);
    const beginnings = paths.map((path) => (base + path.slice(1)).toLowerCase());
    addEventListener("fetch", (event) => {
        const { origin, pathname } = new URL(event.request.url);
        if (origin !== location.origin) return;
        if (!beginnings.some((beginning) => pathname.toLowerCase().startsWith(beginning))) return;
        event.respondWith(desk.answer(event.request, base));
        event.waitUntil(desk.maintain());
    });
    if (takeOver) {
        addEventListener("install", () => void skipWaiting());
        addEventListener("activate", (event) => event.waitUntil(clients.claim()));
    }
    return { engine: () => desk.engine() };
}

/** The engine of a service worker, opened when first needed, and again when it is lost. */
class Desk {
    #makeStorage;
    #options;
    #onOpen;
    /** @type {Promise<import("./index.js").Engine> | undefined} */
    #engine;
    #running;
    #storage;
    #maintained = 0;

    constructor(makeStorage, options, onOpen) {
        this.#makeStorage = makeStorage;
        this.#options = options;
        this.#onOpen = onOpen;
    }

    async engine() {
        if (this.#storage?.lost) await this.#drop(this.#running);
        if (this.#engine) return this.#engine;
        const opening = this.#open();
        this.#engine = opening;
        opening.catch(() => {
            if (this.#engine === opening) this.#engine = undefined;
        });
        return opening;
    }

    async #open() {
        const storage = await this.#makeStorage();
        const engine = await Engine.open({ ...this.#options, storage });
        try {
            await this.#onOpen(engine);
        } catch (error) {
            await engine.close();
            throw error;
        }
        this.#running = engine;
        this.#storage = storage;
        return engine;
    }

    /** A response in any case: a page takes a rejection for a network failure. */
    async answer(request, base) {
        let engine;
        try {
            engine = await this.engine();
            return await engine.fetch(base === "/" ? request : without(base, request));
        } catch (error) {
            console.error("deskfleet:", error);
            if (error?.code === "EngineCrashed" || error?.code === "EngineClosed") await this.#drop(engine);
            return this.#problem(error);
        }
    }

    #problem(error) {
        const { code } = error ?? {};
        if (code === "Indeterminate") return responseOf(problemParts(503, code, error.message));
        if (code === "StorageLocked" || code === "StorageUnavailable") return responseOf(problemParts(503, "StorageUnavailable", error.message));
        return responseOf(problemParts(500, "Internal", "The service worker failed; its console has the reason."));
    }

    /** Forgets an engine, unless another request did; what it acknowledged is in its storage. */
    async #drop(engine) {
        if (this.#running !== engine) return;
        this.#running = undefined;
        this.#engine = undefined;
        this.#storage = undefined;
        await engine.close().catch(() => {});
    }

    /** Runs due maintenance, at most once a second; the browser stops an idle worker, so there is no timer. */
    async maintain() {
        if (this.#engine === undefined || Math.abs(Date.now() - this.#maintained) < MAINTAIN_EVERY_MS) return;
        this.#maintained = Date.now();
        try {
            await (await this.#engine).maintain();
        } catch (error) {
            console.error("deskfleet:", error);
        }
    }
}

/** The same request as the engine sees it: without the folder of the service. */
function without(base, request) {
    const url = new URL(request.url);
    url.pathname = url.pathname.slice(base.length - 1);
    const { method, headers, body, bodyUsed, signal } = request;
    return { method, url: url.href, headers, body, bodyUsed, signal, arrayBuffer: () => request.arrayBuffer() };
}
