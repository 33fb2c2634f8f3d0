// What went wrong with the data of a page, and what to do.

import { html } from "../vendor/preact.js";

/** @param {{ error: any, retry?: () => void }} properties */
export function Problem({ error, retry }) {
    if (error === undefined || error === null) return null;
    return html`<div class="problem" role="alert">
        <p>${error.message} ${error.advice ?? ""}</p>
        ${error.traceId && html`<p class="note">Trace id <code>${error.traceId}</code></p>`}
        ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
    </div>`;
}

/** The sentences in which an answer says what it leaves out. @param {{ warnings: string[] | undefined }} properties */
export function Warnings({ warnings = [] }) {
    if (warnings.length === 0) return null;
    return html`<ul class="warnings">${warnings.map((warning) => html`<li key=${warning}>${warning}</li>`)}</ul>`;
}

/** A page's data, or why there is none yet. @param {{ of: import("../resource.js").Resource<any>, children: (data: any) => any }} properties */
export function Loaded({ of, children }) {
    return html`<${Problem} error=${of.error} retry=${of.reload} />
        ${of.data === undefined ? !of.error && html`<p class="note loading">Loading …</p>` : children(of.data)}`;
}
