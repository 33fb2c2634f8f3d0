// The audit, newest first.

import { get } from "../api.js";
import { AUDITED, RESULTS, Result, actionTitle } from "../parts/audit-words.js";
import { DataTable } from "../parts/data-table.js";
import { Loaded, Problem } from "../parts/problem.js";
import { bounds, useRange } from "../parts/range.js";
import { State } from "../parts/state.js";
import { Text } from "../parts/text.js";
import { WholeAsCsv } from "../parts/whole-csv.js";
import { Who } from "../parts/who.js";
import { onEvent } from "../live.js";
import { time } from "../format.js";
import { useResource } from "../resource.js";
import { href, route, setQuery } from "../router.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";

/** @typedef {import("../../../../wasm/js/types.js").AuditRow} Row */
/** @typedef {{ rows: Row[], token: string | null }} Part rows, and where the older ones go on */

const PATH = "/operator/audit";
const PAGE = 100;
/** Requests that look for rare rows, before a person is asked to look further. */
const REQUESTS = 10;
const EVERY_MS = 15_000;
/** All that the audit holds. */
const ALL = "-365d";
const MEMBERS = ["id", "activityTime", "requester", "action", "workSpaceId", "username", "computerName", "result", "previousState", "newState", "completedTime", "detail", "apiKeyName", "apiKeyId"];

/** What changes the audit; refused calls have no event, and come with the period. */
const changes = (/** @type {import("../live.js").FleetEvent} */ { type }) => type !== "telemetry.filed";

/** @type {import("../parts/data-table.js").Column<Row>[]} */
const COLUMNS = [
    { name: "activityTime", title: "Time", show: ({ activityTime }) => html`<span class="nowrap">${time(activityTime)}</span>` },
    { name: "action", title: "Action", show: ({ action }) => html`<span class="nowrap">${actionTitle(action)}</span>` },
    { name: "result", title: "Result", show: ({ result }) => html`<${Result} result=${result} />` },
    { name: "workSpaceId", title: "Desktop", show: ({ workSpaceId }) => workSpaceId && html`<a href=${href("desktop", workSpaceId)}><${Text} text=${workSpaceId} /></a>` },
    { name: "username", title: "User", show: ({ username }) => username && html`<a href=${href("user", username)}><${Text} text=${username} /></a>` },
    { name: "requester", title: "Requester", show: ({ requester }) => html`<${Who} name=${requester} />` },
    { name: "newState", title: "State after", show: ({ newState }) => newState && html`<${State} state=${newState} />` },
    { name: "detail", title: "Detail", show: ({ detail }) => detail && html`<span class="long"><${Text} text=${detail} /></span>` },
];

/** @param {{ rows: Row[], tools?: any, empty?: string }} properties */
function Rows({ rows, tools, empty }) {
    return html`<${DataTable} caption="Audit" file="audit" sort="" columns=${COLUMNS} rows=${rows} rowKey=${(/** @type {Row} */ { id }) => id} tools=${tools} empty=${empty} />`;
}

/** Rows from a place on, until there are enough, or enough was asked. @param {import("../api.js").Query} query @param {string | null} token @param {AbortSignal} [signal] @returns {Promise<Part>} */
async function read(query, token, signal) {
    /** @type {Row[]} */
    const rows = [];
    for (let request = 0; request < REQUESTS; request++) {
        const page = await get(PATH, { ...query, limit: PAGE, nextToken: token }, signal);
        rows.push(...page.activities);
        token = page.nextToken;
        if (!page.hasMore || rows.length >= PAGE) break;
    }
    return { rows, token };
}

/** What was read before, below what was read now. @param {Part} now @param {Part | undefined} before @returns {Part} */
function joined(now, before) {
    const last = now.rows.at(-1)?.id ?? Infinity;
    // Rows are missing between the two: the older ones are read again with "more".
    if (before === undefined || before.rows.length === 0 || last > before.rows[0].id) return now;
    return { rows: [...now.rows, ...before.rows.filter(({ id }) => id < last)], token: before.token };
}

