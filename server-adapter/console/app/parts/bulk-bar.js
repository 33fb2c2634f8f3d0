// What can be done with the selected desktops.

import { count } from "../format.js";
import { may, mayStart } from "../session.js";
import { html, useMemo } from "../vendor/preact.js";
import { ACTIONS, askAction } from "./action-dialog.js";
import { askHold } from "./hold-dialog.js";

/** @param {{ selected: ReadonlySet<string>, select: (ids: ReadonlySet<string>) => void, rows: Uint32Array, idOf: (row: number) => string | null }} properties */
export function BulkBar({ selected, select, rows, idOf }) {
    // What the filters hide is not acted upon.
    const shown = useMemo(() => (selected.size === 0 ? [] : Array.from(rows, (row) => idOf(row) ?? "").filter((id) => selected.has(id))), [selected, rows]);
    if (shown.length === 0 || !may("act")) return null;
    const all = () => select(new Set(Array.from(rows, (row) => idOf(row) ?? "")));
    return html`<div class="bulk row" role="group" aria-label="The selected desktops">
        <span><b>${count(shown.length)}</b> selected</span>
        ${shown.length < rows.length && html`<button type="button" class="quiet" onClick=${all}>Select all ${count(rows.length)}</button>`}
        <button type="button" class="quiet" onClick=${() => select(new Set())}>Clear</button>
        ${may("admin") && html`<button type="button" onClick=${() => askHold(shown)}>Place hold</button>`}
        ${ACTIONS.filter(({ name }) => mayStart(name)).map(({ name, title, danger }) => html`<button key=${name} type="button" class=${danger ? "danger" : ""} onClick=${() => askAction(name, shown)}>${title}</button>`)}
    </div>`;
}
