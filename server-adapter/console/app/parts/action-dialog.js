// What is asked before something is done to desktops, what happens, and what came of it.

import { csv, download } from "../csv.js";
import { count } from "../format.js";
import { requester } from "../preferences.js";
import { href } from "../router.js";
import { session } from "../session.js";
import { notify } from "../shell/notices.js";
import { effect, html, signal, useEffect, useId, useRef, useState } from "../vendor/preact.js";
import { COMPUTE_TYPES, REMOVAL, grouped, preview, run } from "./action-run.js";
import { Dialog } from "./dialog.js";
import { Problem } from "./problem.js";
import { Text } from "./text.js";
import { Typed } from "./typed.js";

/**
 * What can be done. `danger`: data is lost, so that it is confirmed by typing; `holds`: refused for a desktop on litigation hold.
 * @type {{ name: string, title: string, will: string, danger?: boolean, holds?: boolean, note: string }[]}
 */
export const ACTIONS = [
    { name: "StartWorkSpace", title: "Start", will: "will start", note: "Starts stopped desktops whose running mode is AUTO_STOP or MANUAL." },
    { name: "RebootWorkSpace", title: "Reboot", will: "will reboot", note: "Restarts the system. Whoever works there is disconnected." },
    { name: "RecoveryRebootWorkSpace", title: "Recovery reboot", will: "will reboot on another host", note: "Moves the desktop to another host and restarts it. Its volumes stay." },
    { name: "ChangeComputeType", title: "Change type", will: "will change", note: "Changes the hardware. Whoever works there is disconnected." },
    { name: "RestoreWorkSpace", title: "Restore", will: "will be restored", danger: true, holds: true, note: "Sets both volumes back to the last snapshot. What was written since is lost." },
    { name: "RebuildWorkSpace", title: "Rebuild", will: "will be rebuilt", danger: true, holds: true, note: "Makes the root volume anew and sets the user volume back to the last snapshot." },
    { name: "TerminateWorkSpace", title: "Terminate", will: "will be terminated", danger: true, holds: true, note: "Deletes the desktop and its volumes. Nothing brings them back." },
    { name: "RemoveWorkSpaceDbEntry", title: "Remove record", will: "to be removed from the inventory", danger: true, holds: true, note: "Removes the record from the inventory. The desktop itself is not touched." },
];

/** Rows of a list that are drawn. */
const LISTED_MAX = 200;

/** @type {import("../vendor/preact.js").Signal<{ action: string, ids: string[] } | null>} */
const asked = signal(null);
/** Stops the requests that are being sent. @type {import("../vendor/preact.js").Signal<AbortController | null>} */
const running = signal(null);

/** Opens the dialog. @param {string} action such as `RebootWorkSpace` @param {Iterable<string>} ids */
export function askAction(action, ids) {
    if (running.value === null) asked.value = { action, ids: [...ids] };
}

/** While requests are sent the dialog stays: its button stops them, and Esc does not do so by mistake. */
const close = () => {
    if (running.value === null) asked.value = null;
};

effect(() => {
    if (session.value !== null) return;
    running.peek()?.abort();
    asked.value = null;
});

export function ActionDialog() {
    const ask = asked.value;
    const action = ACTIONS.find(({ name }) => name === ask?.action) ?? ACTIONS[0];
    return html`<${Dialog} open=${ask !== null} wide title=${`${action.title} ${desktops(ask?.ids.length ?? 0)}`} onClose=${close}>${ask && html`<${Steps} key=${ask} action=${action} ids=${ask.ids} />`}<//>`;
}

/** @param {number} number */
const desktops = (number) => `${count(number)} ${number === 1 ? "desktop" : "desktops"}`;

/** @typedef {import("./action-run.js").Outcome} Outcome */

/** @param {{ action: typeof ACTIONS[number], ids: string[] }} properties */
function Steps({ action, ids }) {
    const [type, setType] = useState("");
    const [previewed, setPreviewed] = useState(/** @type {Outcome[] | undefined} */ (undefined));
    const [error, setError] = useState(/** @type {unknown} */ (undefined));
    const [results, setResults] = useState(/** @type {Outcome[] | undefined} */ (undefined));
    const [sending, setSending] = useState(0);
    const needsType = action.name === "ChangeComputeType";

    const look = () => {
        setPreviewed(undefined);
        setError(undefined);
        if (needsType && type === "") return;
        const controller = new AbortController();
        preview(action.name, ids, type, controller.signal).then(setPreviewed, (failure) => controller.signal.aborted || setError(failure));
        return () => controller.abort();
    };
    useEffect(look, [type]);

    /** @param {string[]} chosen */
    const begin = async (chosen) => {
        // A second click, before the form is gone.
        if (running.value !== null) return;
        setSending(chosen.length);
        setResults([]);
        const controller = (running.value = new AbortController());
        const all = await run(action.name, chosen, { requester: requester.value, computeType: type }, controller.signal, setResults);
        running.value = null;
        setSending(0);
        setResults(all);
        const accepted = all.filter(({ outcome }) => outcome === "Accepted").length;
        notify(`${action.title}: ${count(accepted)} of ${desktops(all.length)} accepted.`, accepted === all.length ? "good" : "bad");
    };
    if (results !== undefined) return html`<${Results} action=${action} results=${results} sending=${sending} begin=${begin} />`;
    return html`<p>${action.note}</p>
        ${needsType && html`<label>New type <select value=${type} onChange=${(/** @type {any} */ event) => setType(event.target.value)}><option value="" disabled>Choose one</option>${COMPUTE_TYPES.map((name) => html`<option key=${name}>${name}</option>`)}</select></label>`}
        <${Problem} error=${error} retry=${look} />
        ${previewed === undefined && error === undefined && !(needsType && type === "") && html`<p class="note loading" role="status">Looking what would happen …</p>`}
        ${previewed && html`<${Confirm} key=${type} action=${action} previewed=${previewed} begin=${begin} />`}`;
}

