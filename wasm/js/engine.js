import { Bridge } from "./bridge.js";
import { DeskfleetError, invalidArgument, kindOf, storageFailure } from "./errors.js";
import { EMPTY, Underway, bodyBytes, headerLines, headerPairs, headerRecord, onlyReads, requestFrom, text, toResponse } from "./exchange.js";
import { instances } from "./loading.js";
import { coreOptions } from "./options.js";
import { bytesOf, restoreInto } from "./storage/bytes.js";
import { isMemory, memoryStorage } from "./storage/memory.js";
import { afterThisTurn } from "./turn.js";

/** What a call of the core answers about a request; see `wasm/src/lib.rs`. */
const WAITS = 2 ** 31;
const HAS_HEADERS = 2 ** 16;
const HAS_BODY = 2 ** 17;
const STATUS = 2 ** 16 - 1;
/** What is longer is refused whatever is in it, so this much need cross; see `wasm/src/exchange.rs`. */
const URL_LENGTH_MAX = 65_535;
const HEADERS_LENGTH_MAX = 1024 * 1024 + 1;
/** A body up to here crosses without being asked how much of it is wanted. */
const BODY_BYTES_ASKED = 65_537;
/** How long closing waits for the bodies of requests that were made before. */
const CLOSE_PATIENCE_MS = 1000;
/** Only {@link Engine.open} makes engines. */
const OPENING = Symbol("opening");

/**
 * Makes the class for a runtime.
 * @param {() => Promise<WebAssembly.Module> | WebAssembly.Module} load gives the compiled module
 */
