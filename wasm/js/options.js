import { invalidArgument, kindOf } from "./errors.js";

/** The options that are passed to the core unchanged. */
const OF_THE_CORE = ["seed", "limits", "actionSeconds", "retentionDays", "actionDriver", "requireIngestKey"];
const OF_THE_FACE = ["storage", "clock", "restore", "wasm"];

/** The options that are groups of numbers. */
const GROUPS = ["limits", "actionSeconds", "retentionDays"];
const DRIVERS = ["clock", "host"];

/** Checks the options of `Engine.open`. @param {unknown} options */
export function coreOptions(options) {
    if (typeof options !== "object" || options === null) throw invalidArgument(`options must be an object, not ${kindOf(options)}`);
    const settings = {};
    for (const [name, value] of Object.entries(options)) {
        if (OF_THE_CORE.includes(name)) {
            if (value !== undefined) settings[name] = checked(name, value);
        } else if (!OF_THE_FACE.includes(name)) {
            throw invalidArgument(`there is no option ${name}; there are ${[...OF_THE_FACE, ...OF_THE_CORE].join(", ")}`);
        }
    }
    const { clock = Date.now, restore, wasm } = options;
    if (typeof clock !== "function") throw invalidArgument(`options.clock must be a function, not ${kindOf(clock)}`);
    if (restore !== undefined && !(restore instanceof Uint8Array)) {
        throw invalidArgument(`options.restore must be a Uint8Array, not ${kindOf(restore)}`);
    }
    return { settings, restore, wasm, clock: () => time(clock) };
}

function checked(name, value) {
    if (name === "seed" && (!Number.isSafeInteger(value) || value < 0)) {
        throw invalidArgument("options.seed must be a whole number from 0 to 2^53");
    }
    if (name === "actionDriver" && !DRIVERS.includes(value)) {
        throw invalidArgument(`options.actionDriver must be ${DRIVERS.join(" or ")}, not ${typeof value === "string" ? value : kindOf(value)}`);
    }
    if (name === "requireIngestKey" && typeof value !== "boolean") {
        throw invalidArgument(`options.requireIngestKey must be true or false, not ${kindOf(value)}`);
    }
    if (GROUPS.includes(name)) numbers(name, value);
    return value;
}

/** JSON writes `null` for values that are no number, which the core would read as absent. */
function numbers(name, group) {
    if (typeof group !== "object" || group === null) throw invalidArgument(`options.${name} must be an object, not ${kindOf(group)}`);
    for (const [field, value] of Object.entries(group)) {
        if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) continue;
        throw invalidArgument(`options.${name}.${field} must be a whole number from 0 to 2^53, not ${typeof value === "number" ? value : kindOf(value)}`);
    }
}

function time(clock) {
    let milliseconds;
    try {
        milliseconds = clock();
    } catch (error) {
        throw invalidArgument("options.clock threw", error);
    }
    if (typeof milliseconds !== "number" || !(milliseconds >= 0) || milliseconds === Infinity) {
        throw invalidArgument(`options.clock must return milliseconds since 1970, not ${kindOf(milliseconds)}`);
    }
    return milliseconds;
}
