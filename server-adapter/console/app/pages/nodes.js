// The nodes of a fleet that share a log.

import { get } from "../api.js";
import { count, duration } from "../format.js";
import { DataTable } from "../parts/data-table.js";
import { Problem } from "../parts/problem.js";
import { useResource } from "../resource.js";
import { html } from "../vendor/preact.js";

const EVERY_MS = 5000;

/** @typedef {{ node: string, position: number, lag: number, reportedAt: string, halted: string | null, unready?: string[], warnings?: string[] }} Node */
/** @typedef {Node & { state: string, silentMs: number }} Row `silentMs` is how long before the newest report of all: no clock but that of the log matters */

/** @type {import("../parts/data-table.js").Column<Row>[]} */
const COLUMNS = [
    { name: "node", title: "Node" },
    { name: "position", title: "Position", number: true, show: ({ position }) => count(position) },
    { name: "lag", title: "Entries behind", number: true, show: ({ lag }) => count(lag) },
    { name: "silentMs", title: "Last report", show: ({ silentMs }) => `${duration(silentMs)} ago` },
    { name: "state", title: "State" },
];

export function Nodes() {
    const fleet = useResource("nodes", (signal) => get("/operator/cluster", {}, signal), { every: EVERY_MS });
    const { nodes = [], problems = [] } = fleet.data ?? {};
    const newest = Math.max(...nodes.map((/** @type {Node} */ { reportedAt }) => Date.parse(reportedAt)));
    const rows = nodes.map((/** @type {Node} */ node) => ({ ...node, state: node.unready?.[0] ?? (node.halted ? "halted" : node.warnings?.[0] ?? "ok"), silentMs: newest - Date.parse(node.reportedAt) }));
    return html`<section class="panel">
        <h2>Nodes</h2>
        <${Problem} error=${fleet.error} retry=${fleet.reload} />
        ${problems.map((/** @type {string} */ said) => html`<p key=${said} class="problem" role="alert">${said}</p>`)}
        <${DataTable} caption="Nodes" file="nodes" columns=${COLUMNS} rows=${rows} rowKey=${(/** @type {Row} */ { node }) => node} empty="None has reported yet." />
    </section>`;
}
