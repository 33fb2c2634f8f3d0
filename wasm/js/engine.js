import { Bridge } from "./bridge.js";
import { DeskfleetError, FULL, invalidArgument, kindOf, storageFailure } from "./errors.js";
import { followed, position } from "./events.js";
import { EMPTY, Underway, asFull, bodyBytes, headerLines, headerPairs, headerRecord, onlyReads, requestFrom, text, toResponse } from "./exchange.js";
import { isDate } from "./kinds.js";
import { instances } from "./loading.js";
import { checkMembers } from "./members.js";
import { coreOptions } from "./options.js";
import { questionOf, questions } from "./query.js";
import { bytesOf, restoreInto } from "./storage/bytes.js";
import { isMemory, memoryStorage } from "./storage/memory.js";
import { afterThisTurn } from "./turn.js";

/** The result of a core call for a request; see `wasm/src/lib.rs`. */
const PENDING = 2 ** 31;
const HAS_HEADERS = 2 ** 16;
const HAS_BODY = 2 ** 17;
const STATUS = 2 ** 16 - 1;
/** A longer URL is refused in any case, so only this much is passed on; see `wasm/src/exchange.rs`. */
const URL_LENGTH_MAX = 65_535;
const HEADERS_LENGTH_MAX = 1024 * 1024 + 1;
/** A body up to this size is passed on without asking for the limit of its endpoint. */
const BODY_BYTES_ASKED = 65_537;
/** How long closing waits for the bodies of earlier requests, in milliseconds. */
const CLOSE_PATIENCE_MS = 1000;
/** Only {@link Engine.open} makes engines. */
const OPENING = Symbol("opening");

/**
 * Makes the class for a runtime.
 * @param {() => Promise<WebAssembly.Module> | WebAssembly.Module} load returns the compiled module
 */