export function defineEngine(load) {
    const instance = instances(load);

    return class Engine {
        #core;
        #bridge;
        #clock;
        #advanced = 0;
        /** Whether a call of the core is under way; a callback of it must not begin another. */
        #inside = false;
        /** Why no call is possible any more. @type {DeskfleetError | undefined} */
        #ended;
        /** What waits for the commit at the end of this turn. @type {Array<{ number: number, answered: (answer: object) => void, failed: (error: unknown) => void, reads: boolean, traceparent: string | null }>} */
        #waiting = [];
        #underway = new Underway();
        #closing;

        constructor(token, core, bridge, clock) {
            if (token !== OPENING) throw invalidArgument("an engine is opened with Engine.open(…), not made with new");
            this.#core = core;
            this.#bridge = bridge;
            this.#clock = clock;
        }

        static async open(options = {}) {
            const storage = await storageOf(options);
            const bridge = new Bridge(storage);
            try {
                const { clock, settings, restore, wasm } = coreOptions(options);
                const { Core } = await instance(wasm);
                if (restore !== undefined) restoreInto(storage, restore);
                settings.freeBytes = bridge.tellsFreeBytes;
                settings.volatile = isMemory(storage);
                const core = opened(() => Core.open(bridge, clock(), JSON.stringify(settings)), bridge);
                await bridge.settled();
                return new Engine(OPENING, core, bridge, clock);
            } catch (error) {
                closeQuietly(bridge);
                throw error;
            }
        }

        static restore(bytes, options = {}) {
            return Engine.open({ ...options, restore: bytes });
        }

        async fetch(input, init) {
            const request = requestFrom(input, init);
            this.#mustBeOpen();
            return this.#underway.add(this.#respond(request));
        }

        handle(method, url, headers, body) {
            text(method, "method");
            text(url, "url");
            const lines = headerLines(headers).slice(0, HEADERS_LENGTH_MAX);
            this.#mustBeOpen();
            const bytes = this.#cut(url, bodyBytes(body));
            const told = this.#enter((core) => core.handle(this.#now(), method, url.slice(0, URL_LENGTH_MAX), lines, bytes));
            const answer = this.#answer(told);
            return { status: answer.status, headers: headerRecord(headerPairs(answer.headers)), body: answer.body };
        }

        async putWorkspaces(workspaces) {
            if (!Array.isArray(workspaces)) throw invalidArgument(`workspaces must be an array, not ${kindOf(workspaces)}`);
            return this.#call("putWorkspaces", workspaces);
        }

        async placeHold(workSpaceId, hold) {
            return this.#call("placeHold", { workSpaceId, matter: hold?.matter, reason: hold?.reason });
        }

        async releaseHold(workSpaceId) {
            return this.#call("releaseHold", text(workSpaceId, "workSpaceId"));
        }

        async issueKey(key) {
            const expires = key?.expires instanceof Date ? key.expires.toISOString() : key?.expires;
            return this.#call("issueKey", { name: key?.name, scopes: key?.scopes, expires });
        }

        async revokeKey(id) {
            return this.#call("revokeKey", id);
        }

        async keys() {
            return this.#call("keys", null);
        }

        async pendingActions() {
            return this.#call("pendingActions", null);
        }

        async completeAction(id) {
            return this.#call("completeAction", id);
        }

        async failAction(id, how = {}) {
            return this.#call("failAction", { id, state: how.state, detail: how.detail });
        }

        async queueCount() {
            return this.#call("queueCount", null);
        }

        async filePending() {
            return this.#call("filePending", null);
        }

        async maintain() {
            return this.#call("maintain", null);
        }

        advanceClock(milliseconds) {
            if (!Number.isFinite(milliseconds)) throw invalidArgument("milliseconds must be a finite number");
            this.#advanced += milliseconds;
        }

        async snapshot() {
            this.#mustBeOpen();
            const copy = memoryStorage();
            const into = new Bridge(copy);
            this.#enter((core) => core.snapshot(this.#now(), into));
            return bytesOf(copy);
        }

        persisted() {
            return this.#bridge.persisted;
        }

        async settled() {
            await this.#writesSettled();
        }

        close() {
            this.#closing ??= this.#close();
            return this.#closing;
        }

        async #close() {
            // A callback of the engine may ask for it; the call that led to the callback ends first.
            while (this.#inside) await undefined;
            if (this.#ended !== undefined) return;
            this.#commitTurn();
            const drained = this.#underway.drained(CLOSE_PATIENCE_MS);
            if (drained !== undefined) {
                await drained;
                if (this.#ended !== undefined) return;
                this.#underway.stop(closed());
                this.#commitTurn();
            }
            const core = this.#core;
            try {
                this.#enter(() => core.close(this.#now()));
                await this.#writesSettled();
                core.free();
            } finally {
                this.#end(closed());
                closeQuietly(this.#bridge);
                await this.#bridge.closing;
            }
        }

        async [Symbol.asyncDispose]() {
            await this.close();
        }

        // ---- inside

        /** Calls made before `close()` still run then. */
        #mustBeOpen() {
            this.#mustRun();
            if (this.#closing !== undefined) throw closed();
        }

        #mustRun() {
            if (this.#ended !== undefined) throw this.#ended;
        }

        #now() {
            return this.#clock() + this.#advanced;
        }

        /** Calls the core. What it throws becomes a {@link DeskfleetError}; a trap ends the engine. */
        #enter(call) {
            this.#mustRun();
            if (this.#inside) {
                throw new DeskfleetError(
                    "ReentrantCall",
                    "the engine was called from a callback of its own clock or storage; call it after that has returned, or use fetch",
                );
            }
            this.#inside = true;
            this.#bridge.takeFault();
            try {
                return call(this.#core);
            } catch (error) {
                const failure = failureOf(error, this.#bridge);
                if (failure.code === "EngineCrashed") this.#crash(failure);
                throw failure;
            } finally {
                this.#inside = false;
            }
        }

        #crash(failure) {
            this.#end(failure);
            closeQuietly(this.#bridge);
        }

        #end(why) {
            this.#ended = why;
            // An instance that trapped must not be entered again, not even to be freed.
            this.#core?.__destroy_into_raw?.();
            this.#core = undefined;
            const waiting = this.#waiting;
            this.#waiting = [];
            for (const { failed } of waiting) failed(why);
            this.#underway.stop(why);
        }

        #call(name, argument) {
            const json = jsonOf(name, argument);
            this.#mustBeOpen();
            const answer = JSON.parse(this.#enter((core) => core.call(this.#now(), name, json)));
            if (!this.#bridge.mustSettle) return answer;
            const settled = onlyReads(name) ? this.#bridge.settled() : this.#writesSettled();
            return settled.then(() => answer);
        }

        async #writesSettled() {
            try {
                await this.#bridge.settled();
            } catch (error) {
                throw inDoubt(error);
            }
        }

        async #respond(request) {
            const { method, url, headers } = request;
            request.signal?.throwIfAborted();
            const lines = headerLines(headers);
            while (this.#inside) await undefined;
            const body = request.body === null ? EMPTY : await this.#read(request, url);
            const answer = await this.#submit(method, url, lines, body, headers.get("traceparent"));
            return toResponse(answer);
        }

        async #read(request, url) {
            const max = this.#enter((core) => core.bodyBytesMax(url.slice(0, URL_LENGTH_MAX)));
            return this.#underway.read(request, max);
        }

        /** No more of a body than tells that it is too large. */
        #cut(url, body) {
            if (body.length < BODY_BYTES_ASKED) return body;
            const max = this.#enter((core) => core.bodyBytesMax(url.slice(0, URL_LENGTH_MAX)));
            return body.length > max ? body.subarray(0, max + 1) : body;
        }

        async #submit(method, url, lines, body, traceparent) {
            while (this.#inside) await undefined;
            const reads = onlyReads("fetch", method);
            const told = this.#enter((core) =>
                core.begin(this.#now(), method, url.slice(0, URL_LENGTH_MAX), lines.slice(0, HEADERS_LENGTH_MAX), body),
            );
            if (told < WAITS) {
                const answer = this.#answer(told);
                if (!this.#bridge.mustSettle) return answer;
                return new Promise((answered, failed) => void this.#settle([{ answered, failed, answer, reads, traceparent }]));
            }
            return new Promise((answered, failed) => {
                this.#waiting.push({ number: told - WAITS, answered, failed, reads, traceparent });
                if (this.#waiting.length === 1) afterThisTurn(() => this.#commitTurn());
            });
        }

        /** Commits what waits and answers it. */
        #commitTurn() {
            const waiting = this.#waiting;
            if (waiting.length === 0) return;
            if (this.#inside) return afterThisTurn(() => this.#commitTurn());
            this.#waiting = [];
            const committed = [];
            try {
                this.#enter((core) => core.commit(this.#now()));
                for (const { number, answered, failed, reads, traceparent } of waiting) {
                    const told = this.#enter((core) => core.finish(number));
                    committed.push({ answered, failed, answer: this.#answer(told), reads, traceparent });
                }
            } catch (error) {
                for (const { failed } of waiting) failed(error);
                return;
            }
            if (!this.#bridge.mustSettle) {
                for (const { answered, answer } of committed) answered(answer);
                return;
            }
            void this.#settle(committed);
        }

        /** Answers once the storage says that what the answers tell will last; refuses when it says that it will not. */
        async #settle(committed) {
            try {
                await this.#bridge.settled();
                for (const { answered, answer } of committed) answered(answer);
            } catch (error) {
                for (const { answered, failed, answer, reads, traceparent } of committed) {
                    // What was refused is refused all the same.
                    if (answer.status >= 400) {
                        answered(answer);
                        continue;
                    }
                    try {
                        answered(this.#unsettled(reads, traceparent));
                    } catch {
                        // The engine that would write the refusal has ended meanwhile.
                        failed(reads ? error : inDoubt(error));
                    }
                }
            }
        }

        #unsettled(reads, traceparent) {
            return this.#answer(this.#enter((core) => core.unsettled(reads, traceparent ?? undefined)));
        }

        /** @returns {{ status: number, headers: string, body: Uint8Array }} */
        #answer(told) {
            const headers = told & HAS_HEADERS ? this.#enter((core) => core.headers()) : "";
            const body = told & HAS_BODY ? this.#enter((core) => core.body()) : EMPTY;
            return { status: told & STATUS, headers, body };
        }
    };
}

async function storageOf(options) {
    try {
        return (await options?.storage) ?? memoryStorage();
    } catch (error) {
        throw storageFailure(error, "options.storage did not open");
    }
}

function closed() {
    return new DeskfleetError("EngineClosed", "the engine was closed; open another");
}

/** What a write is refused with when the storage did not settle: it is in memory, and may reach the medium yet. */
function inDoubt(cause) {
    return new DeskfleetError("Indeterminate", `${cause.message}; it may take effect or not: read before you try again`, { cause });
}

function opened(open, bridge) {
    try {
        return open();
    } catch (error) {
        throw failureOf(error, bridge);
    }
}

/** @param {string} name @param {unknown} argument */
function jsonOf(name, argument) {
    try {
        const json = JSON.stringify(argument);
        if (json !== undefined) return json;
    } catch (error) {
        throw invalidArgument(`${name} was given what has no JSON`, error);
    }
    throw invalidArgument(`${name} was given ${kindOf(argument)}`);
}

/** What a call of the core threw, as an error of ours. Neither a refusal nor an error of ours, it is a trap. */
function failureOf(error, bridge) {
    if (error instanceof DeskfleetError) return error;
    const cause = bridge.takeFault();
    if (typeof error === "string") {
        const { code, message, parameter, retryAfter } = JSON.parse(error);
        // A storage that knows more about itself says so: that it is locked, for one. Of a write in doubt that is only the cause, for
        // none of its codes tells the caller to read before the next try.
        if (cause instanceof DeskfleetError && code === "StorageUnavailable") return cause;
        return new DeskfleetError(code, message, { cause, parameter, retryAfter });
    }
    return new DeskfleetError(
        "EngineCrashed",
        "the engine stopped at a bug or for want of memory; what it had answered is in its storage: open another engine on it",
        { cause: bridge.panic === undefined ? error : new Error(bridge.panic, { cause: error }) },
    );
}

/** The error that led here is the one to tell. */
function closeQuietly(bridge) {
    try {
        bridge.close();
    } catch {
        // See above.
    }
}