/** The audit as the filters of the address want it, for keys that may read all of it. */
export function Audit() {
    const range = useRange();
    const { workSpaceId, requester, action, result, batchId } = route.value.query;
    const filters = { workSpaceId, requester, action, result, batchId };
    const query = () => ({ ...filters, ...between(range) });
    const key = JSON.stringify([filters, range.key]);
    const newest = useResource(key, (signal) => read(query(), null, signal), { every: EVERY_MS, on: changes });
    const known = useKnown(key, newest.data);
    const [more, setMore] = useState(/** @type {{ busy?: boolean, error?: unknown }} */ ({}));
    const readOn = async () => {
        const { token } = known.part ?? { token: null };
        setMore({ busy: true });
        try {
            known.append(key, await read(query(), token));
            setMore({});
        } catch (error) {
            setMore({ error });
        }
    };
    return html`<${Filters} filters=${filters} />
        <${Loaded} of=${newest}>
            ${() => {
                const { rows, token } = known.part ?? { rows: [], token: null };
                const tools = html`<${WholeAsCsv} key=${key} path=${PATH} query=${query} member="activities" columns=${MEMBERS} file="audit-whole" />`;
                return html`<${Rows} rows=${rows} tools=${tools} empty=${token === null ? "Nothing matches." : "Nothing matches so far."} />
                    ${token !== null && html`<div class="row"><button type="button" disabled=${more.busy} onClick=${readOn}>${more.busy ? "Reading …" : "More"}</button></div>`}
                    <${Problem} error=${more.error} />`;
            }}
        <//>`;
}

/** The rows read so far under one key; events complete what runs. @param {string} key @param {Part | undefined} newest */
function useKnown(key, newest) {
    const known = useRef(/** @type {{ key: string, newest?: Part, part?: Part }} */ ({ key }));
    const [, setChanged] = useState(0);
    if (known.current.key !== key) known.current = { key };
    if (known.current.newest !== newest) known.current = { key, newest, part: newest && joined(newest, known.current.part) };
    useEffect(
        () =>
            onEvent(({ type, at, detail }) => {
                const row = known.current.part?.rows.find(({ id }) => id === detail?.actionId);
                if (row === undefined || (type !== "action.completed" && type !== "action.failed")) return;
                Object.assign(row, { result: detail.result ?? "Completed", newState: detail.state, completedTime: detail.completedTime ?? at });
                setChanged((before) => before + 1);
            }),
        [],
    );
    return {
        part: known.current.part,
        /** @param {string} under @param {Part} older */
        append(under, older) {
            const { part } = known.current;
            if (known.current.key !== under || part === undefined) return;
            known.current.part = { rows: [...part.rows, ...older.rows], token: older.token };
            setChanged((before) => before + 1);
        },
    };
}

/** @param {import("../parts/range.js").Range} range */
function between(range) {
    if (range.from === ALL) return {};
    return { from: new Date(bounds(range)[0]).toISOString(), to: range.to };
}

/** @param {{ filters: Record<string, string | undefined>, range: import("../parts/range.js").Range }} properties */
function Filters({ filters, range }) {
    const set = (/** @type {any} */ { target }) => setQuery({ [target.name]: target.value.trim() || undefined });
    const text = (/** @type {string} */ name, /** @type {string} */ title, type = "text") =>
        html`<label>${title} <input type=${type} name=${name} spellcheck=${false} value=${filters[name] ?? ""} onChange=${set} /></label>`;
    const choice = (/** @type {string} */ name, /** @type {string} */ title, /** @type {[string, string][]} */ options) =>
        html`<label>${title}
            <select name=${name} value=${filters[name] ?? ""} onChange=${set}>
                <option value="">All</option>
                ${options.map(([value, label]) => html`<option key=${value} value=${value}>${label}</option>`)}
            </select>
        </label>`;
    return html`<div class="filters" role="search" aria-label="Filters of the audit">
        ${text("workSpaceId", "Desktop ID", "search")} ${text("requester", "Requester (whole name)", "search")}
        ${choice("action", "Action", AUDITED.map((name) => [name, actionTitle(name)]))}
        ${choice("result", "Result", Object.entries(RESULTS).map(([name, { label }]) => [name, label]))}
        ${filters.batchId && html`<button type="button" onClick=${() => setQuery({ batchId: undefined })}>Only batch ${filters.batchId} ✕</button>`}
    </div>`;
}

const COUNTS = [100, 1000, 10_000];

/** The newest rows, for keys without the scope `admin`. */
export function Newest() {
    const number = COUNTS.find((each) => String(each) === route.value.query.rows) ?? COUNTS[0];
    const newest = useResource(`newest ${number}`, (signal) => get("/api/Information/GetAdminActivity", { numberOfActivities: number }, signal), { every: EVERY_MS, on: changes });
    const choose = (/** @type {any} */ { target }) => setQuery({ rows: target.value });
    const tools = html`<label class="compact">Newest
        <select value=${number} onChange=${choose}>${COUNTS.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}</select>
    </label>`;
    return html`<p class="note">The newest rows. A key of scope <code>admin</code> also filters them and reads older ones.</p>
        <${Loaded} of=${newest}>${(/** @type {Row[]} */ rows) => html`<${Rows} rows=${rows} tools=${tools} />`}<//>`;
}
