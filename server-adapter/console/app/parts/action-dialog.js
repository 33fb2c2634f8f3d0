// What is asked before something is done to desktops, what happens, and what came of it.

import { action, running } from "../asked.js";
import { csv, download } from "../csv.js";
import { ago, count, desktops } from "../format.js";
import { requester } from "../preferences.js";
import { href } from "../router.js";
import { session } from "../session.js";
import { notify } from "../shell/notices.js";
import { Sign } from "./state.js";
import { html, useEffect, useId, useRef, useState } from "../vendor/preact.js";
import { COMPUTE_TYPES, REMOVAL, addPeople, grouped, preview, recently, run } from "./action-run.js";
import { ACTIONS } from "./actions.js";
import { Dialog } from "./dialog.js";
import { Problem } from "./problem.js";
import { Text } from "./text.js";
import { Typed } from "./typed.js";

/** More desktops than this begin in waves of as many, and actions that disconnect people are confirmed by typing how many. */
const MANY = 25;
/** A list of as many is open at first. */
const OPEN_MAX = 20;
/** Rows of a list that are drawn. */
const LISTED_MAX = 200;

/** While a part is to be sent the dialog stays: its button stops that, and Esc does not do so by mistake. */
const close = () => {
    if (running.value === null) action.value = null;
};

export function ActionDialog() {
    const ask = action.value;
    const chosen = ACTIONS.find(({ name }) => name === ask?.action) ?? ACTIONS[0];
    return html`<${Dialog} open=${ask !== null} wide title=${`${chosen.title}${chosen.name === "ChangeComputeType" ? " of" : ""} ${desktops(ask?.ids.length ?? 0)}`} onClose=${close}>${ask && html`<${Steps} key=${ask} action=${chosen} ids=${ask.ids} begun=${ask.begun} />`}<//>`;
}

/** @typedef {import("./action-run.js").Outcome} Outcome */
/** @typedef {{ atOnce: number | null, stopAfterFailures: number | null }} Pace */

/** @param {{ action: typeof ACTIONS[number], ids: string[], begun?: () => void }} properties */
function Steps({ action, ids, begun }) {
    const [type, setType] = useState("");
    const [previewed, setPreviewed] = useState(/** @type {{ outcomes: Outcome[], known: boolean } | undefined} */ (undefined));
    const [error, setError] = useState(/** @type {unknown} */ (undefined));
    const [progress, setProgress] = useState(/** @type {import("./action-run.js").Progress | undefined} */ (undefined));
    const [pace, setPace] = useState(/** @type {Pace} */ ({ atOnce: null, stopAfterFailures: null }));
    const stop = useRef(new AbortController());
    const left = useRef(new AbortController());
    useEffect(() => () => left.current.abort(), []);
    const needsType = action.name === "ChangeComputeType";

    const look = () => {
        setPreviewed(undefined);
        setError(undefined);
        if (needsType && type === "") return;
        const controller = new AbortController();
        const check = async () => {
            const outcomes = await preview(action.name, ids, type, controller.signal);
            // Without it the dialog says so.
            const known = action.disconnects === true && (await addPeople(outcomes, action, controller.signal).then(() => true, () => controller.signal.throwIfAborted() ?? false));
            return { outcomes, known };
        };
        check().then(setPreviewed, (failure) => controller.signal.aborted || setError(failure));
        return () => controller.abort();
    };
    useEffect(look, [type]);

    /** @param {string[]} chosen @param {Pace} given */
    const begin = async (chosen, given) => {
        // A second click, before the form is gone.
        if (running.value !== null) return;
        left.current.abort();
        left.current = new AbortController();
        const controller = new AbortController();
        stop.current = controller;
        running.value = controller;
        begun?.();
        setPace(given);
        let told = false;
        await run(action.name, chosen, { requester: requester.value, computeType: type, ...given }, { stop: stop.current.signal, left: left.current.signal }, (now) => {
            setProgress(now);
            if (now.sending) return;
            running.value = null;
            if (told || now.waiting > 0) return;
            told = true;
            const accepted = now.outcomes.filter(({ outcome }) => outcome === "Accepted" || outcome === "Completed").length;
            notify(`${action.title}: ${count(accepted)} of ${desktops(now.outcomes.length)} accepted.`, accepted === now.outcomes.length ? "good" : "bad");
        });
        // Also where nobody follows it any more.
        if (running.value === controller) running.value = null;
    };
    if (progress !== undefined) return html`<${Results} action=${action} progress=${progress} stop=${() => stop.current.abort()} begin=${(/** @type {string[]} */ chosen) => void begin(chosen, pace)} />`;
    return html`<p>${action.note}</p>
        ${needsType && html`<label>New type <select value=${type} onChange=${(/** @type {any} */ event) => setType(event.target.value)}><option value="" disabled>Choose one</option>${COMPUTE_TYPES.map((name) => html`<option key=${name}>${name}</option>`)}</select></label>`}
        <${Problem} error=${error} retry=${look} />
        ${previewed === undefined && error === undefined && !(needsType && type === "") && html`<p class="note loading" role="status">Checking what would happen …</p>`}
        ${previewed && html`<${Confirm} key=${type} action=${action} previewed=${previewed.outcomes} known=${previewed.known} begin=${begin} />`}`;
}

