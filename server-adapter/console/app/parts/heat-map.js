// Numbers of a table as shades of one colour; the arrow keys go from cell to cell.

import { compact, count } from "../format.js";
import { html, useState } from "../vendor/preact.js";

/** Shades besides that of zero. */
const SHADES = 6;

/** @param {number} value @param {number} max */
const shade = (value, max) => (max > 0 ? Math.ceil((SHADES * value) / max) : 0);

/**
 * @param {object} properties
 * @param {string} properties.caption
 * @param {readonly string[]} properties.rows headings
 * @param {readonly string[]} properties.columns headings
 * @param {readonly (readonly number[])[]} properties.values by row and column
 * @param {(row: number, column: number) => string} properties.text what is said of a cell
 * @param {string} properties.unit what is counted
 * @param {(row: number, column: number) => void} [properties.open] shows what is behind a cell
 */
export function HeatMap({ caption, rows, columns, values, text, unit, open }) {
    const [[row, column], setPlace] = useState([0, 0]);
    const [read, setRead] = useState("");
    const max = Math.max(...values.flat());
    /** @param {KeyboardEvent} event */
    const pressed = (event) => {
        if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            return open?.(row, column);
        }
        const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -column], End: [0, columns.length], PageUp: [-row, 0], PageDown: [rows.length, 0] };
        const step = steps[/** @type {keyof typeof steps} */ (event.key)];
        if (step === undefined) return;
        event.preventDefault();
        const to = [Math.min(Math.max(row + step[0], 0), rows.length - 1), Math.min(Math.max(column + step[1], 0), columns.length - 1)];
        // Each row and column has a heading before its cells.
        /** @type {HTMLTableElement} */ (event.currentTarget).rows[to[0] + 1].cells[to[1] + 1].focus();
    };
    const at = (/** @type {number} */ one, /** @type {number} */ other) => () => {
        setPlace([one, other]);
        setRead(text(one, other));
    };
    return html`<p class="heat-read">${read || html`<span class="note">Point at a cell or use the arrow keys. Click or Enter shows its desktops.</span>`}</p>
        <div class="table-frame">
            <table class="heat" role="grid" aria-readonly="true" onKeyDown=${pressed}>
                <caption class="hidden">${caption}</caption>
                <thead>
                    <tr><td></td>${columns.map((heading) => html`<th key=${heading} scope="col">${heading}</th>`)}</tr>
                </thead>
                <tbody>
                    ${rows.map(
                        (heading, one) => html`<tr key=${heading}>
                            <th scope="row">${heading}</th>
                            ${values[one].map((value, other) => html`<td key=${other} class=${`heat-${shade(value, max)}`} tabindex=${one === row && other === column ? 0 : -1} onFocus=${at(one, other)} onPointerEnter=${() => setRead(text(one, other))} onClick=${() => open?.(one, other)}>${compact(value)}</td>`)}
                        </tr>`,
                    )}
                </tbody>
            </table>
        </div>
        <ul class="heat-scale" aria-label=${`Shades, in ${unit}`}>
            ${Array.from({ length: max > 0 ? SHADES + 1 : 1 }, (_, index) => html`<li key=${index}><span class=${`heat-${index}`} aria-hidden="true"></span>${index === 0 ? "0" : `to ${count(Math.floor((max * index) / SHADES))}`}</li>`)}
            <li class="note">${unit}</li>
        </ul>`;
}
