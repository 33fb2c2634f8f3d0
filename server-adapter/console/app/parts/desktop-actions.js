// What this key may do with one desktop: the usual action first, the rest below it.

import { get } from "../api.js";
import { useResource } from "../resource.js";
import { may, session } from "../session.js";
import { html } from "../vendor/preact.js";
import { ActionMenu, usual } from "./action-menu.js";
import { actionTitle } from "./audit-words.js";

/** @typedef {import("../../../../wasm/js/types.js").WorkspaceRow} WorkspaceRow @typedef {import("../../../../wasm/js/types.js").RequestKey} RequestKey */

/** The limits of the key, and whether they leave this desktop out. @param {string} id @param {AbortSignal} signal */
async function limitsFor(id, signal) {
    /** @type {RequestKey} */
    const key = await get("/query/key", {}, signal);
    if (key.filter === null) return { key, out: false };
    // The limits have the words of the filters of the interface.
    const { rows } = await get("/query/workspaces", { ...key.filter, workSpId: id, limit: 1, fields: "workSpId" }, signal);
    return { key, out: rows.length === 0 };
}

/** @param {RequestKey} key */
function inWords({ actions, filter, destructivePerHour }) {
    const terms = Object.values(filter ?? {}).filter(Boolean);
    return [
        actions && `only ${actions.map(actionTitle).join(", ")}`,
        terms.length > 0 && `only desktops of ${terms.join(" and ")}`,
        destructivePerHour !== null && `${destructivePerHour} destructive actions an hour`,
    ].filter(Boolean);
}

/** @param {{ row: WorkspaceRow, held: boolean }} properties */
export function DesktopActions({ row, held }) {
    const id = row.workSpId;
    const limits = useResource(`limits ${session.value?.id} ${id}`, (signal) => limitsFor(id, signal));
    if (!may("act") && !may("admin")) return html`<p class="note">This key may read, not act.</p>`;
    if (limits.data?.out) return html`<p class="note">This key may not act on this desktop (${inWords(limits.data.key).join("; ")}).</p>`;
    const said = limits.data ? inWords(limits.data.key) : [];
    return html`<div class="desktop-actions">
        <${ActionMenu} ids=${[id]} first=${usual([row.state])} held=${held} />
        ${said.length > 0 && html`<p class="note">This key: ${said.join("; ")}.</p>`}
    </div>`;
}
