// The help: keys, and what can be chosen.

import { help } from "../asked.js";
import { Dialog } from "../parts/dialog.js";
import { letterKeys, utc } from "../preferences.js";
import { html } from "../vendor/preact.js";

/** What a person can press. */
const KEYS = [
    ["Ctrl K", "Search, or a command such as reboot ws-1"],
    ["/", "To the filter of the page, else the search"],
    ["?", "This help"],
    ["↑ ↓ Home End", "Move in a table or a menu"],
    ["Space", "Select a row"],
    ["Shift ↑ ↓, Ctrl A", "Select several rows, or all"],
    ["Enter", "Open a row"],
    ["Shift Enter, double click", "Show the card of a desktop"],
    ["Ctrl Enter", "Confirm an action"],
    ["Esc", "Close, or clear the selection"],
];

export function Help() {
    return html`<${Dialog} open=${help.value} title="Help" onClose=${() => (help.value = false)}>
        <table class="plain">
            <tbody>${KEYS.map(([key, what]) => html`<tr key=${key}><th scope="row"><kbd>${key}</kbd></th><td>${what}</td></tr>`)}</tbody>
        </table>
        <label class="check"><input type="checkbox" checked=${letterKeys.value} onChange=${(/** @type {any} */ event) => (letterKeys.value = event.target.checked)} /> Single-key shortcuts, such as <kbd>/</kbd> and <kbd>?</kbd></label>
        <label class="check"><input type="checkbox" checked=${utc.value} onChange=${(/** @type {any} */ event) => (utc.value = event.target.checked)} /> Show times in UTC</label>
    <//>`;
}
