// A table of any length: only the rows that are seen are elements. One place takes the focus; the keys move in it.

import { follow, keepScroll, keptScroll } from "../router.js";
import { html, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";

/** Heights, as in desktops.css: of a heading and of a row, and of a row that is a card. */
const ROW_PX = 30;
const CARD_PX = 58;
/** Rows that are drawn beyond the edges, and how many rows are scrolled before others are drawn. */
const BEYOND = 8;
const BLOCK = 4;

/**
 * @typedef {object} Column
 * @property {string} name of the field by which it sorts
 * @property {string} title
 * @property {number} width in pixels, at least
 * @property {boolean} [number] aligned as numbers are
 * @property {boolean} [fixed] cannot be sorted
 * @property {(row: number) => any} show
 * @property {(row: number) => string | null} [to] where Enter leads in this column
 * @property {(row: number) => string} [text] what is copied; without it the text of the cell
 */

/**
 * `rows` are numbers of rows; `idOf` names one for the selection, and `version` says when it must be drawn anew. Without `select` no row can be
 * selected. With `cards` a row has two lines of two columns. `empty` is shown where there are no rows.
 * @param {{ caption: string, columns: Column[], rows: Uint32Array, idOf: (row: number) => string | null, version: (row: number) => unknown, sort: string, setSort: (sort: string) => void,
 *   selected: ReadonlySet<string>, select?: (ids: Set<string>) => void, onShown: (rows: Uint32Array) => void, onCard?: (row: number) => void, busy?: boolean, cards?: boolean, empty?: any }} properties
 */
export function VirtualTable(properties) {
    const { caption, columns, rows, idOf, version, sort, setSort, selected, select, onShown, onCard, busy, cards = false, empty } = properties;
    const rowPx = cards ? CARD_PX : ROW_PX;
    const frame = useRef(/** @type {HTMLElement | null} */ (null));
    const [first, setFirst] = useState(0);
    const [height, setHeight] = useState(600);
    const [room, setRoom] = useState(Infinity);
    // Where the keys are: the number of a row, as others may be sorted before it, and its last place; -1 is the heading.
    const [place, setPlace] = useState({ row: -2, index: 0, column: 0 });
    const anchor = useRef(-1);
    const name = useId();

    const found = place.index >= 0 && rows[place.index] !== place.row ? rows.indexOf(place.row) : place.index;
    const index = Math.min(found === -1 && place.index >= 0 ? place.index : found, rows.length - 1);
    const column = Math.min(place.column, columns.length - 1);
    const cell = (/** @type {number} */ row, /** @type {number} */ at) => `${name}-${row}-${at}`;

    const slots = Math.ceil(height / rowPx) + 2 * BEYOND + BLOCK;
    const from = Math.max(0, Math.min(first, rows.length) - BEYOND);
    const to = Math.min(rows.length, from + slots);
    const shown = useMemo(() => rows.subarray(from, to), [rows, from, to]);
    useEffect(() => onShown(shown), [shown]);

    useLayoutEffect(() => {
        const element = /** @type {HTMLElement} */ (frame.current);
        const watch = new ResizeObserver(() => (setHeight(element.clientHeight), setRoom(element.clientWidth)));
        watch.observe(element);
        return () => watch.disconnect();
    }, []);

    const scrolled = () => {
        const top = /** @type {HTMLElement} */ (frame.current).scrollTop;
        if (returning.current === 0) keepScroll("grid", top);
        setFirst(Math.floor(top / rowPx / BLOCK) * BLOCK);
    };
    // Back shows the rows that were seen, once there are as many.
    const returning = useRef(keptScroll("grid"));
    useLayoutEffect(() => {
        const element = /** @type {HTMLElement} */ (frame.current);
        if (returning.current === 0 || element.scrollHeight - element.clientHeight < returning.current) return;
        element.scrollTop = returning.current;
        returning.current = 0;
    }, [rows.length]);

    /** Shows a place below the heading, and goes there. @param {number} index @param {number} [column] */
    const moveTo = (index, column = place.column) => {
        const element = /** @type {HTMLElement} */ (frame.current);
        const top = index * rowPx;
        const room = element.clientHeight - ROW_PX;
        if (index >= 0) element.scrollTop = Math.min(top, Math.max(element.scrollTop, top + rowPx - room));
        setPlace({ row: rows[index] ?? -2, index, column });
    };
    useLayoutEffect(() => {
        if (document.activeElement === frame.current) document.getElementById(cell(index < 0 ? -1 : rows[index], column))?.scrollIntoView({ block: "nearest", inline: "nearest" });
    }, [column]);

    /** Selects a row, or all from the last selected one. @param {number} at @param {boolean} range */
    const toggle = (at, range) => {
        if (select === undefined) return;
        const ids = new Set(selected);
        const start = range ? rows.indexOf(anchor.current) : -1;
        if (start === -1) {
            const id = /** @type {string} */ (idOf(rows[at]));
            if (!ids.delete(id)) ids.add(id);
            anchor.current = rows[at];
        } else for (let each = Math.min(start, at); each <= Math.max(start, at); each++) ids.add(/** @type {string} */ (idOf(rows[each])));
        select(ids);
    };

    const selectAll = () => select?.(new Set(Array.from(rows, (row) => /** @type {string} */ (idOf(row)))));
    const hasAll = rows.length > 0 && selected.size >= rows.length;

    /** @param {KeyboardEvent} event */
    const pressed = (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) {
            if (event.key !== "a" || event.altKey) return;
            event.preventDefault();
            return selectAll();
        }
        const page = Math.max(1, Math.floor(height / rowPx) - 2);
        const last = rows.length - 1;
        const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: last, PageDown: Math.max(index, 0) + page, PageUp: Math.max(0, index - page) }[event.key];
        const side = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (next !== undefined) {
            const goal = Math.max(-1, Math.min(next, last));
            if (event.shiftKey && goal >= 0) {
                if (rows.indexOf(anchor.current) === -1) anchor.current = rows[Math.max(index, 0)];
                toggle(goal, true);
            }
            moveTo(goal);
        } else if (side !== undefined) setPlace({ ...place, column: Math.max(0, Math.min(column + side, columns.length - 1)) });
        else if (event.key === " " && index >= 0) toggle(index, event.shiftKey);
        else if (event.key === "Enter" && event.shiftKey && index >= 0) onCard?.(rows[index]);
        else if (event.key === "Enter" && index >= 0) follow(columns[column].to?.(rows[index]) ?? columns[0].to?.(rows[index]) ?? location.hash);
        else if ((event.key === "Enter" || event.key === " ") && index === -1) sortBy(columns[column], sort, setSort);
        else if (event.key === "Escape") select?.(new Set());
        else return;
        event.preventDefault();
    };

    /** @param {MouseEvent} event */
    const clicked = (event) => {
        const target = /** @type {HTMLElement} */ (event.target);
        if (target.closest(".heading .tick")) return hasAll ? select?.(new Set()) : selectAll();
        const at = dataOf(target, "index");
        if (at === undefined || at >= rows.length) return;
        setPlace({ row: rows[at], index: at, column: dataOf(target, "column") ?? column });
        if (target.closest(".tick") || event.shiftKey) {
            event.preventDefault();
            toggle(at, event.shiftKey);
        }
    };

    /** The focused cell, by Ctrl C. @param {ClipboardEvent} event */
    const copied = (event) => {
        if (index < 0 || !getSelection()?.isCollapsed) return;
        event.clipboardData?.setData("text/plain", columns[column].text?.(rows[index]) ?? document.getElementById(cell(rows[index], column))?.textContent ?? "");
        event.preventDefault();
    };
    /** Shift and a click select rows, and no text. @param {MouseEvent} event */
    const down = (event) => {
        if (!event.shiftKey) return;
        event.preventDefault();
        frame.current?.focus({ preventScroll: true });
    };
    /** @param {MouseEvent} event */
    const opened = (event) => {
        const at = dataOf(/** @type {HTMLElement} */ (event.target), "index");
        if (at !== undefined && at < rows.length && /** @type {HTMLElement} */ (event.target).closest(".tick, a") === null) onCard?.(rows[at]);
    };
    const tick = select === undefined ? "" : "32px ";
    const width = (tick ? 32 : 0) + columns.reduce((sum, { width }) => sum + width, 0);
    // Cells that stay in their place cost a layer each: they are only where there is something to scroll sideways.
    const pinned = !cards && width > room;
    const widths = columns.map(({ width }) => `minmax(${width}px, ${width}fr)`).join(" ");
    return html`<div
        ref=${frame}
        class=${`grid${cards ? " cards" : ""}${pinned ? " pinned" : ""}${select === undefined ? " unticked" : ""}`}
        role="grid"
        tabindex="0"
        aria-label=${caption}
        aria-rowcount=${rows.length + 1}
        aria-colcount=${columns.length}
        aria-multiselectable="true"
        aria-busy=${busy ? "true" : undefined}
        aria-activedescendant=${index >= 0 && (index < from || index >= to) ? undefined : cell(index < 0 ? -1 : rows[index], column)}
        style=${{ "--columns": `${tick}${widths}`, "--width": cards ? "0" : `${width}px` }}
        onScroll=${scrolled}
        onKeyDown=${pressed}
        onClick=${clicked}
        onMouseDown=${down}
        onDblClick=${opened}
        onCopy=${copied}
    >
        <div class="grid-row heading" role="row" aria-rowindex="1">
            ${select && html`<span class="tick" role="presentation" title=${hasAll ? "Select none" : "Select all"}><${Box} on=${hasAll} some=${selected.size > 0} /></span>`}
            ${columns.map((each, at) => html`<${Heading} key=${each.name} id=${cell(-1, at)} column=${each} sort=${sort} setSort=${setSort} active=${index === -1 && at === column} />`)}
        </div>
        <div role="rowgroup" class="grid-body" style=${{ height: `${rows.length * rowPx}px` }}>
            ${Array.from(shown, (row, at) => html`<${Row} key=${(from + at) % slots} row=${row} index=${from + at} top=${(from + at) * rowPx} ticks=${select !== undefined} columns=${columns} cell=${cell} version=${version(row)} selected=${selected.has(/** @type {string} */ (idOf(row)))} active=${from + at === index ? column : -1} />`)}
        </div>
        ${rows.length === 0 && empty && html`<div class="grid-empty">${empty}</div>`}
    </div>`;
}

