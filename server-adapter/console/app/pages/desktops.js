// All desktops: filtered, sorted, selected for actions.

import { csv, download } from "../csv.js";
import { NONE, STATE_NAMES, ago, count, decimal, duration, look, time } from "../format.js";
import { FIELDS, openFleet } from "../fleet.js";
import { FleetView, TERMS, termValues } from "../fleet-view.js";
import { BulkBar } from "../parts/bulk-bar.js";
import { Problem, Warnings } from "../parts/problem.js";
import { State } from "../parts/state.js";
import { VirtualTable } from "../parts/virtual-table.js";
import { desktopColumns } from "../preferences.js";
import { href, route, setQuery } from "../router.js";
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";

/** How often the figures of the rows on the screen are read again. */
const FIGURES_MS = 15_000;
const TYPING_MS = 120;

/** @typedef {import("../fleet.js").Fleet} Fleet */
/** @typedef {import("../parts/virtual-table.js").Column} Column */

export default function Desktops() {
    const fleet = openFleet();
    const { q, sort = "workSpId", state, region, runningMode, computeTypeName, onHold } = route.value.query;
    const [selected, setSelected] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
    const shown = useRef(/** @type {Uint32Array} */ (new Uint32Array(0)));
    const view = useView(fleet, { q, state, region, runningMode, computeTypeName, onHold }, sort);
    const minute = useFigures(fleet, shown);
    const columns = useColumns(fleet);
    const { complete, error, warnings } = fleet.status.value;
    const filtered = Boolean(q) || TERMS.some((name) => route.value.query[name]);
    const { rows } = view;
    return html`<div class="desktops">
        <div class="head"><h1>Desktops</h1><${Summary} rows=${rows.length} fleet=${fleet} complete=${complete} /></div>
        <${Filters} fleet=${fleet} states=${view.states} />
        <${Problem} error=${error} retry=${fleet.retry} />
        <${Warnings} warnings=${warnings} />
        <${VirtualTable}
            caption="Desktops"
            columns=${columns}
            rows=${rows}
            idOf=${(/** @type {number} */ row) => fleet.columns.workSpId.values[row]}
            version=${(/** @type {number} */ row) => fleet.revisions[row] * 1e9 + minute}
            sort=${sort}
            setSort=${(/** @type {string} */ sort) => setQuery({ sort: sort === "workSpId" ? undefined : sort })}
            selected=${selected}
            select=${setSelected}
            onShown=${(/** @type {Uint32Array} */ rows) => (shown.current = rows)}
            busy=${!complete}
        />
        ${rows.length === 0 && complete && html`<${Nothing} filtered=${filtered} />`}
        <${BulkBar} selected=${selected} select=${setSelected} rows=${rows} idOf=${(/** @type {number} */ row) => fleet.columns.workSpId.values[row]} />
        <div class="table-tools">
            <${Chooser} />
            <button type="button" class="quiet" disabled=${rows.length === 0} onClick=${() => save(fleet, rows)}>Save as CSV</button>
        </div>
    </div>`;
}

/** @param {Fleet} fleet @param {Uint32Array} rows */
function save(fleet, rows) {
    download("desktops.csv", csv(FIELDS, (function* () {
        for (const row of rows) yield fleet.record(row);
    })()));
}

/** The rows that are wanted; changes are taken over once for each picture. @param {Fleet} fleet @param {Record<string, string | undefined>} wanted @param {string} sort */
function useView(fleet, wanted, sort) {
    const view = useMemo(() => new FleetView(fleet), [fleet]);
    const [, setDrawn] = useState(0);
    const asked = JSON.stringify([wanted, sort]);
    useMemo(() => view.set(wanted, sort), [view, asked]);
    useEffect(() => {
        /** @type {Set<number>} */
        let changed = new Set();
        let frame = 0;
        const stop = fleet.listen((rows) => {
            for (const row of rows) changed.add(row);
            frame ||= requestAnimationFrame(() => {
                frame = 0;
                view.update(changed);
                changed = new Set();
                setDrawn((drawn) => drawn + 1);
            });
        });
        return () => {
            stop();
            cancelAnimationFrame(frame);
        };
    }, [view]);
    return view;
}

/** Reads the shown rows again now and then; returns the time in minutes, for what depends on it. @param {Fleet} fleet @param {{ current: Uint32Array }} shown */
function useFigures(fleet, shown) {
    const [minute, setMinute] = useState(Math.floor(Date.now() / 60_000));
    useEffect(() => {
        const timer = setInterval(() => {
            if (document.hidden) return;
            setMinute(Math.floor(Date.now() / 60_000));
            fleet.refresh([...shown.current].flatMap((row) => fleet.columns.workSpId.values[row] ?? []));
        }, FIGURES_MS);
        return () => clearInterval(timer);
    }, [fleet]);
    return minute;
}

