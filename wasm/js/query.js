import { invalidArgument, kindOf } from "./errors.js";
import { isDate } from "./kinds.js";

/** The questions about the fleet: the endpoints below `/query/` that have one answer, in JSON. */
const QUESTIONS = ["fleet", "workspaces", "holds", "series", "top", "startup", "heatmap", "processes", "timeline", "advice", "adviceTotals", "preview"];
/** What follows `/query/` where that is not the name of the method. */
const PATHS = { adviceTotals: "advice/totals" };
/** Those whose parameters are a body. */
const WITH_BODY = new Set(["preview"]);
/** The parameters of which several values mean any of them; several of another one are a list. */
const FILTERS = new Set(["workSpId", "state", "username", "region", "directoryId", "runningMode", "computeTypeName"]);

/** The methods of `engine.query`. @param {{ ask(question: string, parameters?: object): Promise<object> }} engine */
export function questions(engine) {
    const ask = (question) => [question, (parameters) => engine.ask(question, parameters)];
    return Object.freeze(Object.fromEntries(QUESTIONS.map(ask)));
}

/** A question as the core takes it: its name, the query, the body. @param {unknown} question @param {unknown} parameters */
export function questionOf(question, parameters = {}) {
    if (!QUESTIONS.includes(question)) throw invalidArgument(`the question must be one of ${QUESTIONS.join(", ")}`);
    if (typeof parameters !== "object" || parameters === null) throw invalidArgument(`the parameters of a question must be an object, not ${kindOf(parameters)}`);
    if (WITH_BODY.has(question)) return [question, "", JSON.stringify(parameters)];
    return [PATHS[question] ?? question, queryOf(parameters), ""];
}

/** The query string of parameters; those that are undefined or null are left out. */
function queryOf(parameters) {
    const pairs = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null);
    return pairs.map(([name, value]) => `${encoded(name, name)}=${encoded(name, valueOf(name, value))}`).join("&");
}

function valueOf(name, value) {
    if (FILTERS.has(name)) return filterOf(name, value);
    return Array.isArray(value) ? listOf(name, value) : single(name, value);
}

/** A filter: a value as it is sent, an array of values, or `{ not: value }`. */
function filterOf(name, value) {
    if (Array.isArray(value)) return `in.${listOf(name, value)}`;
    return typeof value === "object" && !isDate(value) ? `ne.${single(name, value.not)}` : single(name, value);
}

function listOf(name, values) {
    const texts = values.map((value) => single(name, value));
    if (texts.some((text) => text.includes(","))) throw invalidArgument(`a value of the list ${name} may hold no comma`);
    return texts.join(",");
}

function single(name, value) {
    if (isDate(value) && !Number.isNaN(value.getTime())) return value.toISOString();
    if (typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)) return String(value);
    throw invalidArgument(`${name} must be a string, a number, a boolean, a Date or an array of these, not ${kindOf(value)}`);
}

function encoded(name, text) {
    try {
        return encodeURIComponent(text);
    } catch (error) {
        throw invalidArgument(`${name} is no Unicode text`, error);
    }
}
