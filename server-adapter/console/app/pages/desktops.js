// All desktops: filtered, sorted, selected for actions.

import { csv, download } from "../csv.js";
import { count } from "../format.js";
import { FIELDS, openFleet } from "../fleet.js";
import { FleetView, TERMS } from "../fleet-view.js";
import { Icon } from "../parts/icon.js";
import { BulkBar } from "../parts/bulk-bar.js";
import { Popover } from "../parts/popover.js";
import { openCard } from "../asked.js";
import { Problem, Warnings } from "../parts/problem.js";
import { VirtualTable } from "../parts/virtual-table.js";
import { hiddenColumns } from "../preferences.js";
import { href, route, setQuery } from "../router.js";
import { may } from "../session.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { desktopColumnsOf } from "./desktops-columns.js";
import { Filters } from "./desktops-filters.js";
import { Views } from "./desktops-views.js";

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
    const { all, columns, cards } = useColumns(fleet, minute);
    const { complete, error, warnings } = fleet.status.value;
    const idOf = (/** @type {number} */ row) => fleet.columns.workSpId.values[row];
    // Rows that a filter hides are no longer selected, so that they are not acted upon when it is gone.
    useEffect(() => {
        if (selected.size === 0) return;
        const shown = new Set(Array.from(rows, idOf));
        setSelected(new Set([...selected].filter((id) => shown.has(id))));
    }, [JSON.stringify(wanted)]);
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
            <${Views} />${!cards && html`<${Chooser} columns=${all} />`}
            <button type="button" class="quiet" disabled=${rows.length === 0} onClick=${() => save(fleet, rows)}><${Icon} name="download" />Export CSV</button>
        </div>
        <${Filters} fleet=${fleet} states=${states} />
        <${Problem} error=${error} retry=${fleet.retry} />
        <${Warnings} warnings=${warnings} />
        <${VirtualTable}
            caption="Desktops"
            columns=${columns}
            rows=${rows}
            idOf=${idOf}
            version=${(/** @type {number} */ row) => fleet.revisions[row] * 1e9 + minute.current.value}
            sort=${sort}
            setSort=${(/** @type {string} */ sort) => setQuery({ sort: sort === "workSpId" ? undefined : sort })}
            selected=${selected}
            select=${may("act") ? setSelected : undefined}
            onCard=${(/** @type {number} */ row) => openCard({ id: idOf(row) ?? "" })}
            cards=${cards}
            empty=${empty && html`<${Nothing} filtered=${fleet.rowOf.size > 0} />`}
            onShown=${(/** @type {Uint32Array} */ rows) => (shown.current = rows)}
            busy=${!complete}
        />
        <${BulkBar} selected=${selected} select=${setSelected} rows=${rows} idOf=${idOf} stateOf=${fleet.columns.state.get} />
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
    const [, drawAgain] = useState({});
    const view = useMemo(() => new FleetView(fleet, () => drawAgain({})), [fleet]);
    useMemo(() => view.set(wanted, sort), [view, JSON.stringify([wanted, sort])]);
    // Not after the picture, as other effects: what the fleet reads until then would be missing from the view for good.
    useLayoutEffect(() => {
        let frame = 0;
        const draw = () => {
            frame = 0;
            view.update();
            drawAgain({});
        };
        const stop = fleet.listen((rows) => {
            for (const row of rows) view.changed.add(row);
            // Not in the task of the picture itself, which has enough to do.
            frame ||= requestAnimationFrame(() => setTimeout(draw));
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
    const narrow = useMemo(() => matchMedia("(max-width: 480px)"), []);
    const [cards, setCards] = useState(narrow.matches);
    useEffect(() => {
        const changed = () => setCards(narrow.matches);
        narrow.addEventListener("change", changed);
        return () => narrow.removeEventListener("change", changed);
    }, []);
    const hidden = hiddenColumns.value;
    return useMemo(() => {
        const all = desktopColumnsOf(fleet, minute.current);
        return { all, cards, columns: all.filter(({ name, card }) => (cards ? card : !hidden.includes(name))) };
    }, [fleet, cards, hidden]);
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
        ? html`<p class="row">No desktops match. <button type="button" onClick=${clear}>Clear the filters</button></p>`
        : html`<p>The fleet is empty. <a href=${href("import")}>Get started</a></p>`;
}

/** Which columns are shown. @param {{ columns: Column[] }} properties */
function Chooser({ columns }) {
    const hidden = hiddenColumns.value;
    /** @param {string} name */
    const toggle = (name) => (hiddenColumns.value = hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name]);
    return html`<${Popover} label=${html`<${Icon} name="columns" />Columns`} title="Columns">
        <div class="form">${columns.slice(1).map(({ name, title }) => html`<label key=${name} class="check"><input type="checkbox" checked=${!hidden.includes(name)} onChange=${() => toggle(name)} /> ${title}</label>`)}</div>
    <//>`;
}
