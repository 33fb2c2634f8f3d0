import { Engine } from "deskfleet";
import { invalidArgument, kindOf } from "./errors.js";
import { bodyBytes, headerLines, requestFrom } from "./exchange.js";
import { Journal, Kept, Replay, asked, journalOf } from "./testing/journal.js";
import { Pause } from "./testing/pause.js";
import { Rules, operationOf } from "./testing/rules.js";
import { serveDouble } from "./testing/serve.js";
import { DoubleStorage } from "./testing/storage.js";
import { CLOCK } from "./testing/table.js";

export { Journal, record } from "./testing/journal.js";

/** The longest step of the clock: ten years, in milliseconds. */
const ADVANCE_MAX = 315_576_000_000;
const OPENING = Symbol("opening");
/** Statuses whose `Response` takes no body. */
const BODILESS = new Set([204, 205, 304]);

export class Double {
    #options;
    #pause;
    #rules = new Rules();
    #storage;
    #kept = new Kept();
    #replay = new Replay();
    #engine;
    #key;

    constructor(token, options, start) {
        if (token !== OPENING) throw invalidArgument("a double is opened with Double.open(…), not made with new");
        this.#options = { ...options, start };
        this.#pause = new Pause(start);
        this.#storage = new DoubleStorage(this.#rules, this.#pause);
    }

    static async open(options = {}) {
        if (typeof options !== "object" || options === null) throw invalidArgument(`options must be an object, not ${kindOf(options)}`);
        for (const name of ["storage", "restore"]) {
            if (name in options) throw invalidArgument(`a double has a storage of its own; leave out options.${name}`);
        }
        const { clock = CLOCK, seed = 1, ...rest } = options;
        const start = new Date(clock).getTime();
        if (!(start >= 0)) throw invalidArgument("options.clock must be a Date, a date-time, or milliseconds since 1970");
        const double = new Double(OPENING, { seed, ...rest }, start);
        await double.#start();
        double.#key = await double.#issueKey();
        return double;
    }

    get engine() {
        return this.#engine;
    }

    get key() {
        return this.#key;
    }

    get now() {
        return new Date(this.#pause.now);
    }

    get journal() {
        return this.#kept.journal();
    }

    async fetch(input, init) {
        const request = requestFrom(input, init);
        const url = new URL(request.url);
        const path = url.pathname + url.search;
        const bytes = new Uint8Array(await request.arrayBuffer());
        const operation = operationOf(request.method, url.pathname);
        const exchange = asked(operation, request.method, path, request.headers, bytes);
        const rule = this.#rules.apply((each) => each.meets(operation));
        if (rule?.latency !== undefined) await this.#pause.wait(rule.latency, request.signal);
        const ready = this.#ready(rule, exchange, operation, request.headers.get("traceparent"));
        const response = ready === undefined ? await this.#engine.fetch(engineRequest(request, path, bytes)) : toResponse(ready, request.method);
        const body = BODILESS.has(response.status) ? "" : await response.clone().text();
        this.#kept.push(exchange.answered(response.status, response.headers, body));
        return response;
    }

    handle(method, url, headers, body) {
        const given = new Headers(pairs(headerLines(headers)));
        const bytes = bodyBytes(body);
        const path = pathOf(url);
        const operation = operationOf(method, path.split("?")[0]);
        const exchange = asked(operation, method, path, given, bytes);
        const rule = this.#rules.apply((each) => each.meets(operation));
        if (rule?.latency) throw invalidArgument("handle cannot wait for the latency of a rule; use fetch");
        const ready = this.#ready(rule, exchange, operation, given.get("traceparent"));
        const answer = ready === undefined ? this.#engine.handle(method, path, headers, bytes) : toAnswer(ready, method);
        this.#kept.push(exchange.answered(answer.status, Object.entries(answer.headers), new TextDecoder().decode(answer.body)));
        return answer;
    }

    /** The response of a rule or of a replayed exchange; `undefined` where the engine handles the request. */
    #ready(rule, exchange, operation, traceparent) {
        return (rule && this.#rules.refusal(rule, operation, traceparent)) ?? this.#replay.response(exchange);
    }

    async advance(milliseconds) {
        if (!Number.isSafeInteger(milliseconds) || milliseconds < 0 || milliseconds > ADVANCE_MAX) {
            throw invalidArgument(`milliseconds must be a whole number from 0 to ${ADVANCE_MAX}`);
        }
        this.#pause.advance(milliseconds);
        await this.#engine.maintain();
    }

    fail(rules) {
        this.#rules.add(Array.isArray(rules) ? rules : [rules]);
    }

    clearRules() {
        this.#rules.clear();
    }

    clearJournal() {
        this.#kept = new Kept();
    }

    replay(journal) {
        this.#replay = new Replay(journalOf(journal).exchanges);
    }

    async reset() {
        this.#rules.reset();
        this.#storage.erase();
        this.clearJournal();
        this.#replay = new Replay();
        this.#pause.set(this.#options.start);
        await this.#start();
        this.#key = await this.#issueKey();
    }

    async restart() {
        this.#storage.cutPower();
        await this.#start();
    }

    serve(options) {
        return serveDouble(this, options);
    }

    async close() {
        await this.#engine.close();
    }

    async [Symbol.asyncDispose]() {
        await this.close();
    }

    async #issueKey() {
        const { key } = await this.#engine.issueKey({ name: "double", scopes: ["admin"] });
        return key;
    }

    async #start() {
        // The storage of the engine before is cut off, so its closing fails, and loses nothing that counts.
        const before = this.#engine;
        if (before !== undefined) await before.close().catch(() => {});
        const { start: _, ...options } = this.#options;
        this.#engine = await Engine.open({ ...options, storage: this.#storage.boot(), clock: () => this.#pause.now });
    }
}

export function fleet(count) {
    if (!Number.isSafeInteger(count) || count < 0) throw invalidArgument("count must be a whole number");
    return Array.from({ length: count }, (_, index) => {
        const number = String(index + 1);
        return {
            workSpId: `ws-${number.padStart(9, "0")}`,
            computerName: `WSAMZN-${number.padStart(8, "0")}`,
            account: "111122223333",
            region: "eu-central-1",
            directoryId: "d-9967ac41de",
            runningMode: (index + 1) % 3 === 0 ? "ALWAYS_ON" : "AUTO_STOP",
            computeTypeName: "STANDARD",
            protocol: "WSP",
            username: `user${number}`,
            state: "AVAILABLE",
        };
    });
}

function engineRequest(request, path, bytes) {
    const init = { method: request.method, headers: request.headers, signal: request.signal };
    return new Request(`http://fleet${path}`, bytes.length === 0 ? init : { ...init, body: bytes });
}

function toResponse({ status, headers, body }, method) {
    const empty = method === "HEAD" || BODILESS.has(status);
    return new Response(empty ? null : body, { status, headers });
}

function toAnswer({ status, headers, body }, method) {
    return { status, headers: { ...headers }, body: method === "HEAD" ? new Uint8Array(0) : new TextEncoder().encode(body) };
}

function pathOf(url) {
    if (typeof url !== "string") throw invalidArgument(`url must be a string, not ${kindOf(url)}`);
    const { pathname, search } = new URL(url, "http://fleet/");
    return pathname + search;
}

/** @param {string} lines `name: value` each */
function pairs(lines) {
    const split = (line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)];
    return lines.split("\n").filter(Boolean).map(split);
}

