// Places and releases litigation holds, of one desktop or of many.

import { pages, send } from "../api.js";
import { hold } from "../asked.js";
import { time } from "../format.js";
import { useResource } from "../resource.js";
import { notify } from "../shell/notices.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js";
import { Outcomes, forEach } from "./bulk.js";
import { Dialog } from "./dialog.js";
import { Problem } from "./problem.js";
import { Text } from "./text.js";
import { Who } from "./who.js";

/** @typedef {{ workSpId: string, computerName: string | null, username: string | null, matter: string, reason: string | null, placedBy: string, placedAt: string }} HoldRow */

const TEXT_MAX = 256;
/** As many ids as one filter takes. */
const IDS_PER_QUESTION = 100;

const close = () => void (hold.value = null);

/** @param {string} id */
const placeOf = (id) => `/operator/workspaces/${encodeURIComponent(id)}/litigation-hold`;

/** Holds by filter, all pages. @param {import("../api.js").Query} query @param {AbortSignal} [signal] @returns {Promise<HoldRow[]>} */
export async function holds(query, signal) {
    const rows = [];
    for await (const page of pages("/query/holds", query, signal)) rows.push(...page.rows);
    return rows;
}

/** The holds of some desktops. @param {readonly string[]} ids @param {AbortSignal} [signal] */
export async function holdsOf(ids, signal) {
    const rows = [];
    for (let begin = 0; begin < ids.length; begin += IDS_PER_QUESTION) rows.push(...(await holds({ workSpId: ids.slice(begin, begin + IDS_PER_QUESTION) }, signal)));
    return rows;
}

export function HoldDialog() {
    const ask = hold.value;
    return html`<${Dialog} open=${ask !== null} title=${ask?.release ? "Release litigation holds" : "Place a litigation hold"} onClose=${close}>${ask && html`<${ask.release ? Release : Place} ids=${ask.ids} />`}<//>`;
}

/** The ids of a pasted list. @param {string} text */
function listed(text) {
    const ids = text.split(/[\r\n\t,;]+/).map((id) => id.trim());
    return [...new Set(ids)].filter((id) => id !== "");
}

/** Runs a request for each id, and keeps what became of them. */
function useBulk() {
    const [state, setState] = useState(/** @type {{ of: number, outcomes: import("./bulk.js").Outcome[] } | undefined} */ (undefined));
    const stop = useRef(new AbortController());
    useEffect(() => () => stop.current.abort(), []);
    /** @param {readonly string[]} ids @param {(id: string) => Promise<unknown>} call @param {string} done */
    const run = async (ids, call, done) => {
        setState({ of: ids.length, outcomes: [] });
        const outcomes = await forEach(ids, call, stop.current.signal, (outcomes) => setState({ of: ids.length, outcomes }));
        const failed = outcomes.filter(({ result }) => result !== "Done").length;
        if (failed === 0 && outcomes.length === ids.length) {
            notify(`${done}: ${ids.length === 1 ? ids[0] : `${ids.length} desktops`}.`);
            close();
        } else notify(`${done}: ${outcomes.length - failed} of ${ids.length}. ${failed} refused.`, "bad");
    };
    return { state, run };
}

/** @param {{ state: { of: number, outcomes: import("./bulk.js").Outcome[] }, file: string }} properties */
function Running({ state: { of, outcomes }, file }) {
    return html`<${Outcomes} outcomes=${outcomes} of=${of} file=${file} />
        <div class="dialog-actions"><button type="button" onClick=${close}>${outcomes.length < of ? "Stop" : "Close"}</button></div>`;
}

