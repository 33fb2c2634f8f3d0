// A value against its bound.

import { html } from "../vendor/preact.js";
import { Bar } from "./bar-chart.js";

/**
 * `text` is what is said of it, and shown where nothing else is.
 * @param {{ label: string, value: number, max: number, text: string, children?: any }} properties
 */
export function Gauge({ label, value, max, text, children }) {
    return html`<div role="meter" aria-label=${label} aria-valuemin="0" aria-valuemax=${max} aria-valuenow=${Math.min(value, max)} aria-valuetext=${text}>
        ${children ?? text}
        <${Bar} value=${value} max=${max} whole=${max} tone=${0} />
    </div>`;
}
