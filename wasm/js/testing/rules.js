// What a rule is: table.js has its members and their bounds.

import { invalidArgument, kindOf } from "../errors.js";
import { FAULTS, MEMBERS, OPERATIONS, REFUSALS } from "./table.js";

const RULES_MAX = 1000;
const ANY_OPERATION = "*";
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/;

const routes = OPERATIONS.map(([id, method, path]) => ({ id, method, path: pattern(path) }));
const refusals = new Map(REFUSALS.map((each) => [each.code, each]));
const methods = new Map(OPERATIONS.map(([id, method]) => [id, method]));
const known = {
    operation: ["operation", [...OPERATIONS.map(([id]) => id), ANY_OPERATION]],
    storage: ["storage fault", FAULTS],
    code: ["code", [...refusals.keys()]],
};

function pattern(path) {
    const names = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "[^/]+");
    return new RegExp(`^${names}/?$`, "i");
}

/** The operation id of a request, if it has one. @param {string} method @param {string} path */
export function operationOf(method, path) {
    const asked = method === "HEAD" ? "GET" : method;
    return routes.find((route) => route.method === asked && route.path.test(path))?.id;
}

/** The rules of a double, in order. */
export class Rules {
    #active = [];
    /** How many trace ids were made: with the same requests after a reset they are the same. */
    #traced = 0;

    add(rules) {
        const added = rules.map((rule) => ({ ...checked(rule), met: 0 }));
        if (this.#active.length + added.length > RULES_MAX) throw invalidArgument(`a double has at most ${RULES_MAX} rules`);
        this.#active.push(...added);
    }

    clear() {
        this.#active = [];
    }

    reset() {
        this.clear();
        this.#traced = 0;
    }

    /** The response of a rule; `undefined` for one that only holds a request back. */
    refusal({ code, status }, operation, traceparent) {
        if (code === undefined) return status === undefined ? undefined : { status, headers: plainHeaders(status), body: "" };
        const { headers, body, ...refused } = refusals.get(code);
        const allow = code === "MethodNotAllowed" && operation !== undefined ? { allow: methods.get(operation) } : {};
        return { status: refused.status, headers: { ...headers, ...allow }, body: body[0] + this.#traceId(traceparent) + body[1] };
    }

    /** That of a valid `traceparent`, else a counted one. */
    #traceId(traceparent) {
        const [, trace, parent] = TRACEPARENT.exec(traceparent ?? "") ?? [];
        if (trace === undefined) this.#traced += 1;
        const count = this.#traced.toString(16);
        return `00-${trace ?? count.padStart(32, "0")}-${parent ?? count.padStart(16, "0")}-00`;
    }

    /** The first rule of those that `meets` selects which applies now. Those before it are counted as met. */
    apply(meets) {
        return this.#active.find((rule) => {
            if (!meets(rule)) return false;
            const turn = rule.met++ - (rule.after ?? 0);
            return turn >= 0 && (rule.times === undefined || turn < rule.times);
        });
    }

    /** The rule by which the storage fails so now, counted. @param {string} fault */
    storageFails(fault) {
        return this.apply((rule) => rule.storage === fault);
    }
}

function plainHeaders(status) {
    return status === 503 || status === 429 ? { "retry-after": "1" } : {};
}

function checked(rule) {
    if (typeof rule !== "object" || rule === null) throw invalidArgument(`a rule must be an object, not ${kindOf(rule)}`);
    for (const [name, value] of Object.entries(rule)) {
        const member = MEMBERS.find((each) => each.name === name);
        if (member === undefined) throw invalidArgument(`a rule has no member "${name}"${hint(name, MEMBERS.map((each) => each.name))}`);
        if (value === undefined) continue;
        if (member.kind === "count") {
            if (!Number.isSafeInteger(value) || value < member.least || value > member.most) {
                throw invalidArgument(`${name} must be a whole number from ${member.least} to ${member.most}`);
            }
            continue;
        }
        if (typeof value !== "string") throw invalidArgument(`${name} must be a string`);
        const [what, names] = known[member.kind];
        if (!names.includes(value)) throw invalidArgument(`there is no ${what} "${value}"${hint(value, names)}`);
    }
    const wrong = conflict(rule);
    if (wrong !== undefined) throw invalidArgument(wrong);
    const { operation } = rule;
    return { ...rule, meets: (asked) => operation === ANY_OPERATION || (operation !== undefined && operation === asked) };
}

function conflict({ operation, storage, code, status, latency }) {
    if ((operation === undefined) === (storage === undefined)) return "a rule has either operation or storage";
    if (storage !== undefined) {
        if (code !== undefined || status !== undefined) return "a rule for the storage has neither code nor status";
        if (storage === "slow" && latency === undefined) return "storage slow needs latency";
        if (storage !== "slow" && latency !== undefined) return "latency is for operations and for storage slow";
        return undefined;
    }
    const own = refusals.get(code)?.status;
    if (own !== undefined && status !== undefined && own !== status) return `status ${status} is not that of ${code}, which is ${own}; leave one of them out`;
    if (code === undefined && status === undefined && latency === undefined) return "a rule for an operation has code, status or latency";
    return undefined;
}

/** The known name that differs in at most a third of its characters. */
function hint(name, names) {
    if (name.length > 64) return "";
    const ranked = names.map((each) => [distance(name.toLowerCase(), each.toLowerCase()), each]).sort(([a], [b]) => a - b);
    const [nearest] = ranked;
    const isNear = nearest !== undefined && nearest[0] * 3 <= Math.max(name.length, nearest[1].length);
    return isNear ? `; did you mean "${nearest[1]}"?` : "";
}

/** Insertions, deletions, replacements and swaps of neighbours. */
function distance(a, b) {
    const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
    for (let i = 1; i <= a.length; i++) {
        rows[i] = [i];
        for (let j = 1; j <= b.length; j++) {
            const replaced = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
            rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced);
            if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
        }
    }
    return rows[a.length][b.length];
}
