// The fleet in numbers: states, load, what is running, what happened last.

import { get } from "../api.js";
import { ago, bytes, count, decimal, look } from "../format.js";
import { Loaded, Problem } from "../parts/problem.js";
import { State } from "../parts/state.js";
import { Strip } from "../parts/strip.js";
import { useResource } from "../resource.js";
import { href } from "../router.js";
import { html } from "../vendor/preact.js";

const EVERY_MS = 15_000;
const ACTIVITIES = 12;
/** What changes the counts, besides telemetry, which the period covers. */
const changes = (/** @type {import("../live.js").FleetEvent} */ { type }) => !type.startsWith("key.") && type !== "telemetry.filed";

export default function Overview() {
    const fleet = useResource("fleet", (signal) => get("/query/fleet", {}, signal), { every: EVERY_MS, on: changes });
    return html`<div class="head"><h1>Overview</h1></div>
        <${Loaded} of=${fleet}>${(/** @type {any} */ data) => (data.workSpaces === 0 ? html`<${Empty} />` : html`<${Fleet} fleet=${data} />`)}<//>`;
}

function Empty() {
    return html`<section class="panel">
        <h2>The fleet is empty</h2>
        <p>Load the demo fleet to look around, import your desktops, or connect an agent.</p>
        <p><a class="button" href=${href("import")}>Begin</a></p>
    </section>`;
}

/** @param {{ fleet: any }} properties */
function Fleet({ fleet }) {
    return html`<section class="panel" aria-label="Desktops by state"><${Strip} counts=${fleet.byState} /></section>
        <dl class="figures">
            <${Figure} title="Desktops" value=${count(fleet.workSpaces)} to=${href("desktops")} />
            <${Figure} title="Reporting, 15 min" value=${count(fleet.reporting15m)} note=${`of ${count(fleet.reporting24h)} in 24 h`} />
            <${Figure} title="Actions running" value=${count(fleet.inTransition)} to=${href("audit", undefined, { tab: "running" })} />
            <${Figure} title="On hold" value=${count(fleet.onHold)} to=${href("holds")} />
            <${Figure} title="Records a second" value=${decimal(fleet.recordsPerSecond)} note=${`${count(fleet.queued)} queued`} />
            <${Figure} title="Store" value=${bytes(fleet.storeBytes)} to=${href("store")} />
        </dl>
        <div class="panels">
            <${Latest} />
            <${Groups} title="Running mode" counts=${fleet.byRunningMode} filter="runningMode" />
            <${Groups} title="Compute type" counts=${fleet.byComputeType} filter="computeTypeName" />
            <${Groups} title="Region" counts=${fleet.byRegion} filter="region" />
        </div>`;
}

/** @param {{ title: string, value: string, note?: string, to?: string }} properties */
function Figure({ title, value, note, to }) {
    return html`<div><dt>${to ? html`<a href=${to}>${title}</a>` : title}</dt><dd>${value} ${note && html`<small>${note}</small>`}</dd></div>`;
}

/** The greatest groups of the fleet, each a link to its desktops. @param {{ title: string, counts: Record<string, number>, filter: string }} properties */
function Groups({ title, counts, filter }) {
    const groups = Object.entries(counts).sort(([, one], [, other]) => other - one);
    const most = groups[0]?.[1] ?? 1;
    return html`<section class="panel">
        <h2>${title}</h2>
        <table class="plain bars">
            <tbody>
                ${groups.slice(0, 10).map(([name, number]) => {
                    const listed = name !== "other" && name !== "unknown";
                    return html`<tr key=${name}>
                        <th scope="row">${listed ? html`<a href=${href("desktops", undefined, { [filter]: name })}>${name}</a>` : name}</th>
                        <td class="meter"><meter min="0" max=${most} value=${number} aria-hidden="true"></meter></td>
                        <td class="number">${count(number)}</td>
                    </tr>`;
                })}
            </tbody>
        </table>
    </section>`;
}

function Latest() {
    const audit = useResource("latest", (signal) => get("/api/Information/GetAdminActivity", { numberOfActivities: ACTIVITIES }, signal), { on: changes });
    const now = Date.now();
    return html`<section class="panel">
        <h2>Latest actions</h2>
        <${Problem} error=${audit.error} retry=${audit.reload} />
        ${audit.data?.length === 0 && html`<p class="note">Nobody has done anything yet.</p>`}
        <ul class="latest">
            ${(audit.data ?? []).map(
                (/** @type {any} */ row) => html`<li key=${row.id}>
                    <span>${row.action} ${row.workSpaceId && html`<a href=${href("desktop", row.workSpaceId)}>${row.workSpaceId}</a>`}</span>
                    <span class="note">${row.result}${row.newState && look(row.newState).label !== row.result ? html` · <${State} state=${row.newState} />` : ""} · ${row.requester} · ${ago(row.activityTime, now)}</span>
                </li>`,
            )}
        </ul>
        <p><a href=${href("audit")}>All actions and the audit</a></p>
    </section>`;
}

