// Saves a list of any length as CSV: read page by page, with progress, and stopped at a click.

import { pages } from "../api.js";
import { csv, download } from "../csv.js";
import { count } from "../format.js";
import { notify } from "../shell/notices.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";

/**
 * @param {object} properties
 * @param {string} properties.path
 * @param {() => import("../api.js").Query} properties.query
 * @param {string} properties.member of a page: its rows
 * @param {string[]} properties.columns
 * @param {string} properties.file name of the file, without `.csv`
 */
export function WholeAsCsv({ path, query, member, columns, file }) {
    const [done, setDone] = useState(/** @type {number | undefined} */ (undefined));
    const running = useRef(/** @type {AbortController | undefined} */ (undefined));
    const stop = () => running.current?.abort();
    useEffect(() => stop, []);
    const save = async () => {
        const { signal } = (running.current = new AbortController());
        setDone(0);
        try {
            download(`${file}.csv`, await whole(pages(path, { ...query(), export: true }, signal), columns, member, setDone));
        } catch (error) {
            if (!signal.aborted) notify(`Not saved: ${error instanceof Error ? error.message : error}`, "bad");
        }
        setDone(undefined);
    };
    if (done === undefined) return html`<button type="button" class="quiet" onClick=${save}>Export all (CSV)</button>`;
    return html`<span role="status">${count(done)} rows …</span><button type="button" onClick=${stop}>Stop</button>`;
}

/** Each page is put away as text, so that the rows need not all be in memory. @param {AsyncIterable<any>} read @param {string[]} columns @param {string} member @param {(rows: number) => void} progress */
async function whole(read, columns, member, progress) {
    const parts = [csv(columns, [])];
    const head = parts[0].length;
    let rows = 0;
    for await (const page of read) {
        parts.push(csv(columns, page[member]).slice(head));
        progress((rows += page[member].length));
    }
    return new Blob(parts);
}
