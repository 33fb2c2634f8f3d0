// A table of some hundred rows at most: sorted by its headings, saved as CSV.

import { csv, download } from "../csv.js";
import { html, useMemo, useState } from "../vendor/preact.js";

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} name member of the row, and heading in the CSV
 * @property {string} title
 * @property {(row: Row) => any} [show] the content of the cell; without it the value
 * @property {boolean} [number] aligned as numbers are
 * @property {boolean} [fixed] cannot be sorted
 * @property {boolean} [unsaved] not in the CSV
 */

/**
 * `file` is the name of the CSV, without it there is none; `tools` are shown beside the button. With `onSort` the rows come in the order
 * `sort` and stay in it, and a heading asks for another one. No more than `most` rows are drawn; the CSV has all.
 * @template Row
 * @param {{ columns: Column<Row>[], rows: Row[], caption: string, file?: string, sort?: string, rowKey: (row: Row) => string | number, empty?: any, tools?: any, onSort?: (by: string) => void, most?: number }} properties
 */
export function DataTable({ columns, rows, caption, file, sort = "", rowKey, empty = "Nothing here yet.", tools, onSort, most = 1000 }) {
    const [own, setOwn] = useState(sort);
    const [by, setBy] = onSort ? [sort, onSort] : [own, setOwn];
    const sorted = useMemo(() => (onSort ? rows : inOrder(rows, by)), [rows, by, onSort === undefined]);
    const [shown, setShown] = useState(most);
    const save = () => download(`${file}.csv`, csv(columns.filter(({ unsaved }) => !unsaved).map(({ name }) => name), sorted));
    return html`<div class="table-tools">
            <span class="note">${rows.length.toLocaleString("en")} ${rows.length === 1 ? "row" : "rows"}</span>
            ${tools}
            ${file && html`<button type="button" class="quiet" disabled=${rows.length === 0} onClick=${save}>Export CSV</button>`}
        </div>
        <div class="table-frame" role="region" aria-label=${caption} tabindex="0">
            <table class="data">
                <caption class="hidden">${caption}</caption>
                <thead>
                    <tr>${columns.map((column) => html`<${Heading} key=${column.name} column=${column} by=${by} setBy=${setBy} />`)}</tr>
                </thead>
                <tbody>
                    ${sorted.slice(0, shown).map((row) => html`<tr key=${rowKey(row)}>${columns.map(({ name, show, number }) => html`<td key=${name} class=${number ? "number" : ""}>${show ? show(row) : (/** @type {any} */ (row)[name] ?? "–")}</td>`)}</tr>`)}
                </tbody>
            </table>
        </div>
        ${rows.length > shown && html`<div class="row"><button type="button" onClick=${() => setShown(shown + most)}>Show ${Math.min(most, rows.length - shown)} more of ${(rows.length - shown).toLocaleString("en")}</button></div>`}
        ${rows.length === 0 && html`<p class="note">${empty}</p>`}`;
}

/** @param {{ column: Column<any>, by: string, setBy: (by: string) => void }} properties */
function Heading({ column: { name, title, number, fixed }, by, setBy }) {
    const direction = by === name ? "ascending" : by === `-${name}` ? "descending" : undefined;
    const kind = number ? "number" : "";
    if (fixed) return html`<th scope="col" class=${kind}>${title}</th>`;
    // The greatest numbers are wanted first, and texts from A.
    const [first, second] = number ? [`-${name}`, name] : [name, `-${name}`];
    return html`<th scope="col" class=${kind} aria-sort=${direction}>
        <button type="button" class="sort" onClick=${() => setBy(by === first ? second : first)}>${title}<span aria-hidden="true">${direction === "ascending" ? " ↑" : direction === "descending" ? " ↓" : ""}</span></button>
    </th>`;
}

/** @param {any[]} rows @param {string} by a column, with `-` before it for the greatest first; rows without a value come last */
function inOrder(rows, by) {
    if (by === "") return rows;
    const name = by.replace(/^-/, "");
    const sign = by.startsWith("-") ? -1 : 1;
    return [...rows].sort((one, other) => {
        const [a, b] = [one[name] ?? null, other[name] ?? null];
        if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
        return (a < b ? -1 : a > b ? 1 : 0) * sign;
    });
}
