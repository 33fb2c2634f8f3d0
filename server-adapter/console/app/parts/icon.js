// Icons of one family: lines of 1.5 in a square of 16, in the colour of the text beside them.

import { html } from "../vendor/preact.js";

/** @type {Record<string, string>} */
const PATHS = {
    activity: "M1.5 8h3l2-5 3 10 2-5h3",
    advice: "M5.5 11.5a4.5 4.5 0 1 1 5 0v1h-5zM6.5 14.5h3",
    api: "M5 4.5 1.5 8 5 11.5M11 4.5 14.5 8 11 11.5",
    audit: "M3.5 1.5h9v13h-9zM6 5h4M6 8h4M6 11h2.5",
    clock: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 4.5V8l2.5 1.5",
    columns: "M1.5 2.5h13v11h-13zM6 2.5v11M10 2.5v11",
    copy: "M5.5 5.5h8v9h-8zM10.5 5.5v-4h-8v9h3",
    desktops: "M1.5 2.5h13v8.5h-13zM5.5 13.5h5M8 11v2.5",
    download: "M8 1.5v9M4.5 7 8 10.5 11.5 7M2 14h12",
    export: "M8 10.5v-9M4.5 5 8 1.5 11.5 5M2 9.5v5h12v-5",
    filter: "M1.5 2.5h13L9.5 8.5v5l-3-1.5V8.5z",
    holds: "M3 7h10v7.5H3zM5 7V5a3 3 0 0 1 6 0v2",
    import: "M8 1.5v9M4.5 7 8 10.5 11.5 7M2 9.5v5h12v-5",
    keys: "M10.5 1.5a4 4 0 1 1-2.9 6.8L2 14H1.5v-2.5L6.7 6.3a4 4 0 0 1 3.8-4.8z",
    list: "M5 3.5h9.5M5 8h9.5M5 12.5h9.5M1.5 3.5H2M1.5 8H2M1.5 12.5H2",
    logons: "M6.5 1.5h8v13h-8M1.5 8h8M6.5 5l3 3-3 3",
    more: "M3 8h.01M8 8h.01M13 8h.01",
    overview: "M1.5 7 8 1.5 14.5 7v7.5h-4.5V10H6v4.5H1.5z",
    processes: "M4 4h8v8H4zM6 1.5V4M10 1.5V4M6 12v2.5M10 12v2.5M1.5 6H4M1.5 10H4M12 6h2.5M12 10h2.5",
    store: "M2 4c0-3.3 12-3.3 12 0v8c0 3.3-12 3.3-12 0zM2 4c0 3.3 12 3.3 12 0M2 8c0 3.3 12 3.3 12 0",
    theme: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8 1.5v13M8 4.5l5.5 0M8 8h6.5M8 11.5h5.5",
    user: "M8 1.5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM2 14.5c0-7 12-7 12 0z",
};

/** @param {{ name: string }} properties */
export function Icon({ name }) {
    return html`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;
}
