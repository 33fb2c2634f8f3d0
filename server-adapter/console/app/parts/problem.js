// What went wrong with the data of a page, and what to do.

import { count, time, utcTime } from "../format.js";
import { html } from "../vendor/preact.js";

/** @param {{ error: any, retry?: () => void }} properties */
export function Problem({ error, retry }) {
    if (error === undefined || error === null) return null;
    return html`<div class="problem" role="alert">
        <p>${error.message} ${error.advice ?? ""}</p>
        ${error.traceId && html`<p class="note">Trace id <code>${error.traceId}</code></p>`}
        ${retry && html`<button type="button" onClick=${retry}>Retry</button>`}
    </div>`;
}

/** A range that was widened leaves nothing out: that is said, but is no warning. @param {string} warning */
export const leavesOut = (warning) => !warning.startsWith("The answer is of whole ");

/** Sentences of answers as a person says them. @type {[RegExp, (...found: string[]) => string][]} */
const WORDINGS = [
    [/^The answer is of whole \w+ \(UTC\), from (\S+) to (\S+?)\.$/, (_, from, to) => `Showing ${utcTime(from)} – ${utcTime(to)} UTC`],
    [/^The (\d+) newest records are queued and not counted yet\.$/, (_, number) => `${count(Number(number))} records are still being processed; numbers will rise.`],
];
/** @param {string} warning */
const worded = (warning) => WORDINGS.reduce((text, [from, to]) => text.replace(from, to), warning);

/** The sentences in which an answer says what it leaves out. @param {{ warnings: string[] | undefined }} properties */
export function Warnings({ warnings = [] }) {
    warnings = [...new Set(warnings)];
    const left = warnings.filter(leavesOut);
    return html`${warnings.filter((warning) => !leavesOut(warning)).map((warning) => html`<p key=${warning} class="note">${worded(warning)}</p>`)}
        ${left.length > 0 && html`<ul class="warnings">${left.map((warning) => html`<li key=${warning}>${worded(warning)}</li>`)}</ul>`}`;
}

/** The place of what is being loaded. */
export const Skeleton = () => html`<div class="skeleton loading" role="status"><span class="hidden">Loading …</span><i></i><i></i><i></i></div>`;

/** A page's data, or why there is none yet. @param {{ of: import("../resource.js").Resource<any>, children: (data: any) => any }} properties */
export function Loaded({ of, children }) {
    return html`<${Problem} error=${of.error} retry=${of.reload} />
        ${of.error && of.at !== undefined && html`<p class="note">What is shown is of ${time(of.at)}.</p>`}
        ${of.data === undefined ? !of.error && html`<${Skeleton} />` : children(of.data)}`;
}
