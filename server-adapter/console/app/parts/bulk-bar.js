// What can be done with the selected desktops.

import { count } from "../format.js";
import { may } from "../session.js";
import { html, useMemo } from "../vendor/preact.js";
import { ActionMenu, usual } from "./action-menu.js";

/** @param {{ selected: ReadonlySet<string>, select: (ids: ReadonlySet<string>) => void, rows: Uint32Array, idOf: (row: number) => string | null, stateOf: (row: number) => any }} properties */
export function BulkBar({ selected, select, rows, idOf, stateOf }) {
    // What the filters hide is not acted upon.
    const shown = useMemo(() => (selected.size === 0 ? [] : [...rows].filter((row) => selected.has(idOf(row) ?? ""))), [selected, rows]);
    if (shown.length === 0 || !may("act")) return null;
    const all = () => select(new Set(Array.from(rows, (row) => idOf(row) ?? "")));
    return html`<div class="bulk row" role="group" aria-label="The selected desktops">
        <span><b>${count(shown.length)}</b> selected</span>
        ${shown.length < rows.length && html`<button type="button" class="quiet" onClick=${all}>Select all ${count(rows.length)}</button>`}
        <button type="button" class="quiet" onClick=${() => select(new Set())}>Clear</button>
        <${ActionMenu} ids=${shown.map(idOf)} first=${usual(shown.map(stateOf))} begun=${() => select(new Set())} />
    </div>`;
}
