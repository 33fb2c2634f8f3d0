// Which desktops are wanted: kept in the address, with the meaning that the filters of the interface have.

import { STATE_NAMES, count, look } from "../format.js";
import { termValues } from "../fleet-view.js";
import { visible } from "../parts/text.js";
import { route, setQuery } from "../router.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";

const TYPING_MS = 120;

/** `states` is another map after each change, or this would not be drawn anew. @param {{ fleet: import("../fleet.js").Fleet, states: Map<string, number> }} properties */
export function Filters({ fleet, states }) {
    const { query } = route.value;
    const { region, runningMode, computeTypeName } = fleet.columns;
    return html`<div class="fleet-filters">
            <${Search} />
            <${Choice} name="region" title="Region" values=${region.names} term=${query.region} />
            <${Choice} name="runningMode" title="Mode" values=${runningMode.names} term=${query.runningMode} />
            <${Choice} name="computeTypeName" title="Type" values=${computeTypeName.names} term=${query.computeTypeName} />
            <label class="check"><input type="checkbox" checked=${query.onHold === "true"} onChange=${(/** @type {any} */ event) => setQuery({ onHold: event.target.checked ? "true" : undefined })} /> On hold</label>
        </div>
        <${States} counts=${states} term=${query.state ?? ""} />`;
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
            if (sent.current !== q) setQuery({ q: sent.current });
        }, TYPING_MS);
        return () => clearTimeout(timer);
    }, [text]);
    return html`<input type="search" aria-label="Filter by id, computer or user" placeholder="Id, computer or user" spellcheck="false" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} />`;
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
            return html`<button key=${name} type="button" class="toggle" aria-pressed=${on(name) ? "true" : "false"} onClick=${() => toggle(name)}><span class="state ${tone}"><span class="glyph" aria-hidden="true">${glyph}</span>${visible(label)}</span> <b>${count(counts.get(name) ?? 0)}</b></button>`;
        })}
    </div>`;
}