/** A check box as it looks; the row says whether it is selected. @param {{ on: boolean, some?: boolean }} properties */
const Box = ({ on, some = false }) => html`<span class=${`box${on ? " on" : some ? " some" : ""}`} aria-hidden="true"></span>`;

/** A number in the data of an element or one around it. @param {HTMLElement} element @param {string} name */
function dataOf(element, name) {
    const text = /** @type {HTMLElement | null} */ (element.closest(`[data-${name}]`))?.dataset[name];
    return text === undefined ? undefined : Number(text);
}

/** The greatest numbers are wanted first, and texts from A. @param {Column} column @param {string} sort @param {(sort: string) => void} setSort */
function sortBy({ name, number, fixed }, sort, setSort) {
    const [first, second] = number ? [`-${name}`, name] : [name, `-${name}`];
    if (!fixed) setSort(sort === first ? second : first);
}

/** @param {{ id: string, column: Column, sort: string, setSort: (sort: string) => void, active: boolean }} properties */
function Heading({ id, column, sort, setSort, active }) {
    const { name, title, number, fixed } = column;
    const direction = fixed ? undefined : sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none";
    const kind = `${number ? "number" : ""}${active ? " active" : ""}`;
    /** The keys stay with the table. @param {any} event */
    const clicked = ({ currentTarget }) => {
        sortBy(column, sort, setSort);
        currentTarget.closest(".grid").focus({ preventScroll: true });
    };
    if (fixed) return html`<span id=${id} role="columnheader" class=${kind}>${title}</span>`;
    return html`<span id=${id} role="columnheader" class=${kind} aria-sort=${direction}>
        <button type="button" class="sort" tabindex="-1" onClick=${clicked}>${title}<span aria-hidden="true">${{ ascending: " ↑", descending: " ↓" }[/** @type {string} */ (direction)] ?? ""}</span></button>
    </span>`;
}

/**
 * A row is drawn anew only when something in it has changed.
 * @param {{ row: number, index: number, top: number, ticks: boolean, columns: Column[], cell: (row: number, at: number) => string, version: unknown, selected: boolean, active: number }} properties
 */
function Row({ row, index, top, ticks, columns, cell, version, selected, active }) {
    return useMemo(
        () => html`<div class="grid-row" role="row" aria-rowindex=${index + 2} aria-selected=${selected ? "true" : "false"} data-index=${index} style=${{ top: `${top}px` }}>
            ${ticks && html`<span class="tick" role="presentation"><${Box} on=${selected} /></span>`}
            ${columns.map(({ name, number, show }, place) => html`<span key=${name} id=${cell(row, place)} role="gridcell" data-column=${place} class="${number ? "number" : ""}${active === place ? " active" : ""}">${show(row)}</span>`)}
        </div>`,
        [row, top, ticks, columns, version, selected, active],
    );
}
