// Exchanges: what was asked and what was returned, without keys.

import { invalidArgument, kindOf } from "../errors.js";
import { requestFrom } from "../exchange.js";
import { operationOf } from "./rules.js";

const REQUEST_HEADERS = ["accept", "content-type", "last-event-id", "traceparent"];
/** The last three are of the connection, or of the bytes on it: a recorded body is the text. */
const RESPONSE_HEADERS_LEFT_OUT = ["set-cookie", "content-length", "content-encoding", "transfer-encoding", "connection"];
/** What begins every key of an engine. */
const KEY = /dfk_[A-Za-z0-9_-]*/g;
const REMOVED = "removed";
/** Shorter values of a key header are not looked for in bodies, where they could be anything. */
const KEY_LENGTH_MIN = 8;
const KEPT_CHARACTERS_MAX = 64 * 1024 * 1024;
const EXCHANGE_CHARACTERS = 512;

/** The request of an exchange before its response is known. @param {Uint8Array} body */
export function asked(operation, method, path, headers, body) {
    const keys = keysOf(path, headers);
    const request = {
        ...(operation === undefined ? {} : { operation }),
        method,
        url: withoutKeys(withoutKeyParameter(path), keys),
        headers: texts(headers, (name) => REQUEST_HEADERS.includes(name), keys),
        body: withoutKeys(new TextDecoder().decode(body), keys),
    };
    const kept = (name) => !RESPONSE_HEADERS_LEFT_OUT.includes(name);
    return {
        request,
        answered: (status, headersOf, text) => ({
            ...request,
            status,
            responseHeaders: texts(headersOf, kept, keys),
            responseBody: withoutKeys(text, keys),
        }),
    };
}

function texts(headers, kept, keys) {
    const named = [...headers].map(([name, value]) => [name.toLowerCase(), withoutKeys(value, keys)]);
    return Object.fromEntries(named.filter(([name]) => kept(name)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A parameter whose name cannot be decoded goes as well: it could be a key. */
function isKey(parameter) {
    try {
        return decodeURIComponent(parameter.split("=")[0]).toLowerCase() === "apikey";
    } catch {
        return true;
    }
}

function split(path) {
    const at = path.indexOf("?");
    return at < 0 ? [path, []] : [path.slice(0, at), path.slice(at + 1).split("&")];
}

function withoutKeyParameter(path) {
    const [before, parameters] = split(path);
    const kept = parameters.filter((parameter) => parameter !== "" && !isKey(parameter));
    return kept.length === 0 ? before : `${before}?${kept.join("&")}`;
}

/** The keys that a request carries, which a service may repeat in a body. */
function keysOf(path, headers) {
    const [, parameters] = split(path);
    const values = parameters.filter(isKey).map((parameter) => parameter.slice(parameter.indexOf("=") + 1));
    const keys = [headers.get("x-api-key"), headers.get("authorization")?.split(" ").at(-1), ...values, ...values.map(decoded)];
    return keys.filter((key) => typeof key === "string" && key.length >= KEY_LENGTH_MIN);
}

function decoded(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return undefined;
    }
}

function withoutKeys(text, keys) {
    return keys.reduce((cleaned, key) => cleaned.replaceAll(key, REMOVED), text).replaceAll(KEY, REMOVED);
}

/** Exchanges in the order of their responses. */
export class Journal {
    constructor(exchanges = []) {
        this.exchanges = exchanges;
    }

    exchangesOf(operation) {
        return this.exchanges.filter((exchange) => exchange.operation === operation);
    }

    bodies(operation) {
        return this.exchangesOf(operation).map(({ body }) => body);
    }

    operations() {
        return this.exchanges.flatMap(({ operation }) => operation ?? []);
    }

    assertCount(operation, count) {
        const found = this.exchangesOf(operation).length;
        if (found !== count) throw new Error(`${operation} was requested ${found} times and not ${count}; requested were ${this.operations().join(", ")}`);
    }

    assertOrder(operations) {
        const all = this.operations();
        let at = 0;
        for (const operation of operations) {
            at = all.indexOf(operation, at) + 1;
            if (at === 0) throw new Error(`${operation} is not in its place of ${operations.join(", ")}; requested were ${all.join(", ")}`);
        }
    }

    /** As in a file: a list. */
    toJSON() {
        return this.exchanges;
    }
}

/** @param {unknown} journal a Journal, or the list of a file */
export function journalOf(journal) {
    if (journal instanceof Journal) return journal;
    if (!Array.isArray(journal)) throw invalidArgument(`a journal is a Journal or a list of exchanges, not ${kindOf(journal)}`);
    for (const each of journal) {
        const isExchange = typeof each?.method === "string" && typeof each.url === "string" && Number.isInteger(each.status);
        if (!isExchange) throw invalidArgument("an exchange has method, url and status");
    }
    return new Journal(journal);
}

/** The journal of a double while it runs: the newest exchanges, bounded in characters. */
export class Kept {
    #exchanges = [];
    #size = 0;

    push(exchange) {
        this.#exchanges.push(exchange);
        this.#size += size(exchange);
        while (this.#size > KEPT_CHARACTERS_MAX) this.#size -= size(this.#exchanges.shift());
    }

    journal() {
        return new Journal([...this.#exchanges]);
    }
}

function size({ url, body, responseBody, headers, responseHeaders }) {
    const named = [headers, responseHeaders].flatMap(Object.entries);
    return EXCHANGE_CHARACTERS + named.flat().join("").length + url.length + body.length + responseBody.length;
}

/** Exchanges to replay, each with whether it was used. */
export class Replay {
    #each;

    constructor(exchanges = []) {
        this.#each = exchanges.map((exchange) => ({ exchange, used: false }));
    }

    /** The response of the first exchange with this request that was not used yet, else of the last one with it. */
    response({ request }) {
        const same = this.#each.filter(({ exchange: { method, url, body = "" } }) => method === request.method && url === request.url && body === request.body);
        const found = same.find(({ used }) => !used) ?? same.at(-1);
        if (found === undefined) return undefined;
        found.used = true;
        const { status, responseHeaders = {}, responseBody = "" } = found.exchange;
        return { status, headers: responseHeaders, body: responseBody };
    }
}

/** A `fetch` that sends to a real service and keeps the exchanges. */
export function record(origin, { fetch: send = globalThis.fetch } = {}) {
    const journal = new Journal();
    return {
        journal,
        async fetch(input, init) {
            const given = requestFrom(typeof input === "string" ? new URL(input, origin) : input, init);
            const { pathname, search } = new URL(given.url);
            const bytes = new Uint8Array(await given.clone().arrayBuffer());
            const exchange = asked(operationOf(given.method, pathname), given.method, pathname + search, given.headers, bytes);
            const response = await send(given);
            const text = await response.clone().text();
            journal.exchanges.push(exchange.answered(response.status, response.headers, text));
            return response;
        },
    };
}
