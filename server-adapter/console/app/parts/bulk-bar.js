// What can be done with the selected desktops.

import { count } from "../format.js";
import { may, mayStart } from "../session.js";
import { html, useMemo } from "../vendor/preact.js";
import { ACTIONS, askAction } from "./action-dialog.js";
import { askHold } from "./hold-dialog.js";

/** @param {{ selected: ReadonlySet<string>, select: (ids: ReadonlySet<string>) => void, rows: Uint32Array, idOf: (row: number) => string | null }} properties */
export function BulkBar({ selected, select, rows, idOf }) {
    const shown = useMemo(() => rows.reduce((sum, row) => sum + Number(selected.has(idOf(row) ?? "")), 0), [selected, rows]);
    if (selected.size === 0 || !may("act")) return null;
    const hidden = selected.size - shown;
    const all = () => select(new Set([...selected, ...Array.from(rows, (row) => idOf(row) ?? "")]));
    return html`<div class="bulk row" role="group" aria-label="The selected desktops">
        <span><b>${count(selected.size)}</b> selected${hidden > 0 && html` <span class="note">(${count(hidden)} not in this list)</span>`}</span>
        ${shown < rows.length && html`<button type="button" class="quiet" onClick=${all}>Select all ${count(rows.length)}</button>`}
        <button type="button" class="quiet" onClick=${() => select(new Set())}>Clear</button>
        ${may("admin") && html`<button type="button" onClick=${() => askHold([...selected])}>Place hold</button>`}
        ${ACTIONS.filter(({ name }) => mayStart(name)).map(({ name, title, danger }) => html`<button key=${name} type="button" class=${danger ? "danger" : ""} onClick=${() => askAction(name, [...selected])}>${title}</button>`)}
    </div>`;
}
