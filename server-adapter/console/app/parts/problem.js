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

/** A range that was widened leaves nothing out: that is said, but is no warning. @param {string} warning */
export const leavesOut = (warning) => !warning.startsWith("The answer is of whole ");

/** The sentences in which an answer says what it leaves out. @param {{ warnings: string[] | undefined }} properties */
export function Warnings({ warnings = [] }) {
    const left = warnings.filter(leavesOut);
    return html`${warnings.filter((warning) => !leavesOut(warning)).map((warning) => html`<p key=${warning} class="note">${warning}</p>`)}
        ${left.length > 0 && html`<ul class="warnings">${left.map((warning) => html`<li key=${warning}>${warning}</li>`)}</ul>`}`;
}

/** A page's data, or why there is none yet. @param {{ of: import("../resource.js").Resource<any>, children: (data: any) => any }} properties */
export function Loaded({ of, children }) {
    return html`<${Problem} error=${of.error} retry=${of.reload} />
        ${of.data === undefined ? !of.error && html`<p class="note loading">Loading …</p>` : children(of.data)}`;
}