/** @param {{ action: typeof ACTIONS[number], previewed: Outcome[], begin: (ids: string[]) => void }} properties */
function Confirm({ action, previewed, begin }) {
    const accepted = previewed.filter(({ outcome }) => outcome === "Accepted");
    const others = previewed.length - accepted.length;
    const [all, setAll] = useState(false);
    const [agreed, setAgreed] = useState("");
    const [who, setWho] = useState(requester.value);
    const chosen = all ? previewed : accepted;
    const removes = action.name === REMOVAL;
    const wanted = !action.danger || chosen.length === 0 ? "" : chosen.length > 1 ? String(chosen.length) : removes ? "" : chosen[0].workSpaceId;
    /** @param {SubmitEvent} event */
    const submit = (event) => {
        event.preventDefault();
        if (!removes) requester.value = who.trim();
        begin(chosen.map(({ workSpaceId }) => workSpaceId));
    };
    return html`<form class="action-form" onSubmit=${submit}>
        ${previewed[0]?.simulated && html`<p class="problem">Simulated: nothing happens to a desktop.</p>`}
        <${Groups} action=${action} outcomes=${previewed} future=${true} />
        ${others > 0 && html`<label class="check"><input type="checkbox" checked=${all} onChange=${(/** @type {any} */ event) => setAll(event.target.checked)} /> Send the other ${count(others)} too, in case that has changed by then</label>`}
        ${!removes && html`<label>Requested by, for the audit <input required pattern=".*\\S.*" maxlength="256" autocomplete="name" value=${who} onInput=${(/** @type {any} */ event) => setWho(event.target.value)} /></label>`}
        ${wanted !== "" && html`<${Typed} key=${wanted} word=${wanted} onChange=${(/** @type {boolean} */ is) => setAgreed(is ? wanted : "")} />`}
        <div class="dialog-actions">
            <button type="button" onClick=${close}>Cancel</button>
            <button class=${action.danger ? "danger" : "primary"} disabled=${chosen.length === 0 || agreed !== wanted}>${action.title} ${desktops(chosen.length)}</button>
        </div>
    </form>`;
}

/** @param {{ action: typeof ACTIONS[number], results: Outcome[], sending: number, begin: (ids: string[]) => void }} properties */
function Results({ action, results, sending, begin }) {
    const refused = results.filter(({ outcome }) => outcome !== "Accepted").length;
    const left = results.filter(({ outcome }) => outcome === "NotSent").map(({ workSpaceId }) => workSpaceId);
    const label = useId();
    const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
    useEffect(() => button.current?.focus(), [sending > 0]);
    const save = () => download(`${action.name}.csv`, csv(["workSpaceId", "outcome", "code", "message"], results));
    return html`${sending > 0 && html`<p id=${label}>${count(results.length)} of ${count(sending)} sent${refused > 0 && `, ${count(refused)} not accepted`}</p><progress aria-labelledby=${label} max=${sending} value=${results.length}></progress>`}
        ${sending === 0 && html`<${Groups} action=${action} outcomes=${results} />`}
        <div class="dialog-actions">
            ${sending > 0
                ? html`<button key="stop" ref=${button} type="button" onClick=${() => running.value?.abort()}>Stop</button>`
                : html`${left.length > 0 && html`<button type="button" onClick=${() => begin(left)}>Send the other ${count(left.length)}</button>`}<a class="button" href=${href("audit", undefined, { tab: "running" })} onClick=${close}>Running actions</a><button type="button" onClick=${save}>Save as CSV</button><button key="close" ref=${button} type="button" class="primary" onClick=${close}>Close</button>`}
        </div>`;
}

/** Outcomes, those of a kind together. @param {{ action: typeof ACTIONS[number], outcomes: Outcome[], future?: boolean }} properties */
function Groups({ action, outcomes, future = false }) {
    return html`<ul class="outcomes">
        ${grouped(outcomes).map(
            ({ key, tone, glyph, text, rows }) => html`<li key=${key}>
                <details open=${rows.length <= 3}>
                    <summary><span class="state ${tone}"><span class="glyph" aria-hidden="true">${glyph}</span><b>${count(rows.length)}</b></span> ${future && key === "Accepted" ? action.will : text}${rows[0]?.code ? html` <code>${key}</code>` : ""}</summary>
                    <ul>${rows.slice(0, LISTED_MAX).map(({ workSpaceId, message }) => html`<li key=${workSpaceId}><${Text} text=${workSpaceId} /> ${message && html`<span class="note"><${Text} text=${message} /></span>`}</li>`)}</ul>
                    ${rows.length > LISTED_MAX && html`<p class="note">and ${count(rows.length - LISTED_MAX)} more</p>`}
                </details>
            </li>`,
        )}
    </ul>`;
}
