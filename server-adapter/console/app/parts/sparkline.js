// A small line without axes, for a row of a table; its numbers are in its text.

import { decimal } from "../format.js";
import { html } from "../vendor/preact.js";

const HEIGHT = 18;

/** Values in equal distances, null where there is a gap; `max` is the upper edge, without it the greatest value. @param {{ values: readonly (number | null)[], max?: number, label: string, width?: number, tone?: number }} properties */
export function Sparkline({ values, max, label, width = 90, tone = 1 }) {
    const known = /** @type {number[]} */ (values.filter((value) => value !== null));
    if (known.length === 0) return html`<span class="note" title=${label}>–</span>`;
    const greatest = Math.max(...known);
    const top = (max ?? greatest) || 1;
    const text = `${label}: ${decimal(Math.min(...known))} to ${decimal(greatest)}, at last ${decimal(known.at(-1))}`;
    let path = "";
    values.forEach((value, index) => {
        if (value === null) return;
        const x = (1 + (index / Math.max(values.length - 1, 1)) * (width - 2)).toFixed(1);
        const y = (1 + (1 - Math.min(value / top, 1)) * (HEIGHT - 2)).toFixed(1);
        const begins = index === 0 || values[index - 1] === null;
        path += `${begins ? "M" : "L"}${x} ${y}${begins && (values[index + 1] ?? null) === null ? "h.01" : ""}`;
    });
    return html`<svg class=${`sparkline series-${tone}`} role="img" aria-label=${text} width=${width} height=${HEIGHT}><title>${text}</title><path class="line" d=${path} /></svg>`;
}
