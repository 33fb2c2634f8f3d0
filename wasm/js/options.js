import { invalidArgument, kindOf } from "./errors.js";
import { isBytes } from "./kinds.js";

/** The options that stay here; the core knows the others by their names. */
const OF_THE_FACE = ["storage", "clock", "restore", "wasm"];
/** How deep the groups of options are: `actions.durations.reboot`. */
const DEPTH_MAX = 3;

/** Checks the options of `Engine.open`. @param {unknown} options */
export function coreOptions(options) {
    if (typeof options !== "object" || options === null) throw invalidArgument(`options must be an object, not ${kindOf(options)}`);
    const settings = Object.fromEntries(Object.entries(options).filter(([name]) => !OF_THE_FACE.includes(name)));
    checkSettings("options", settings, 0);
    const { clock = () => Date.now(), restore, wasm } = options;
    if (typeof clock !== "function") throw invalidArgument(`options.clock must be a function, not ${kindOf(clock)}`);
    if (restore !== undefined && !(isBytes(restore))) {
        throw invalidArgument(`options.restore must be a Uint8Array, not ${kindOf(restore)}`);
    }
    return { settings, restore, wasm, clock: () => time(clock) };
}

/** JSON leaves out what it cannot represent, or writes `null`: the core would read another value, or none. */
function checkSettings(path, value, depth) {
    if (typeof value === "object" && value !== null && depth <= DEPTH_MAX) {
        for (const [name, member] of Object.entries(value)) checkSettings(`${path}.${name}`, member, depth + 1);
    } else if (value !== undefined && !Number.isFinite(value) && typeof value !== "boolean" && typeof value !== "string") {
        throw invalidArgument(`${path} must be a number, a text, true or false, not ${typeof value === "number" ? value : kindOf(value)}`);
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