/** @param {{ ids: readonly string[] }} properties */
function Place({ ids: given }) {
    const [pasted, setPasted] = useState("");
    const ids = given.length > 0 ? given : listed(pasted);
    const there = useResource(`holds ${ids.join("\n")}`, (signal) => holdsOf(ids, signal));
    const { state, run } = useBulk();
    if (state) return html`<${Running} state=${state} file="holds placed" />`;
    /** @param {SubmitEvent} event */
    const submit = (event) => {
        event.preventDefault();
        const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
        const hold = { matter: String(fields.get("matter")).trim(), reason: String(fields.get("reason")).trim() || null };
        if (hold.matter !== "" && ids.length > 0) void run(ids, (id) => send("PUT", placeOf(id), {}, hold), "Hold placed");
    };
    return html`<form class="dialog-form" onSubmit=${submit}>
        <p>While it is held, a desktop is not rebuilt, restored, terminated or removed, its user and name stay, and its telemetry, activity and audit are kept. It can be started, rebooted and changed as before.</p>
        ${
            given.length === 0
                ? html`<label>Ids of the desktops, one a line <textarea rows="5" required value=${pasted} onInput=${(/** @type {any} */ event) => setPasted(event.target.value)}></textarea></label>`
                : html`<${Names} ids=${ids} />`
        }
        <label>Matter <input name="matter" required maxlength=${TEXT_MAX} pattern=".*\\S.*" autofocus=${given.length > 0} autocomplete="off" /></label>
        <label>Reason, if there is one to record <input name="reason" maxlength=${TEXT_MAX} autocomplete="off" /></label>
        <${Problem} error=${there.error} />
        ${there.data && there.data.length > 0 && html`<div class="warning"><p>${there.data.length} of ${ids.length} on hold already: that hold is replaced.</p><${Holds} rows=${there.data} /></div>`}
        <div class="dialog-actions">
            <button type="button" onClick=${close}>Cancel</button>
            <button class="primary" disabled=${ids.length === 0}>Place ${ids.length > 1 ? `${ids.length} holds` : "the hold"}</button>
        </div>
    </form>`;
}

/** @param {{ ids: readonly string[] }} properties */
function Release({ ids }) {
    const found = useResource(`holds ${ids.join("\n")}`, (signal) => holdsOf(ids, signal));
    const { state, run } = useBulk();
    const [typed, setTyped] = useState("");
    const rows = found.data ?? [];
    const field = useRef(/** @type {HTMLInputElement | null} */ (null));
    // The dialog is open before there is a field: what is typed must not press a button.
    useLayoutEffect(() => field.current?.focus(), [rows.length]);
    if (state) return html`<${Running} state=${state} file="holds released" />`;
    const matters = [...new Set(rows.map(({ matter }) => matter))];
    const expected = matters.length === 1 && rows.length === 1 ? matters[0] : String(rows.length);
    const confirmed = typed.trim() === expected.trim() || typed.trim() === String(rows.length);
    /** @param {SubmitEvent} event */
    const submit = (event) => {
        event.preventDefault();
        if (confirmed) void run(rows.map(({ workSpId }) => workSpId), (id) => send("DELETE", placeOf(id)), "Hold released");
    };
    return html`<form class="dialog-form" onSubmit=${submit}>
        <${Problem} error=${found.error} retry=${found.reload} />
        ${found.data && rows.length < ids.length && html`<p class="note">${ids.length - rows.length} of ${ids.length} not on hold.</p>`}
        ${
            rows.length > 0 &&
            html`<${Holds} rows=${rows} />
                <p>After it, the desktop can be rebuilt, restored, terminated and removed, and what is older than the retention is deleted.</p>
                <label>To confirm, type ${expected === String(rows.length) ? "the number of holds" : "the matter"}, <b><${Text} text=${expected} /></b>${expected !== String(rows.length) && html`, or <b>1</b>`}
                    <input ref=${field} value=${typed} autocomplete="off" spellcheck=${false} onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} />
                </label>`
        }
        <div class="dialog-actions">
            <button type="button" onClick=${close}>Cancel</button>
            <button class="danger" disabled=${rows.length === 0 || !confirmed}>Release ${rows.length > 1 ? `${rows.length} holds` : "the hold"}</button>
        </div>
    </form>`;
}

const SHOWN = 8;

/** @param {{ ids: readonly string[] }} properties */
function Names({ ids }) {
    return html`<p>${ids.length === 1 ? "Desktop" : `${ids.length} desktops:`} ${ids.slice(0, SHOWN).map((id, index) => html`${index > 0 ? ", " : ""}<b><${Text} text=${id} /></b>`)}${ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : ""}</p>`;
}

/** Who placed which hold. @param {{ rows: HoldRow[] }} properties */
function Holds({ rows }) {
    return html`<ul class="hold-list">
        ${rows.slice(0, SHOWN).map((row) => html`<li key=${row.workSpId}><b><${Text} text=${row.workSpId} /></b> <${Text} text=${row.matter} />${row.reason && html` (<${Text} text=${row.reason} />)`} <span class="note">placed by <${Who} name=${row.placedBy} /> on ${time(row.placedAt)}</span></li>`)}
        ${rows.length > SHOWN && html`<li class="note">and ${rows.length - SHOWN} more</li>`}
    </ul>`;
}
