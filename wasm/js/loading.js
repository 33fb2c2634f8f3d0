import { DeskfleetError, invalidArgument, kindOf } from "./errors.js";
import { instantiate } from "./glue.js";
import { isBuffer, isModule } from "./kinds.js";

/** The smallest valid module: if it does not compile, none does. */
const EMPTY_MODULE = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);

/**
 * Makes instances of the engine's module, which is loaded and compiled once.
 * @param {() => Promise<WebAssembly.Module> | WebAssembly.Module} load returns the compiled module
 */
export function instances(load) {
    /** @type {Promise<WebAssembly.Module> | undefined} */
    let loaded;

    async function own() {
        loaded ??= (async () => load())();
        try {
            return await loaded;
        } catch (error) {
            loaded = undefined;
            throw await unavailable(error);
        }
    }

    /** @param {unknown} wasm the module that the host gives instead of the package's, or its bytes */
    return async (wasm) => {
        const module = wasm === undefined ? await own() : await compiled(wasm);
        try {
            if (wasm !== undefined && !WebAssembly.Module.exports(module).some(({ name }) => name === "core_open")) throw new TypeError("it exports no engine");
            return await instantiate(module);
        } catch (error) {
            // A module with other imports is the wrong one; lack of memory is no fault of the module.
            if (wasm === undefined || error instanceof RangeError) throw await unavailable(error);
            throw invalidArgument("options.wasm is a module, but not the deskfleet.wasm of this version of the package", error);
        }
    };
}

async function compiled(wasm) {
    if (globalThis.WebAssembly !== undefined && isModule(wasm)) return wasm;
    if (!isBuffer(wasm) && !ArrayBuffer.isView(wasm)) {
        throw invalidArgument(`options.wasm must be a WebAssembly.Module or its bytes, not ${kindOf(wasm)}`);
    }
    try {
        return await WebAssembly.compile(wasm);
    } catch (error) {
        const forbidden = await refusal();
        throw forbidden === undefined ? invalidArgument("options.wasm is not a WebAssembly module", error) : failure(forbidden, error);
    }
}

/**
 * The module inside a script, for a bundle that leaves the file behind or moves it. An `import()`, so that bundlers can keep the script apart and
 * nothing loads it in vain.
 */
export async function inlined() {
    return decoded((await import("./module.js")).default);
}

/** @param {string} base64 */
export function decoded(base64) {
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
    return bytes;
}

/** Fetches the module from the folder of the package's scripts. @param {URL} url */
export async function fetched(url) {
    const response = await fetch(url);
    if (!response.ok) throw new DeskfleetError("ModuleUnavailable", `${url} returned ${response.status}; serve deskfleet.wasm there, ${OTHERWISE}`);
    return response;
}

const OTHERWISE = 'or import "deskfleet/inline", which contains it, or give it as options.wasm';

async function unavailable(cause) {
    if (cause instanceof DeskfleetError) return cause;
    const forbidden = await refusal();
    if (forbidden !== undefined) return failure(forbidden, cause);
    return failure(`deskfleet.wasm cannot be loaded: ${cause?.message ?? cause}; serve it unchanged beside the package's scripts, ${OTHERWISE}`, cause);
}

/** Why no WebAssembly can be compiled here; `undefined` if it can. */
async function refusal() {
    if (globalThis.WebAssembly === undefined) return "there is no WebAssembly here; some browsers disable it in a high-security mode";
    try {
        await WebAssembly.compile(EMPTY_MODULE);
        return undefined;
    } catch {
        return (
            "WebAssembly may not be compiled here. In a page or a worker of one, the Content-Security-Policy forbids it: add 'wasm-unsafe-eval' to its " +
            "script-src. On an edge runtime, which compiles only deployed modules, import the .wasm file and give it as options.wasm"
        );
    }
}

function failure(message, cause) {
    return new DeskfleetError("ModuleUnavailable", message, { cause });
}