/** @param {{ action: typeof ACTIONS[number], previewed: Outcome[], known: boolean, begin: (ids: string[], pace: Pace) => void }} properties `known`: which reported lately */
function Confirm({ action, previewed, known, begin }) {
    const accepted = previewed.filter(({ outcome }) => outcome === "Accepted");
    const others = previewed.length - accepted.length;
    const [all, setAll] = useState(false);
    const [spares, setSpares] = useState(false);
    const [agreed, setAgreed] = useState("");
    const [who, setWho] = useState(requester.value);
    const [atOnce, setAtOnce] = useState(accepted.length > MANY ? String(MANY) : "");
    const [failures, setFailures] = useState("");
    const offered = all ? previewed : accepted;
    const recent = offered.filter((outcome) => outcome.recent);
    const chosen = spares ? offered.filter((outcome) => !outcome.recent) : offered;
    const removes = action.name === REMOVAL;
    const typed = action.danger || (action.disconnects && chosen.length > MANY);
    const wanted = !typed || chosen.length === 0 ? "" : chosen.length > 1 ? String(chosen.length) : removes ? "" : chosen[0].workSpaceId;
    /** @param {SubmitEvent} event */
    const submit = (event) => {
        event.preventDefault();
        if (chosen.length === 0 || agreed !== wanted) return;
        if (!removes) requester.value = who.trim();
        const number = (/** @type {string} */ text) => (text === "" ? null : Number(text));
        begin(
            chosen.map(({ workSpaceId }) => workSpaceId),
            { atOnce: number(atOnce), stopAfterFailures: number(failures) },
        );
    };
    const form = useRef(/** @type {HTMLFormElement | null} */ (null));
    useEffect(() => {
        const pressed = (/** @type {KeyboardEvent} */ event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) form.current?.requestSubmit();
        };
        addEventListener("keydown", pressed);
        // What must be typed comes next.
        /** @type {HTMLElement | null | undefined} */ (form.current?.querySelector("[autocomplete=off]"))?.focus();
        return () => removeEventListener("keydown", pressed);
    }, []);
    return html`<form class="action-form" ref=${form} onSubmit=${submit}>
        ${previewed[0]?.simulated && html`<p class="note">Simulated: nothing happens to a desktop.</p>`}
        ${action.disconnects && offered.length > 0 && html`<${Recent} action=${action} known=${known} recent=${recent} of=${offered.length} spares=${spares} setSpares=${setSpares} />`}
        <${Groups} action=${action} outcomes=${previewed} future=${true} />
        ${others > 0 && html`<label class="check"><input type="checkbox" checked=${all} onChange=${(/** @type {any} */ event) => setAll(event.target.checked)} /> Also try the ${count(others)} that would be refused now</label>`}
        ${!removes && html`<label>Requested by, for the audit <input required pattern=".*\\S.*" maxlength="256" autocomplete="name" value=${who} onInput=${(/** @type {any} */ event) => setWho(event.target.value)} /></label>`}
        ${
            chosen.length > 1 &&
            html`<div class="row">
                <label>At once <input type="number" min="1" max="1000" placeholder="all" value=${atOnce} onInput=${(/** @type {any} */ event) => setAtOnce(event.target.value)} /></label>
                <label>Stop after failures <input type="number" min="1" placeholder="never" value=${failures} onInput=${(/** @type {any} */ event) => setFailures(event.target.value)} /></label>
            </div>`
        }
        ${wanted !== "" && html`<${Typed} key=${wanted} word=${wanted} onChange=${(/** @type {boolean} */ is) => setAgreed(is ? wanted : "")} />`}
        <div class="dialog-actions">
            <button type="button" onClick=${close}>Cancel</button>
            <button title="Ctrl Enter" class=${action.danger ? "danger" : "primary"} disabled=${chosen.length === 0 || agreed !== wanted}>${action.title} ${desktops(chosen.length)}</button>
        </div>
    </form>`;
}

/** Says how many desktops reported lately. Nothing says whether somebody is signed in: a desktop reports also while nobody works there. @param {{ action: typeof ACTIONS[number], known: boolean, recent: Outcome[], of: number, spares: boolean, setSpares: (spares: boolean) => void }} properties */
function Recent({ action, known, recent, of, spares, setSpares }) {
    if (!known) return html`<p class="warning">When they reported could not be read: somebody may be working there.</p>`;
    const said = `${count(recent.length)} of ${count(of)} reported in the last ${recently(action)[1]}`;
    if (recent.length === 0) return html`<p class="note">${said}.</p>`;
    return html`<div class="warning">
        <p><b>${said}</b>, the latest ${ago(recentFirst(recent)[0].seen, Date.now())}: somebody may ${action.danger ? "need what is lost" : "be working there"}.</p>
        ${of > recent.length && html`<label class="check"><input type="checkbox" checked=${spares} onChange=${(/** @type {any} */ event) => setSpares(event.target.checked)} /> Leave out the ${count(recent.length)}</label>`}
    </div>`;
}

