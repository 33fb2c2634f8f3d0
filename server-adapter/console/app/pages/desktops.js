// All desktops: filtered, sorted, selected for actions.

import { csv, download } from "../csv.js";
import { count } from "../format.js";
import { FIELDS, openFleet } from "../fleet.js";
import { FleetView, TERMS } from "../fleet-view.js";
import { BulkBar } from "../parts/bulk-bar.js";
import { Problem, Warnings } from "../parts/problem.js";
import { VirtualTable } from "../parts/virtual-table.js";
import { desktopColumns } from "../preferences.js";
import { href, route, setQuery } from "../router.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { desktopColumnsOf } from "./desktops-columns.js";
import { Filters } from "./desktops-filters.js";

/** How often the figures of the rows on the screen are read again. */
const FIGURES_MS = 15_000;

/** @typedef {import("../fleet.js").Fleet} Fleet */
/** @typedef {import("./desktops-columns.js").Column} Column */

export default function Desktops() {
    const fleet = openFleet();
    const { query } = route.value;
    const { q, sort = "workSpId" } = query;
    const wanted = { q, ...Object.fromEntries(TERMS.map((name) => [name, query[name]])) };
    const [selected, setSelected] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
    const shown = useRef(/** @type {Uint32Array} */ (new Uint32Array(0)));
    const { rows, states } = useView(fleet, wanted, sort);
    const minute = useFigures(fleet, shown);
    const { all, columns } = useColumns(fleet, minute);
    const { complete, error, warnings } = fleet.status.value;
    const idOf = (/** @type {number} */ row) => fleet.columns.workSpId.values[row];
    const empty = complete && rows.length === 0;
    /** @param {MouseEvent} event */
    const toTable = (event) => {
        event.preventDefault();
        /** @type {HTMLElement | null} */ (document.querySelector("#main [role=grid]"))?.focus();
    };
    return html`<div class="desktops">
        <a class="skip" href="#main" onClick=${toTable}>To the table</a>
        <div class="head">
            <h1>Desktops</h1>
            <${Summary} rows=${rows.length} all=${fleet.rowOf.size} complete=${complete} />
            <${Chooser} columns=${all} />
            <button type="button" class="quiet" disabled=${rows.length === 0} onClick=${() => save(fleet, rows)}>Save as CSV</button>
        </div>
        <${Filters} fleet=${fleet} states=${states} />
        <${Problem} error=${error} retry=${fleet.retry} />
        <${Warnings} warnings=${warnings} />
        ${empty && html`<${Nothing} filtered=${fleet.rowOf.size > 0} />`}
        <${VirtualTable}
            caption="Desktops"
            columns=${columns}
            rows=${rows}
            idOf=${idOf}
            version=${(/** @type {number} */ row) => fleet.revisions[row] * 1e9 + minute.current.value}
            sort=${sort}
            setSort=${(/** @type {string} */ sort) => setQuery({ sort: sort === "workSpId" ? undefined : sort })}
            selected=${selected}
            select=${setSelected}
            onShown=${(/** @type {Uint32Array} */ rows) => (shown.current = rows)}
            busy=${!complete}
        />
        <${BulkBar} selected=${selected} select=${setSelected} rows=${rows} idOf=${idOf} />
    </div>`;
}

/** @param {Fleet} fleet @param {Uint32Array} rows */
function save(fleet, rows) {
    const records = (function* () {
        for (const row of rows) yield fleet.record(row);
    })();
    download("desktops.csv", csv(FIELDS, records));
}

/** The rows that are wanted; changes are taken over once for each picture. @param {Fleet} fleet @param {Record<string, string | undefined>} wanted @param {string} sort */
function useView(fleet, wanted, sort) {
    const view = useMemo(() => new FleetView(fleet), [fleet]);
    const [, setDrawn] = useState(0);
    useMemo(() => view.set(wanted, sort), [view, JSON.stringify([wanted, sort])]);
    // Not after the picture, as other effects: what the fleet reads until then would be missing from the view for good.
    useLayoutEffect(() => {
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
    const latest = useRef({ value: minute });
    latest.current.value = minute;
    useEffect(() => {
        const timer = setInterval(() => {
            if (document.hidden) return;
            setMinute(Math.floor(Date.now() / 60_000));
            fleet.refresh([...shown.current].flatMap((row) => fleet.columns.workSpId.values[row] ?? []));
        }, FIGURES_MS);
        return () => clearInterval(timer);
    }, [fleet]);
    return latest;
}

/** All columns, and those that are shown. @param {Fleet} fleet @param {{ current: { value: number } }} minute */
function useColumns(fleet, minute) {
    const narrow = useMemo(() => matchMedia("(max-width: 760px)"), []);
    const [isNarrow, setNarrow] = useState(narrow.matches);
    useEffect(() => {
        const changed = () => setNarrow(narrow.matches);
        narrow.addEventListener("change", changed);
        return () => narrow.removeEventListener("change", changed);
    }, []);
    const hidden = desktopColumns.value;
    return useMemo(() => {
        const all = desktopColumnsOf(fleet, minute.current);
        return { all, columns: all.filter(({ name, narrow }) => (isNarrow ? narrow : !hidden.includes(name))) };
    }, [fleet, isNarrow, hidden]);
}

/** @param {{ rows: number, all: number, complete: boolean }} properties */
function Summary({ rows, all, complete }) {
    const number = rows === all ? count(all) : `${count(rows)} of ${count(all)}`;
    return html`<p class="note" aria-live=${complete ? "polite" : "off"}>${number} ${all === 1 ? "desktop" : "desktops"}${!complete && html`<span class="loading">, loading …</span>`}</p>`;
}

/** @param {{ filtered: boolean }} properties */
function Nothing({ filtered }) {
    const clear = () => setQuery({ q: undefined, ...Object.fromEntries(TERMS.map((name) => [name, undefined])) });
    return filtered
        ? html`<p class="row">No desktop matches. <button type="button" onClick=${clear}>Clear the filters</button></p>`
        : html`<p>The fleet is empty. <a href=${href("import")}>Begin</a></p>`;
}

/** Which columns are shown. @param {{ columns: Column[] }} properties */
function Chooser({ columns }) {
    const hidden = desktopColumns.value;
    /** @param {string} name */
    const toggle = (name) => (desktopColumns.value = hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
    const element = useRef(/** @type {HTMLDetailsElement | null} */ (null));
    /** @param {KeyboardEvent} event */
    const pressed = (event) => {
        if (event.key !== "Escape" || element.current === null) return;
        element.current.open = false;
        element.current.querySelector("summary")?.focus();
    };
    return html`<details class="chooser" ref=${element} onKeyDown=${pressed}>
        <summary>Columns</summary>
        <fieldset>
            <legend class="hidden">Columns</legend>
            ${columns.slice(1).map(({ name, title }) => html`<label key=${name} class="check"><input type="checkbox" checked=${!hidden.includes(name)} onChange=${() => toggle(name)} /> ${title}</label>`)}
        </fieldset>
    </details>`;
}
