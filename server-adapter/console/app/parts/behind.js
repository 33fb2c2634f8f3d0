// The desktops behind a number, a bar or a cell: those whose records it was made of, read back from the newest until there are enough.

import { get, request } from "../api.js";
import { behind } from "../asked.js";
import { count, time } from "../format.js";
import { WHOLE_FLEET, href } from "../router.js";
import { html, useEffect, useState } from "../vendor/preact.js";
import { DataTable } from "./data-table.js";
import { Dialog } from "./dialog.js";
import { DesktopLink, UserLink } from "./links.js";
import { Problem } from "./problem.js";
import { Text } from "./text.js";

/**
 * @typedef {import("../asked.js").Behind} Asked
 * @typedef {{ instanceId: string, username: string | null, records: number, last: string, value: number | null, known?: boolean }} Found
 */

const HOUR_MS = 3_600_000;
/** Records that are read, desktops after which no more are, and requests. */
const RECORDS_MAX = 50_000;
const DESKTOPS_MAX = 500;
const REQUESTS_MAX = 16;

const close = () => void (behind.value = null);

/** A range as spans that are read one after the other: the newest hour first, then ever more. @param {number} from @param {number} to @returns {[number, number][]} */
export function spansOf(from, to) {
    /** @type {[number, number][]} */
    const spans = [];
    for (let end = to, length = HOUR_MS; end > from; end -= length, length *= 2) spans.push([Math.max(from, end - length), end]);
    return spans;
}

export function Behind() {
    const ask = behind.value;
    return html`<${Dialog} open=${ask !== null} wide title=${ask?.title ?? ""} onClose=${close}>${ask && html`<${Shown} key=${ask} ask=${ask} />`}<//>`;
}

/** @param {{ ask: Asked }} properties */
function Shown({ ask }) {
    const [state, setState] = useState(/** @type {{ rows?: Found[], until?: number, error?: unknown }} */ ({}));
    const read = () => {
        const controller = new AbortController();
        desktops(ask, controller.signal).then(setState, (error) => controller.signal.aborted || setState({ error }));
        return () => controller.abort();
    };
    useEffect(read, [ask]);
    const { rows, until, error } = state;
    if (rows === undefined) return error === undefined ? html`<p class="note loading" role="status">Reading the records …</p>` : html`<${Problem} error=${error} retry=${read} />`;
    const { value } = ask;
    const columns = [
        { name: "instanceId", title: "Desktop", show: (/** @type {Found} */ { instanceId, known }) => (known ? html`<${DesktopLink} id=${instanceId} />` : html`<a href=${href("desktops", undefined, { ...WHOLE_FLEET, q: instanceId })}><${Text} text=${instanceId} /></a>`) },
        { name: "username", title: "User", show: (/** @type {Found} */ { username }) => html`<${UserLink} name=${username} />` },
        ...(value ? [{ name: "value", title: value.title, number: true, show: (/** @type {Found} */ row) => value.text(row.value) }] : []),
        { name: "records", title: "Records", number: true, show: (/** @type {Found} */ { records }) => count(records) },
        { name: "last", title: "Newest", show: (/** @type {Found} */ { last }) => html`<span class="nowrap">${time(last)}</span>` },
    ];
    const ids = rows.filter(({ known, instanceId }) => known && !instanceId.includes(",")).map(({ instanceId }) => instanceId);
    return html`${until !== undefined && html`<p class="note">Read back to ${time(until)}: what is older is not counted here.</p>`}
        <${DataTable} caption=${ask.title} columns=${columns} rows=${rows} sort=${value ? "-value" : "-records"} most=${200} rowKey=${(/** @type {Found} */ { instanceId }) => instanceId} file="desktops-behind" empty="No desktop sent such a record." tools=${ids.length > 0 && html`<a class="button" href=${href("desktops", undefined, { ...WHOLE_FLEET, workSpId: `in.${ids.join(",")}` })}>Open ${count(ids.length)} in Desktops</a>`} />`;
}

/** @param {Asked} ask @param {AbortSignal} signal */
async function desktops({ stream, spans, accept, value }, signal) {
    /** @type {Map<string, Found>} */
    const found = new Map();
    let [records, until, requests] = [0, /** @type {number | undefined} */ (undefined), 0];
    for (const [from, to] of spans) {
        if (records >= RECORDS_MAX || found.size >= DESKTOPS_MAX || requests++ === REQUESTS_MAX) {
            until = to;
            break;
        }
        const query = { stream, format: "ndjson", from: new Date(from).toISOString(), to: new Date(to).toISOString() };
        for await (const record of lines(await request("GET", "/query/export", { query, signal }))) {
            if (records++ === RECORDS_MAX) {
                until = to;
                break;
            }
            if (record.instanceId === undefined || accept?.(record) === false) continue;
            const at = record.updatetime ?? record.updateTime ?? record.activityTime ?? record.createdDate ?? record.baselineUtc ?? record.receivedAt;
            const row = found.get(record.instanceId) ?? { instanceId: record.instanceId, username: null, records: 0, last: at, value: null };
            found.set(record.instanceId, row);
            row.records++;
            row.value = Math.max(row.value ?? -Infinity, value?.of(record) ?? -Infinity);
            if (row.username === null || at >= row.last) row.username = record.username ?? row.username;
            if (at > row.last) row.last = at;
        }
        if (until !== undefined) break;
    }
    const rows = [...found.values()];
    for (const row of rows) if (row.value === -Infinity) row.value = null;
    for (let begin = 0; begin < rows.length; begin += DESKTOPS_MAX) {
        const part = rows.slice(begin, begin + DESKTOPS_MAX);
        const known = new Set((await get("/query/workspaces", { workSpId: part.map(({ instanceId }) => instanceId), fields: "workSpId", limit: DESKTOPS_MAX }, signal)).rows.map((/** @type {any} */ { workSpId }) => workSpId));
        for (const row of part) row.known = known.has(row.instanceId);
    }
    return { rows, until };
}

/** The records of a body, as it arrives; what is not read is not sent. @param {Response} response */
async function* lines(response) {
    // An answer without records may have no body.
    if (response.body === null) return;
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    try {
        for (;;) {
            const { done, value } = await reader.read();
            const parts = (rest + decoder.decode(value, { stream: !done })).split("\n");
            rest = parts.pop() ?? "";
            for (const part of parts) if (part !== "") yield JSON.parse(part);
            if (done) break;
        }
        if (rest !== "") yield JSON.parse(rest);
    } finally {
        reader.cancel().catch(() => {});
    }
}
