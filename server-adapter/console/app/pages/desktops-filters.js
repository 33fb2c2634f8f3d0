// Which desktops are wanted: kept in the address, with the meaning that the filters of the interface have.

import { STATE_NAMES, count, look } from "../format.js";
import { termValues } from "../fleet-view.js";
import { Sign } from "../parts/state.js";
import { visible } from "../parts/text.js";
import { route, setQuery } from "../router.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";

const TYPING_MS = 120;

const ABOVE = { "gt.50": "above 50 %", "gt.80": "above 80 %", "gt.90": "above 90 %" };
/** What can be chosen of figures and times. @type {{ name: string, title: string, values: Record<string, string> }[]} */
const BOUNDS = [
    { name: "lastSeen", title: "Seen", values: { "ge.-15m": "in the last 15 min", "lt.-15m": "over 15 min ago", "lt.-1h": "over 1 h ago", "lt.-1d": "over 1 day ago", "lt.-7d": "over 7 days ago", null: "never" } },
    { name: "cpu", title: "CPU", values: ABOVE },
    { name: "memory", title: "Memory", values: ABOVE },
];
const OTHERS = [
    { name: "workSpId", title: "Ids" },
    { name: "username", title: "User" },
    { name: "rootVolume", title: "Root volume" },
    { name: "userVolume", title: "User volume" },
    { name: "uptimeSeconds", title: "Uptime" },
];

/** `states` is another map after each change, or this would not be drawn anew. @param {{ fleet: import("../fleet.js").Fleet, states: Map<string, number> }} properties */
export function Filters({ fleet, states }) {
    const { query } = route.value;
    const { runningMode } = fleet.columns;
    return html`<div class="fleet-filters">
            <${Search} />
            <${Choice} name="runningMode" title="Running mode" values=${runningMode.names} term=${query.runningMode} />
            ${BOUNDS.map(({ name, title, values }) => html`<${Bound} key=${name} name=${name} title=${title} values=${values} term=${query[name]} />`)}
            <label class="check"><input type="checkbox" checked=${query.onHold === "true"} onChange=${(/** @type {any} */ event) => setQuery({ onHold: event.target.checked ? "true" : undefined })} /> On hold</label>
            <label class="check"><input type="checkbox" checked=${query.asOf !== undefined} onChange=${(/** @type {any} */ event) => setQuery({ asOf: event.target.checked ? "ne.null" : undefined })} /> Not reporting</label>
        </div>
        <div class="row"><${States} counts=${states} term=${query.state ?? ""} /><${Others} query=${query} /></div>`;
}

function Search() {
    const { q = "" } = route.value.query;
    const [text, setText] = useState(q);
    const sent = useRef(q);
    // Changed from elsewhere, such as by a link.
    if (q !== sent.current) setText((sent.current = q));
    useEffect(() => {
        const timer = setTimeout(() => {
            sent.current = text.trim();
            if (sent.current !== q) setQuery({ q: sent.current }, "q");
        }, TYPING_MS);
        return () => clearTimeout(timer);
    }, [text]);
    return html`<input type="search" aria-label="Filter by id, computer or user" placeholder="Id, computer or user" spellcheck=${false} value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} />`;
}

/** @param {{ name: string, title: string, values: import("../columns.js").Value[], term: string | undefined }} properties */
function Choice({ name, title, values, term = "" }) {
    const known = values.filter((each) => each !== null).map(String).sort();
    const options = term === "" || known.includes(term) ? known : [term, ...known];
    return html`<label class="compact">${title} <select value=${term} onChange=${(/** @type {any} */ event) => setQuery({ [name]: event.target.value })}>
        <option value="">All</option>
        ${options.map((each) => html`<option key=${each} value=${each}>${visible(each)}</option>`)}
    </select></label>`;
}

/** @param {{ name: string, title: string, values: Record<string, string>, term: string | undefined }} properties */
function Bound({ name, title, values, term = "" }) {
    return html`<label class="compact">${title} <select value=${term} onChange=${(/** @type {any} */ event) => setQuery({ [name]: event.target.value })}>
        <option value="">All</option>
        ${term !== "" && !(term in values) && html`<option value=${term}>${visible(term)}</option>`}
        ${Object.entries(values).map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}
    </select></label>`;
}

/** Filters of the address that no field shows: each can be taken away. @param {{ query: Record<string, string> }} properties */
function Others({ query }) {
    return OTHERS.filter(({ name }) => query[name]).map(({ name, title }) => {
        const values = query[name].replace(/^in\./, "").split(",");
        const text = values.length > 3 ? `${count(values.length)} chosen` : values.join(", ");
        return html`<button key=${name} type="button" class="toggle" aria-pressed="true" title="Remove this filter" onClick=${() => setQuery({ [name]: undefined })}>${title}: ${visible(text)} ✕</button>`;
    });
}

/** States as toggles with the number of their desktops. @param {{ counts: Map<string, number>, term: string }} properties */
function States({ counts, term }) {
    const { not, values } = termValues(term);
    const names = [...new Set([...STATE_NAMES, ...counts.keys()])].filter((name) => name !== "");
    const on = (/** @type {string} */ name) => term !== "" && values.has(name.toLowerCase()) !== not;
    /** @param {string} name */
    const toggle = (name) => {
        const next = names.filter((each) => on(each) !== (each === name));
        setQuery({ state: next.length > 1 ? `in.${next.join()}` : next[0] });
    };
    return html`<div class="row states" role="group" aria-label="States">
        ${names.filter((name) => on(name) || counts.has(name)).map((name) => {
            const { glyph, tone, label } = look(name);
            return html`<button key=${name} type="button" class="toggle" aria-pressed=${on(name) ? "true" : "false"} onClick=${() => toggle(name)}><${Sign} tone=${tone} glyph=${glyph}>${visible(label)}<//> <b>${count(counts.get(name) ?? 0)}</b></button>`;
        })}
    </div>`;
}
