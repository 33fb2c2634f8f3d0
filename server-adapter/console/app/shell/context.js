// The range of time and the part of the fleet, in the header of every page.

import { get } from "../api.js";
import { Icon } from "../parts/icon.js";
import { Popover } from "../parts/popover.js";
import { PRESETS, bounds, field, rangeText, setRange, shownPage, useRange, zone } from "../parts/range.js";
import { visible } from "../parts/text.js";
import { utc } from "../preferences.js";
import { useResource } from "../resource.js";
import { SCOPE, route, setQuery } from "../router.js";
import { may } from "../session.js";
import { html, useState } from "../vendor/preact.js";

/** @type {Record<string, { title: string, counts?: string }>} members of the scope; `counts` of the fleet name the values there are */
const PARTS = {
    region: { title: "Region", counts: "byRegion" },
    directoryId: { title: "Directory" },
    computeTypeName: { title: "Compute type", counts: "byComputeType" },
};
const chosen = () => SCOPE.filter((name) => route.value.query[name]);
/** @param {readonly string[]} names */
const said = (names) => names.map((name) => visible(route.value.query[name])).join(", ");

/** What pages are about: nothing for those that are about neither. */
export function Context() {
    const page = shownPage();
    if (page === undefined || (page.range === undefined && page.parts === undefined)) return null;
    return html`<div class="context" role="group" aria-label="Time range and scope"><${Time} initial=${page.range} />${may("read") && html`<${Scope} />`}</div>`;
}

/** @param {{ initial: string | undefined }} properties */
function Time({ initial }) {
    const range = useRange(initial);
    if (initial === undefined) return html`<span class="tag" title="This page shows the present. The time range of the other pages is kept.">Now</span>`;
    const label = html`<${Icon} name="clock" /><span class="hidden">Time range: </span>${rangeText(range)} <span class="zone">${zone()}</span>`;
    return html`<${Popover} label=${label} title="Time range">${(/** @type {() => void} */ close) => html`<${Choices} range=${range} close=${close} />`}<//>`;
}

/** @param {{ range: import("../parts/range.js").Range, close: () => void }} properties */
function Choices({ range, close }) {
    const [problem, setProblem] = useState("");
    const [from, to] = bounds(range);
    const choose = (/** @type {string} */ preset) => {
        setQuery({ from: preset, to: undefined });
        close();
    };
    /** @param {SubmitEvent} event */
    const submit = (event) => {
        event.preventDefault();
        const fields = new FormData(/** @type {HTMLFormElement} */ (event.target));
        const [begin, end] = ["from", "to"].map((name) => Date.parse(`${String(fields.get(name)).trim().replace(" ", "T")}${utc.value ? "Z" : ""}`));
        if (Number.isNaN(begin + end)) return setProblem("Write times such as 2026-11-27 18:30.");
        if (!(begin < end)) return setProblem("The end must be after the start.");
        setRange(begin, end);
        close();
    };
    return html`<div class="presets" role="group" aria-label="Last">
            ${Object.entries(PRESETS).map(([preset, text]) => html`<button key=${preset} type="button" class="toggle" aria-pressed=${range.to === undefined && range.from === preset ? "true" : "false"} onClick=${() => choose(preset)}>${text}</button>`)}
        </div>
        <form class="own-range" onSubmit=${submit} key=${utc.value}>
            <label>From, ${zone()} <input name="from" required spellcheck=${false} autocomplete="off" placeholder="2026-11-27 18:30" defaultValue=${field(from)} /></label>
            <label>To <input name="to" required spellcheck=${false} autocomplete="off" defaultValue=${field(to)} /></label>
            <label class="check"><input type="checkbox" checked=${utc.value} onChange=${(/** @type {any} */ event) => (utc.value = event.target.checked)} /> Show times in UTC</label>
            ${problem && html`<p role="alert" class="bad-text">${problem}</p>`}
            <div class="dialog-actions"><button type="button" onClick=${close}>Cancel</button><button class="primary">Apply</button></div>
        </form>`;
}

function Scope() {
    const names = chosen();
    const label = html`<${Icon} name="filter" /><span class="hidden">Scope: </span><span class="cut">${names.length === 0 ? "Whole fleet" : said(names)}</span>`;
    return html`<${Popover} label=${label} title="Scope" kind=${names.length > 0 ? "quiet chosen" : "quiet"}>${(/** @type {() => void} */ close) => html`<${Values} close=${close} />`}<//>`;
}

/** @param {{ close: () => void }} properties */
function Values({ close }) {
    const names = chosen();
    const found = useResource("scope", (signal) => get("/query/fleet", {}, signal));
    const clear = () => {
        setQuery(Object.fromEntries(SCOPE.map((name) => [name, undefined])));
        close();
    };
    return html`<div class="form">
        ${SCOPE.map((name) => {
            const { title, counts } = PARTS[name];
            const value = route.value.query[name] ?? "";
            const set = (/** @type {any} */ event) => setQuery({ [name]: event.target.value.trim() || undefined });
            if (counts === undefined) return html`<label key=${name}>${title} <input name=${name} value=${value} placeholder="Id, such as d-93670a1b2c" spellcheck=${false} autocomplete="off" onChange=${set} /></label>`;
            const values = Object.keys(found.data?.[counts] ?? {}).filter((each) => each !== "other" && each !== "unknown").sort();
            if (value !== "" && !values.includes(value)) values.push(value);
            return html`<label key=${name}>${title} <select name=${name} value=${value} onChange=${set}>
                <option value="">All</option>
                ${values.map((/** @type {string} */ each) => html`<option key=${each} value=${each}>${visible(each)}</option>`)}
            </select></label>`;
        })}
        <div class="dialog-actions">${names.length > 0 && html`<button type="button" onClick=${clear}>Clear</button>`}<button type="button" class="primary" onClick=${close}>Done</button></div>
    </div>`;
}

/** Says which part of the scope the shown page cannot take. */
export function NotInScope() {
    const page = shownPage();
    const taken = page?.parts;
    const left = chosen().filter((name) => !taken?.includes(name));
    if (taken === undefined || left.length === 0) return null;
    return html`<p class="note unscoped"><${Icon} name="filter" /> Not filtered by ${said(left)}: this page does not know ${left.length > 1 ? "these parts" : `the ${PARTS[left[0]].title.toLowerCase()}`} of the fleet.</p>`;
}
