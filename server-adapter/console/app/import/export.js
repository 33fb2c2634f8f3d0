// Writes lists and telemetry of any length into a file, part by part.

import { request } from "../api.js";
import { download } from "../csv.js";
import { DAY_MS, bytes, count } from "../format.js";
import { run } from "./job.js";

const NEWLINE = 10;
/** Where a browser cannot write to the disk, the file is kept in memory until it is whole. */
export const MEMORY_BYTES_MAX = 256 * 2 ** 20;

/**
 * @typedef {{ name: string, title: string, path: string, days?: boolean }} Source
 * `days`: telemetry, which is asked for day by day
 */

/** @type {Source[]} */
export const SOURCES = [
    { name: "workspaces", title: "Desktops with their newest figures", path: "/query/workspaces" },
    { name: "holds", title: "Litigation holds", path: "/query/holds" },
    { name: "stats", title: "Statistics", path: "/query/export", days: true },
    { name: "activity", title: "Activity of users", path: "/query/export", days: true },
    { name: "startup", title: "Logons", path: "/query/export", days: true },
    { name: "processes", title: "Processes", path: "/query/export", days: true },
];

/**
 * Asks for a place and writes the file there; resolves when it is whole, stopped or failed, which a message says.
 * @param {Source} source
 * @param {{ format: "csv" | "ndjson", from: number, to: number, instanceId: string }} what
 */
export async function save(source, { format, from, to, instanceId }) {
    const file = await place(`${source.name}.${format}`, format === "csv" ? "text/csv;charset=utf-8" : "application/x-ndjson");
    if (file === undefined) return;
    const written = await run(`Export of ${source.title.toLowerCase()}`, async (step, signal) => {
        let size = 0;
        let lines = 0;
        let isFirst = true;
        const days = source.days ? Math.ceil((to - from) / DAY_MS) : 0;
        let day = 0;
        const report = () => step(day, days, `${bytes(size)}, ${count(lines)} lines`);
        /** @type {Set<string>} */
        const warnings = new Set();
        /** @param {import("../api.js").Query} query @returns {Promise<Response>} */
        const part = async (query) => {
            const response = await request("GET", source.path, { query: { format, ...query }, signal });
            const warning = response.headers.get("x-warning");
            if (warning !== null) warnings.add(warning);
            // Only the first part has the names of the columns.
            let skips = format === "csv" && !isFirst;
            isFirst = false;
            for await (const chunk of chunks(response)) {
                const start = skips ? chunk.indexOf(NEWLINE) + 1 : 0;
                if (skips && start === 0) continue;
                skips = false;
                size += chunk.length - start;
                for (let at = start; at < chunk.length; at++) if (chunk[at] === NEWLINE) lines++;
                report();
                await file.write(chunk.subarray(start));
            }
            return response;
        };
        if (source.days) {
            for (; day < days; day++) {
                report();
                const begin = from + day * DAY_MS;
                await part({ stream: source.name, instanceId, from: new Date(begin).toISOString(), to: new Date(Math.min(begin + DAY_MS, to)).toISOString() });
            }
        } else {
            for (let nextToken; nextToken !== null; ) {
                report();
                nextToken = (await part({ limit: 500, nextToken, export: true })).headers.get("x-next-token");
            }
        }
        await file.close();
        return [`${source.name}.${format} is saved: ${bytes(size)}, ${count(lines)} lines.`, ...warnings].join(" ");
    }, "nothing is saved");
    if (!written) await file.abort();
}

/** @param {Response} response @returns {AsyncGenerator<Uint8Array>} */
async function* chunks(response) {
    const reader = response.body?.getReader();
    for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done) return;
        yield value;
    }
}

/**
 * Where the file goes: to the disk as it arrives where the browser can do that, else through memory. Undefined if nobody wants it.
 * @param {string} name
 * @param {string} type
 * @returns {Promise<{ write: (chunk: Uint8Array) => Promise<void> | void, close: () => Promise<void> | void, abort: () => Promise<void> | void } | undefined>}
 */
async function place(name, type) {
    const pick = /** @type {any} */ (globalThis).showSaveFilePicker;
    if (pick !== undefined) {
        try {
            return await (await pick({ suggestedName: name })).createWritable();
        } catch (error) {
            if (/** @type {Error} */ (error).name === "AbortError") return undefined;
            // Forbidden here: through memory.
        }
    }
    /** @type {BlobPart[]} */
    const parts = [];
    let size = 0;
    return {
        write: (chunk) => {
            size += chunk.length;
            if (size > MEMORY_BYTES_MAX) throw new Error(`This browser cannot write to the disk, and keeps at most ${bytes(MEMORY_BYTES_MAX)}. Choose a shorter range, or use deskfleet export.`);
            parts.push(/** @type {BlobPart} */ (chunk));
        },
        close: () => download(name, new Blob(parts), type),
        abort: () => {},
    };
}
