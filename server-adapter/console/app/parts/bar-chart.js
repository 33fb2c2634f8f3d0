// Numbers as bars that begin at zero, each with its text.

import { html } from "../vendor/preact.js";

const part = (/** @type {number} */ value, /** @type {number} */ max) => `${Math.max(0, Math.min(100, (100 * value) / (max || 1)))}%`;

/**
 * One bar; its number stands beside it. `whole` is a paler bar of which this one is a part; `ticks` are marks for comparison.
 * @param {{ value: number | null | undefined, max: number, whole?: number, ticks?: readonly (number | null)[], tone?: number | string }} properties
 */
export function Bar({ value, max, whole, ticks = [], tone = 1 }) {
    return html`<svg class=${`measure series-${tone}`} width="100%" height="14" aria-hidden="true">
        ${whole !== undefined && html`<rect class="whole" y="3" width=${part(whole, max)} height="8" />`}
        ${(value ?? 0) > 0 && html`<rect y="3" width=${part(value ?? 0, max)} height="8" />`}
        ${ticks.map((tick, index) => tick !== null && html`<line key=${index} class=${`tick tick-${index}`} x1=${part(tick, max)} x2=${part(tick, max)} y1="0" y2="14" />`)}
    </svg>`;
}

/**
 * A bar for each thing, the greatest at the top if the rows are so.
 * @param {{ caption: string, rows: readonly { key: string, label: any, value: number | null, text: string }[], max?: number, tone?: number }} properties
 */
export function BarChart({ caption, rows, max = Math.max(...rows.map(({ value }) => value ?? 0)), tone = 1 }) {
    return html`<table class="plain bars">
        <caption class="hidden">${caption}</caption>
        <tbody>
            ${rows.map(
                ({ key, label, value, text }) => html`<tr key=${key}>
                    <th scope="row">${label}</th>
                    <td class="meter"><${Bar} value=${value} max=${max} tone=${tone} /></td>
                    <td class="number">${text}</td>
                </tr>`,
            )}
        </tbody>
    </table>`;
}
