// What was done lately: failures of the day first, an action on many desktops as one line, nothing about keys.

import { get } from "../api.js";
import { DAY_MS, ago, count, desktops, time } from "../format.js";
import { Result, actionTitle } from "../parts/audit-words.js";
import { CardLink } from "../parts/links.js";
import { Loaded } from "../parts/problem.js";
import { Sign, State } from "../parts/state.js";
import { Text } from "../parts/text.js";
import { Who } from "../parts/who.js";
import { useResource } from "../resource.js";
import { href } from "../router.js";
import { html } from "../vendor/preact.js";

/** @typedef {import("../../../../wasm/js/types.js").AdminActivity} Row @typedef {import("../../../../wasm/js/types.js").ActionBatch} Batch */
/** @typedef {{ key: string, at: string, failed: boolean, row?: Row, batch?: Batch }} Entry */

/** Rows of the audit that are read, and how many where too few of them are shown: most may be of the inventory, of batches and of keys. */
const ROWS = 200;
const ROWS_MAX = 3000;
const SHOWN = 8;
/** What nobody did to a desktop: keys, what was read, what a batch says itself, and states that the inventory heard of. */
const OTHERS = /Key|Export|Backup|BackUp|StopBatch|UpdateWorkSpace|ConfigureFleet/;

/** @param {Batch} batch */
const sizeOf = ({ waiting, running, succeeded, failed }) => waiting + running + succeeded + failed;

const changes = (/** @type {import("../live.js").FleetEvent} */ { type }) => /^(action|hold|import)|removed/.test(type);

/** @param {AbortSignal} signal @param {number} number @returns {Promise<Entry[]>} */
async function load(signal, number) {
    const [rows, { batches }] = await Promise.all([get("/api/Information/GetAdminActivity", { numberOfActivities: number }, signal), get("/operator/batches", {}, signal)]);
    // An inventory that is imported every minute must not hide what people did: of imports the newest is a line.
    let imports = 0;
    const single = rows.filter((/** @type {Row} */ { action, batchId }) => batchId === undefined && !OTHERS.test(action) && (action !== "ImportWorkSpaces" || imports++ === 0));
    /** @type {Entry[]} */
    const entries = [
        ...batches.map((/** @type {Batch} */ batch) => ({
            key: `batch ${batch.batchId}`,
            at: batch.startedAt,
            failed: batch.failed > 0,
            batch,
            // That of one desktop is shown as its row of the audit is, once there is one.
            row: sizeOf(batch) === 1 ? rows.find((/** @type {Row} */ { batchId, workSpaceId }) => batchId === batch.batchId && workSpaceId) : undefined,
        })),
        ...single.map((/** @type {Row} */ row) => ({ key: `row ${row.id}`, at: row.activityTime, failed: row.result === "Failed", row })),
    ];
    if (entries.length < SHOWN && rows.length === number && number < ROWS_MAX) return load(signal, ROWS_MAX);
    // Failures are first for a day, not for ever.
    const since = Date.now() - DAY_MS;
    const first = (/** @type {Entry} */ { failed, at }) => Number(failed && Date.parse(at) > since);
    return entries.sort((one, other) => first(other) - first(one) || Date.parse(other.at) - Date.parse(one.at)).slice(0, SHOWN);
}

export function Latest() {
    const latest = useResource("latest", (signal) => load(signal, ROWS), { on: changes });
    const now = Date.now();
    return html`<section class="panel">
        <h2>Latest actions</h2>
        <${Loaded} of=${latest}>${(/** @type {Entry[]} */ entries) => html`
            ${entries.length === 0 && html`<p class="note">No actions yet. Choose desktops in <a href=${href("desktops")}>Desktops</a>, or press Ctrl K and type what to do.</p>`}
            <ul class="latest">${entries.map(({ key, at, row, batch }) => html`<li key=${key}>
                ${row ? html`<${Single} row=${row} />` : html`<${Many} batch=${batch} />`}
                <span class="note"><${Who} name=${row?.requester ?? batch?.requester ?? batch?.apiKeyName ?? "host"} /> · <span title=${time(at)}>${ago(at, now)}</span></span>
            </li>`)}</ul>`}<//>
        <p><a href=${href("audit")}>All actions and the audit</a></p>
    </section>`;
}

/** @param {{ row: Row }} properties */
function Single({ row: { action, workSpaceId, result, newState, detail } }) {
    return html`<span><b>${actionTitle(action)}</b> ${workSpaceId && html`<${CardLink} id=${workSpaceId} />`}</span>
        <span><${Result} result=${result} />${result === "Refused" ? detail && html` <span class="note"><${Text} text=${detail} /></span>` : newState && html` <span class="note"><${State} state=${newState} /></span>`}</span>`;
}

/** @param {{ batch: Batch }} properties */
function Many({ batch }) {
    const { batchId, action, waiting, running, succeeded, failed, stopped } = batch;
    const all = sizeOf(batch);
    const parts = [
        [failed, "failed", "bad", "✖"],
        [running, "running", "busy", "◔"],
        [waiting, stopped === null ? "waiting" : "not begun", "off", "◌"],
        [succeeded, "done", "good", "✔"],
    ];
    return html`<span><b>${actionTitle(action)}</b> <a href=${href("audit", undefined, { batchId })}>${desktops(all)}</a></span>
        <span>${parts.filter(([number]) => Number(number) > 0).map(([number, word, tone, glyph]) => html`<${Sign} key=${word} tone=${tone} glyph=${glyph}>${count(Number(number))} ${word}<//> `)}</span>`;
}
