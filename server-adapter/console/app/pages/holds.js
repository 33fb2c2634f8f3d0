// The litigation holds: which desktops, for which matter, and who placed them.

import { askHold, askRelease } from "../asked.js";
import { count, time } from "../format.js";
import { DataTable } from "../parts/data-table.js";
import { holds } from "../parts/hold-dialog.js";
import { Loaded } from "../parts/problem.js";
import { useScope } from "../parts/range.js";
import { Text, visible } from "../parts/text.js";
import { Who } from "../parts/who.js";
import { useResource } from "../resource.js";
import { href, route, setQuery } from "../router.js";
import { may } from "../session.js";
import { html, useState } from "../vendor/preact.js";

/** @typedef {import("../parts/hold-dialog.js").HoldRow} HoldRow */

const EVERY_MS = 60_000;
/** What a hold can change with: its own events, removals, and imports, which change users. */
const changes = (/** @type {import("../live.js").FleetEvent} */ { type }) => type.startsWith("hold.") || type.startsWith("workspace.") || type === "import.committed";
const SEARCHED = /** @type {const} */ (["workSpId", "computerName", "username", "matter", "reason", "placedBy"]);

export default function Holds() {
    const scope = useScope();
    const held = useResource(`holds ${JSON.stringify(scope)}`, (signal) => holds(scope, signal), { every: EVERY_MS, on: changes });
    return html`<div class="head"><h1>Holds</h1>${may("admin") && html`<button type="button" onClick=${() => askHold([])}>Place holds …</button>`}</div>
        <p class="note">A desktop on hold is not rebuilt, restored, terminated or removed, and its telemetry, activity and audit are kept.</p>
        <${Loaded} of=${held}>${(/** @type {HoldRow[]} */ rows) => html`<${Shown} rows=${rows} />`}<//>`;
}

/** @param {{ rows: HoldRow[] }} properties */
function Shown({ rows }) {
    const { q = "", group } = route.value.query;
    const wanted = q.trim().toLowerCase();
    const found = wanted === "" ? rows : rows.filter((row) => SEARCHED.some((name) => row[name]?.toLowerCase().includes(wanted)));
    const byMatter = group === "matter";
    const groups = byMatter ? Map.groupBy(found, ({ matter }) => matter) : new Map([["", found]]);
    return html`<div class="row">
            <label class="compact"><span class="hidden">Filter</span><input type="search" placeholder="Filter" aria-label="Filter the holds" value=${q} onInput=${(/** @type {any} */ event) => setQuery({ q: event.target.value || undefined }, "q")} /></label>
            <label class="check"><input type="checkbox" checked=${byMatter} onChange=${() => setQuery({ group: byMatter ? undefined : "matter" })} /> By matter</label>
            <span class="note" role="status">${count(found.length)} of ${count(rows.length)}</span>
        </div>
        ${[...groups].map(([matter, rows]) => html`<${Group} key=${matter} matter=${byMatter ? matter : undefined} rows=${rows} filtered=${wanted !== ""} />`)}
        ${byMatter && groups.size === 0 && html`<p class="note">${wanted === "" ? "No holds yet." : "No hold matches."}</p>`}`;
}

/** Holds of one matter, or all. @param {{ matter: string | undefined, rows: HoldRow[], filtered: boolean }} properties */
function Group({ matter, rows, filtered }) {
    const [selected, select] = useState(/** @type {ReadonlySet<string>} */ (new Set()));
    const chosen = rows.filter(({ workSpId }) => selected.has(workSpId)).map(({ workSpId }) => workSpId);
    /** @param {string} id */
    const toggle = (id) => {
        const next = new Set(selected);
        if (!next.delete(id)) next.add(id);
        select(next);
    };
    const all = rows.length > 0 && chosen.length === rows.length;
    const columns = [
        ...(may("admin") ? [{ name: "selected", title: html`<span class="hidden">Selected</span>`, fixed: true, unsaved: true, show: (/** @type {HoldRow} */ { workSpId }) => html`<input type="checkbox" aria-label=${`Select ${workSpId}`} checked=${selected.has(workSpId)} onChange=${() => toggle(workSpId)} />` }] : []),
        { name: "workSpId", title: "Desktop", show: (/** @type {HoldRow} */ { workSpId }) => html`<a class="nowrap" href=${href("desktop", workSpId)}><${Text} text=${workSpId} /></a>` },
        { name: "computerName", title: "Computer", show: (/** @type {HoldRow} */ { computerName }) => html`<${Text} text=${computerName} />` },
        { name: "username", title: "User", show: (/** @type {HoldRow} */ { username }) => (username ? html`<a href=${href("user", username)}><${Text} text=${username} /></a>` : "–") },
        { name: "matter", title: "Matter", show: (/** @type {HoldRow} */ { matter }) => html`<${Text} text=${matter} />` },
        { name: "reason", title: "Reason", show: (/** @type {HoldRow} */ { reason }) => html`<${Text} text=${reason} />` },
        { name: "placedBy", title: "Placed by", show: (/** @type {HoldRow} */ { placedBy }) => html`<${Who} name=${placedBy} />` },
        { name: "placedAt", title: "Placed", show: (/** @type {HoldRow} */ { placedAt }) => html`<span class="nowrap">${time(placedAt)}</span>` },
    ];
    const tools =
        may("admin") &&
        html`<label class="check"><input type="checkbox" checked=${all} disabled=${rows.length === 0} onChange=${() => select(new Set(all ? [] : rows.map(({ workSpId }) => workSpId)))} /> All</label>
            <button type="button" class="danger" disabled=${chosen.length === 0} onClick=${() => askRelease(chosen)}>Release ${chosen.length > 0 ? count(chosen.length) : ""} …</button>`;
    return html`<section class="panel">
        ${matter !== undefined && html`<h2><${Text} text=${matter} /></h2>`}
        <${DataTable} caption=${matter === undefined ? "Litigation holds" : `Holds of ${visible(matter)}`} columns=${columns} rows=${rows} most=${500} rowKey=${(/** @type {HoldRow} */ row) => row.workSpId} file="holds" tools=${tools} empty=${filtered ? "No hold matches." : "No holds yet."} />
    </section>`;
}
