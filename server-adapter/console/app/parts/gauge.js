// A value against its bound.

import { html } from "../vendor/preact.js";
import { Bar } from "./bar-chart.js";

/** From this part of the bound on it is marked, and said. */
const NEAR = 0.8;

/**
 * `text` is what is said of it, and shown where nothing else is; `full`: it is bad to be near the bound.
 * @param {{ label: string, value: number, max: number, text: string, full?: boolean, children?: any }} properties
 */
export function Gauge({ label, value, max, text, full, children }) {
    const near = full === true && value >= NEAR * max;
    return html`<div class=${near ? "near" : ""} role="meter" aria-label=${label} aria-valuemin="0" aria-valuemax=${max} aria-valuenow=${Math.min(value, max)} aria-valuetext=${text}>
        ${near && html`<span aria-hidden="true">▲ </span>`}${children ?? text}
        <${Bar} value=${value} max=${max} whole=${max} tone=${near ? "warn" : 0} />
    </div>`;
}