/** All columns, those for narrow screens marked. @param {Fleet} fleet @returns {(Column & { narrow?: boolean })[]} */
function allColumns({ columns }) {
    const text = (/** @type {import("../fleet.js").Field} */ name, /** @type {string} */ title, width = 120) => ({
        name, title, width, show: (/** @type {number} */ row) => columns[name].get(row) ?? NONE,
    });
    const part = (/** @type {import("../fleet.js").Field} */ name, /** @type {string} */ title) => ({
        name, title, width: 72, number: true, show: (/** @type {number} */ row) => decimal(/** @type {number | null} */ (columns[name].get(row))),
    });
    const id = (/** @type {number} */ row) => /** @type {string} */ (columns.workSpId.values[row]);
    const desktop = (/** @type {number} */ row) => href("desktop", id(row));
    const user = (/** @type {number} */ row) => (columns.username.values[row] ? href("user", columns.username.values[row] ?? "") : null);
    const link = (/** @type {string | null} */ to, /** @type {string | null} */ shown) => (to ? html`<a tabindex="-1" href=${to}><bdi>${shown}</bdi></a>` : NONE);
    return [
        { name: "workSpId", title: "Id", width: 130, narrow: true, to: desktop, show: (row) => link(desktop(row), id(row)) },
        { ...text("computerName", "Computer", 150), show: (row) => html`<bdi>${columns.computerName.values[row] ?? NONE}</bdi>` },
        { name: "username", title: "User", width: 120, to: user, show: (row) => link(user(row), columns.username.values[row]) },
        { name: "state", title: "State", width: 150, narrow: true, show: (row) => html`<${State} state=${columns.state.get(row)} />${columns.transition.get(row) && html` <span class="note">${title(String(columns.transition.get(row)))}</span>`}` },
        text("runningMode", "Mode", 100),
        text("computeTypeName", "Type", 110),
        text("region", "Region", 110),
        { name: "onHold", title: "Hold", width: 62, show: (row) => columns.onHold.get(row) === true && html`<span class="tag">Hold</span>` },
        { name: "lastSeen", title: "Last seen", width: 100, number: true, show: (row) => lastSeen(columns.lastSeen.get(row)) },
        { ...part("cpu", "CPU %"), narrow: true },
        part("memory", "Memory %"),
        part("rootVolume", "Root %"),
        part("userVolume", "User %"),
        { name: "uptimeSeconds", title: "Up", width: 90, number: true, show: (row) => uptime(/** @type {number | null} */ (columns.uptimeSeconds.get(row))) },
    ];
}

/** @param {any} at */
const lastSeen = (at) => html`<span title=${at === null ? undefined : time(at)}>${ago(at, Date.now())}</span>`;
/** @param {number | null} seconds */
const uptime = (seconds) => duration(seconds === null ? null : seconds * 1000);
/** @param {string} action */
const title = (action) => action.replace(/WorkSpace$/, "");

/** @param {Fleet} fleet */
function useColumns(fleet) {
    const narrow = useMemo(() => matchMedia("(max-width: 760px)"), []);
    const [isNarrow, setNarrow] = useState(narrow.matches);
    useEffect(() => {
        const changed = () => setNarrow(narrow.matches);
        narrow.addEventListener("change", changed);
        return () => narrow.removeEventListener("change", changed);
    }, []);
    const hidden = desktopColumns.value;
    return useMemo(() => allColumns(fleet).filter(({ name, narrow }) => (isNarrow ? narrow : !hidden.includes(name) || name === "workSpId")), [fleet, isNarrow, hidden]);
}

/** @param {{ rows: number, fleet: Fleet, complete: boolean }} properties */
function Summary({ rows, fleet, complete }) {
    const all = fleet.rowOf.size;
    return html`<p class="note" aria-live=${complete ? "polite" : "off"}>${rows === all ? count(all) : `${count(rows)} of ${count(all)}`} ${all === 1 ? "desktop" : "desktops"}${complete ? "" : ", loading …"}</p>`;
}

/** @param {{ filtered: boolean }} properties */
function Nothing({ filtered }) {
    return filtered
        ? html`<p>No desktop is like this. <button type="button" onClick=${() => setQuery({ q: undefined, ...Object.fromEntries(TERMS.map((name) => [name, undefined])) })}>Clear the filters</button></p>`
        : html`<p>There are no desktops yet. <a href=${href("import")}>Import some</a></p>`;
}

/** `states` is another map after each change, or this would not be drawn anew. @param {{ fleet: Fleet, states: Map<string, number> }} properties */
function Filters({ fleet, states }) {
    const { query } = route.value;
    const { region, runningMode, computeTypeName } = fleet.columns;
    return html`<div class="filters">
        <${Search} />
        <${Choice} name="region" title="Region" names=${[...region.names]} />
        <${Choice} name="runningMode" title="Mode" names=${[...runningMode.names]} />
        <${Choice} name="computeTypeName" title="Type" names=${[...computeTypeName.names]} />
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

/** @param {{ name: "region" | "runningMode" | "computeTypeName", title: string, names: import("../columns.js").Value[] }} properties */
function Choice({ name, title, names }) {
    const term = route.value.query[name] ?? "";
    const known = names.filter((each) => each !== null).map(String).sort();
    const options = term === "" || known.includes(term) ? known : [term, ...known];
    return html`<label class="compact"><span>${title}</span> <select value=${term} onChange=${(/** @type {any} */ event) => setQuery({ [name]: event.target.value })}>
        <option value="">All</option>
        ${options.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}
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
            return html`<button key=${name} type="button" class="toggle" aria-pressed=${on(name) ? "true" : "false"} onClick=${() => toggle(name)}><span class="state ${tone}"><span class="glyph" aria-hidden="true">${glyph}</span>${label}</span> <b>${count(counts.get(name) ?? 0)}</b></button>`;
        })}
    </div>`;
}

/** Which columns are shown. */
function Chooser() {
    const fleet = openFleet();
    const hidden = desktopColumns.value;
    /** @param {string} name */
    const toggle = (name) => (desktopColumns.value = hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
    return html`<details class="chooser">
        <summary>Columns</summary>
        <fieldset>
            <legend class="hidden">Columns</legend>
            ${allColumns(fleet).slice(1).map(({ name, title }) => html`<label key=${name} class="check"><input type="checkbox" checked=${!hidden.includes(name)} onChange=${() => toggle(name)} /> ${title}</label>`)}
        </fieldset>
    </details>`;
}