/** What came of an action so far. @param {{ action: typeof ACTIONS[number], progress: import("./action-run.js").Progress, stop: () => void, begin: (ids: string[]) => void }} properties */
function Results({ action, progress: { outcomes, waiting, sending, over }, stop, begin }) {
    const ids = (/** @type {string[]} */ ...wanted) => outcomes.filter(({ outcome }) => wanted.includes(outcome)).map(({ workSpaceId }) => workSpaceId);
    const [unsent, failed, ended] = [ids("NotSent"), ids("Refused", "Failed", "Cancelled"), ids("Completed", "NoChange", "Refused", "Failed", "Cancelled")];
    const label = useId();
    const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
    const stops = sending || waiting > 0;
    useEffect(() => button.current?.focus(), [stops]);
    const save = () => download(`${action.name}.csv`, csv(["workSpaceId", "outcome", "code", "message"], outcomes));
    return html`${!over && html`<p id=${label}>Finished: ${count(ended.length)} of ${count(outcomes.length)}${failed.length > 0 && `, ${count(failed.length)} of them not as intended`}.${!sending && ` It goes on when this is closed${waiting > 0 && session.value?.own ? ", and no more begin once you sign out" : ""}.`}</p><progress aria-labelledby=${label} max=${outcomes.length} value=${ended.length}></progress>`}
        <${Groups} action=${action} outcomes=${outcomes} />
        <div class="dialog-actions">
            ${stops && html`<button key="stop" ref=${button} type="button" onClick=${stop}>Stop</button>`}
            ${!stops && unsent.length > 0 && html`<button type="button" onClick=${() => begin(unsent)}>Send the other ${count(unsent.length)}</button>`}
            ${over && failed.length > 0 && html`<button type="button" onClick=${() => begin(failed)}>Try the ${count(failed.length)} again</button>`}
            <a class="button" href=${href("audit", undefined, { tab: "running" })} onClick=${close}>Running actions</a>
            <button type="button" onClick=${save}>Export CSV</button>
            ${!sending && html`<button key="close" ref=${stops ? undefined : button} type="button" class="primary" onClick=${close}>Close</button>`}
        </div>`;
}

/** Outcomes, those of a kind together. @param {{ action: typeof ACTIONS[number], outcomes: Outcome[], future?: boolean }} properties */
function Groups({ action, outcomes, future = false }) {
    // What cannot be undone does not get the sign of what went well.
    const signOf = (/** @type {{ key: string, tone: string, glyph: string }} */ { key, tone, glyph }) => (future && key === "Accepted" && action.danger ? { tone: "bad", glyph: "▲" } : { tone, glyph });
    return html`<ul class="outcomes">
        ${grouped(outcomes).map((group) => ({ ...group, ...signOf(group) })).map(
            ({ key, tone, glyph, text, rows }) => html`<li key=${key}>
                <details open=${rows.length <= OPEN_MAX}>
                    <summary><${Sign} tone=${tone} glyph=${glyph}><b>${count(rows.length)}</b><//> ${future && key === "Accepted" ? action.will : text}${rows[0]?.code ? html` <code>${key}</code>` : ""}</summary>
                    <ul tabindex="0" aria-label=${`Desktops, ${future && key === "Accepted" ? action.will : text}`}>${recentFirst(rows).slice(0, LISTED_MAX).map((row) => html`<${Line} key=${row.workSpaceId} ...${row} />`)}</ul>
                    ${rows.length > LISTED_MAX && html`<p class="note">and ${count(rows.length - LISTED_MAX)} more</p>`}
                </details>
            </li>`,
        )}
    </ul>`;
}

/** Those that reported last come first. @param {Outcome[]} rows */
const recentFirst = (rows) => {
    const seen = (/** @type {Outcome} */ outcome) => outcome.seen ?? "";
    return [...rows].sort((one, other) => (seen(other) > seen(one) ? 1 : seen(other) < seen(one) ? -1 : 0));
};

/** @param {Outcome} properties */
function Line({ workSpaceId, user, type, recent, seen, message }) {
    return html`<li>
        <${Text} text=${workSpaceId} /> ${user && html`<b><${Text} text=${user} /></b> `}${seen && html`<span class=${recent ? "tag" : "note"}>reported ${ago(seen, Date.now())}</span> `}
        ${message && html`<span class="note"><${Text} text=${message} />${type && html`, now <${Text} text=${type} />`}</span>`}
    </li>`;
}