export function defineEngine(load) {
    const instance = instances(load);

    return class Engine {
        #core;
        #bridge;
        #clock;
        #advanced = 0;
        /** Whether a core call is running; a callback of it must not begin another. */
        #inside = false;
        /** Why no call is possible any more. @type {DeskfleetError | undefined} */
        #ended;
        /**
         * Calls pending until the commit at the end of this turn. @type {Array<{ number: number, answered: (answer:
         * object) => void, failed: (error: unknown) => void, reads: boolean, traceparent: string | null }>}
         */
        #waiting = [];
        #underway = new Underway();
        /** Those who follow events, to be called after the next write. @type {Array<() => void>} */
        #followers = [];
        #closing;
        query = questions(this);

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
                const core = opened(() => Core.open(bridge, clock(), JSON.stringify(settings), bridge.hasFreeBytes, isMemory(storage)), bridge);
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
            const bytes = this.#cut(method, url, bodyBytes(body));
            const result = this.#enter((core) => core.handle(this.#now(), method, url.slice(0, URL_LENGTH_MAX), lines, bytes));
            const answer = this.#answer(result);
            this.#wakeFollowers();
            return { status: answer.status, headers: headerRecord(headerPairs(answer.headers)), body: answer.body };
        }

        async putWorkspaces(workspaces) {
            if (!Array.isArray(workspaces)) throw invalidArgument(`workspaces must be an array, not ${kindOf(workspaces)}`);
            checkMembers("workspaces", workspaces);
            return this.#call("putWorkspaces", workspaces);
        }

        async importWorkspaces(changes) {
            if (!Array.isArray(changes)) throw invalidArgument(`changes must be an array, not ${kindOf(changes)}`);
            return this.#call("importWorkspaces", changes);
        }

        async placeHold(workSpaceId, hold) {
            return this.#call("placeHold", { workSpaceId, matter: hold?.matter, reason: hold?.reason });
        }

        async releaseHold(workSpaceId) {
            return this.#call("releaseHold", text(workSpaceId, "workSpaceId"));
        }

        async issueKey(key) {
            const expires = isDate(key?.expires) ? key.expires.toISOString() : key?.expires;
            return this.#call("issueKey", { name: key?.name, scopes: key?.scopes, expires });
        }

        async revokeKey(id, how = {}) {
            return this.#call("revokeKey", { id, force: how.force });
        }

        async keys() {
            return this.#call("keys", null);
        }

        async actions(query) {
            const [actions, nextToken] = await this.#call("actions", [query?.state, query?.workSpaceId, query?.limit, query?.nextToken]);
            return { actions, nextToken, hasMore: nextToken !== null };
        }

        async pendingActions() {
            return this.#call("pendingActions", null);
        }

        async dispatchAction(id, how) {
            return this.#call("dispatchAction", [id, how?.attempt, how?.provider, how?.instance]);
        }

        async noteAction(id, note) {
            return this.#call("noteAction", [id, note?.attempt, note?.requestId]);
        }

        async completeAction(id) {
            return this.#call("completeAction", id);
        }

        async failAction(id, how = {}) {
            return this.#call("failAction", { id, state: how.state, detail: how.detail });
        }

        async removeTelemetry(selection) {
            const before = isDate(selection?.before) ? selection.before.toISOString() : selection?.before;
            return this.#call("removeTelemetry", [selection?.instanceId, selection?.stream, before]);
        }

        events(options = {}) {
            const after = position(options?.after);
            this.#mustBeOpen();
            const now = () => JSON.parse(this.#enter((core) => core.call(this.#now(), "readEvents", "null"))).position;
            return followed(after ?? now(), {
                read: async (from) => {
                    while (this.#inside) await undefined;
                    return this.#call("readEvents", from);
                },
                whenMoved: (wake) => void this.#followers.push(wake),
                isOver: () => this.#closing !== undefined,
            });
        }

        async readEvents(after) {
            return this.#call("readEvents", position(after));
        }

        async queueCount() {
            return this.#call("queueCount", null);
        }

        async ask(question, parameters) {
            return this.#call("ask", questionOf(question, parameters));
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

        get storageKind() {
            return this.#bridge.kind;
        }

        async settled() {
            await this.#writesSettled();
        }

        close() {
            this.#closing ??= this.#close();
            this.#wakeFollowers();
            return this.#closing;
        }

        async #close() {
            // A callback of the engine may call it; then the call around the callback ends first.
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

        /** Used by calls made before `close()`. */
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

        /** Calls the core. Its exceptions become a {@link DeskfleetError}; a trap ends the engine. */
        #enter(call) {
            this.#mustRun();
            if (this.#inside) {
                throw new DeskfleetError(
                    "ReentrantCall",
                    "the engine was called from a callback of its own clock or storage; call it after the callback has returned, or use fetch",
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
            // An instance that trapped must not be called again, not even to be freed.
            this.#core?.__destroy_into_raw?.();
            this.#core = undefined;
            const waiting = this.#waiting;
            this.#waiting = [];
            for (const { failed } of waiting) failed(why);
            this.#underway.stop(why);
            this.#wakeFollowers();
        }

        #wakeFollowers() {
            const followers = this.#followers;
            this.#followers = [];
            for (const wake of followers) wake();
        }

        #call(name, argument) {
            const json = jsonOf(name, argument);
            this.#mustBeOpen();
            const answer = JSON.parse(this.#enter((core) => core.call(this.#now(), name, json)));
            if (!onlyReads(name)) this.#wakeFollowers();
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
            const max = this.#bodyBytesMax(request.method, url);
            return this.#underway.read(request, max);
        }

        /** At most one byte more of a body than its limit. */
        #cut(method, url, body) {
            if (body.length < BODY_BYTES_ASKED) return body;
            const max = this.#bodyBytesMax(method, url);
            return body.length > max ? body.subarray(0, max + 1) : body;
        }

        #bodyBytesMax(method, url) {
            return this.#enter((core) => core.bodyBytesMax(method, url.slice(0, URL_LENGTH_MAX)));
        }

        async #submit(method, url, lines, body, traceparent) {
            while (this.#inside) await undefined;
            const reads = onlyReads("fetch", method);
            const result = this.#enter((core) =>
                core.begin(this.#now(), method, url.slice(0, URL_LENGTH_MAX), lines.slice(0, HEADERS_LENGTH_MAX), body),
            );
            if (result < PENDING) {
                const answer = this.#answer(result);
                if (!this.#bridge.mustSettle) return answer;
                return new Promise((answered, failed) => void this.#settle([{ answered, failed, answer, reads, traceparent }]));
            }
            return new Promise((answered, failed) => {
                this.#waiting.push({ number: result - PENDING, answered, failed, reads, traceparent });
                if (this.#waiting.length === 1) afterThisTurn(() => this.#commitTurn());
            });
        }

        /** Commits pending calls and resolves them. */
        #commitTurn() {
            const waiting = this.#waiting;
            if (waiting.length === 0) return;
            if (this.#inside) return afterThisTurn(() => this.#commitTurn());
            this.#waiting = [];
            const committed = [];
            try {
                this.#enter((core) => core.commit(this.#now()));
                for (const { number, answered, failed, reads, traceparent } of waiting) {
                    const result = this.#enter((core) => core.finish(number));
                    committed.push({ answered, failed, answer: this.#answer(result), reads, traceparent });
                }
            } catch (error) {
                for (const { failed } of waiting) failed(error);
                return;
            } finally {
                this.#wakeFollowers();
            }
            if (!this.#bridge.mustSettle) {
                for (const { answered, answer } of committed) answered(answer);
                return;
            }
            void this.#settle(committed);
        }

        /**
         * Resolves a call once the storage reports that its effects are durable; refuses it when the storage fails
         * to settle.
         */
        async #settle(committed) {
            try {
                await this.#bridge.settled();
                for (const { answered, answer } of committed) answered(answer);
            } catch (error) {
                for (const { answered, failed, answer, reads, traceparent } of committed) {
                    // A refusal stays a refusal.
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
        #answer(result) {
            const headers = result & HAS_HEADERS ? this.#enter((core) => core.headers()) : "";
            const body = result & HAS_BODY ? this.#enter((core) => core.body()) : EMPTY;
            const answer = { status: result & STATUS, headers, body };
            return answer.status === 503 && this.#bridge.isFull ? asFull(answer) : answer;
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

/** The refusal of a write when the storage did not settle: the write is in memory, and may still reach the medium. */
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
        throw invalidArgument(`${name} cannot be written as JSON`, error);
    }
    throw invalidArgument(`${name} cannot take ${kindOf(argument)}`);
}

/** An exception of a core call, as a DeskfleetError. Anything but a refusal or such an error is a trap. */
function failureOf(error, bridge) {
    if (error instanceof DeskfleetError) return error;
    const cause = bridge.takeFault();
    if (typeof error === "string") {
        const { code, message, parameter, retryAfter } = JSON.parse(error);
        // A storage may report a more precise error, such as that it is locked. For a write in doubt that is only the
        // cause, because none of its codes asks the caller to read before a retry.
        if (cause instanceof DeskfleetError && code === "StorageUnavailable") return cause;
        if (code === "StorageUnavailable" && bridge.isFull) return new DeskfleetError("LowDisk", FULL, { cause });
        return new DeskfleetError(code, message, { cause, parameter, retryAfter });
    }
    return new DeskfleetError(
        "EngineCrashed",
        "the engine stopped because of a bug or lack of memory; what it acknowledged is in its storage: open another engine on it",
        { cause: bridge.panic === undefined ? error : new Error(bridge.panic, { cause: error }) },
    );
}

/** The error that led here is the one to report. */
function closeQuietly(bridge) {
    try {
        bridge.close();
    } catch {
        // See above.
    }
}
