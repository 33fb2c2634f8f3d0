// What to do about desktops, by what they did.

import { get } from "../api.js";
import { download } from "../csv.js";
import { count, decimal } from "../format.js";
import { askAction } from "../asked.js";
import { KINDS } from "../parts/advice-kinds.js";
import { allRows } from "../parts/all-rows.js";
import { DataTable } from "../parts/data-table.js";
import { DesktopLink, UserLink } from "../parts/links.js";
import { Loaded, Warnings } from "../parts/problem.js";
import { useRange, useScope } from "../parts/range.js";
import { useResource } from "../resource.js";
import { href, route, setQuery } from "../router.js";
import { mayStart } from "../session.js";
import { html } from "../vendor/preact.js";

/** @typedef {import("../../../../wasm/js/types.js").AdviceRow} Advice */
/** @typedef {import("../../../../wasm/js/types.js").AdviceTotalRow} Total */

/** Rows that are read, and drawn. */
const ROWS_MAX = 10_000;
const SHOWN_MAX = 200;
/** Desktops whose ids an address holds. */
const OPENED_MAX = 500;

export default function AdvicePage() {
    const range = useRange();
    const filter = useScope();
    const asked = { from: range.from, to: range.to, ...filter };
    const of = JSON.stringify([range.key, filter]);
    const totals = useResource(of, (signal) => get("/query/advice/totals", asked, signal));
    return html`<div class="head"><h1>Advice</h1></div>
        <${Loaded} of=${totals}>${(/** @type {{ rows: Total[], warnings: string[] }} */ data) => html`<${Kinds} ...${data} of=${of} asked=${asked} />`}<//>`;
}

/** @param {{ rows: Total[], warnings: string[], of: string, asked: import("../api.js").Query }} properties */
function Kinds({ rows, warnings, of, asked }) {
    const found = rows.find(({ desktops }) => desktops > 0)?.advice ?? "idle";
    const kind = route.value.query.kind in KINDS ? route.value.query.kind : found;
    const sum = rows.reduce((sum, { savingPerMonth }) => sum + (savingPerMonth ?? 0), 0);
    const priced = rows.some(({ savingPerMonth }) => savingPerMonth !== null);
    return html`<${Warnings} warnings=${warnings} />
        ${
            priced
                ? html`<p>At most <b>${decimal(sum, 2)}</b> a month would be saved by all of it, by the prices of the server: advice of two kinds about one desktop overlaps.</p>`
                : html`<p class="note">With prices in the configuration of the server (<code>cost.prices</code>) this page says what is saved.</p>`
        }
        <div class="row" role="group" aria-label="Kinds of advice">
            ${rows.map(({ advice, desktops, savingPerMonth }) => html`<button key=${advice} type="button" aria-pressed=${advice === kind} onClick=${() => setQuery({ kind: advice })}>${KINDS[advice]?.title ?? advice} <b>${count(desktops)}</b>${savingPerMonth !== null && html` <span class="note">${decimal(savingPerMonth, 2)}</span>`}</button>`)}
        </div>
        <${Kind} key=${kind} kind=${kind} priced=${priced} desktops=${rows.find(({ advice }) => advice === kind)?.desktops ?? 0} of=${of} asked=${asked} />`;
}

/** The desktops with one kind of advice. @param {{ kind: string, priced: boolean, desktops: number, of: string, asked: import("../api.js").Query }} properties */
function Kind({ kind, priced, desktops, of, asked }) {
    const { title, rule, how, act, mode } = KINDS[kind];
    const advice = useResource(`${kind} ${of}`, (signal) => allRows("/query/advice", { advice: kind, ...asked }, ROWS_MAX, signal));
    const columns = [
        { name: "workSpId", title: "Desktop", show: (/** @type {Advice} */ row) => html`<${DesktopLink} id=${row.workSpId} />` },
        { name: "username", title: "User", show: (/** @type {Advice} */ row) => html`<${UserLink} name=${row.username} />` },
        ...(priced ? [{ name: "savingPerMonth", title: "Saves a month", number: true, show: (/** @type {Advice} */ row) => (row.savingPerMonth === null ? "–" : decimal(row.savingPerMonth, 2)) }] : []),
        { name: "hours", title: "Hours a month", number: true, show: (/** @type {Advice} */ row) => decimal(row.hours, 2) },
        { name: "limitHours", title: "Limit", number: true },
        { name: "evidence", title: "Evidence", fixed: true, show: (/** @type {Advice} */ row) => html`<span class="evidence">${row.evidence}</span>` },
        ...(act && mayStart(act) ? [{ name: "act", title: "Action", fixed: true, unsaved: true, show: (/** @type {Advice} */ row) => html`<button type="button" onClick=${() => askAction(act, [row.workSpId])}>Change type …</button>` }] : []),
    ];
    return html`<section class="panel">
        <h2>${title}</h2>
        <p>${rule}</p>
        ${how && html`<details><summary>How is it computed?</summary><p class="note">${how}</p></details>`}
        <p class="note">Estimated from telemetry: look at the desktop, and ask its user, before you change it.</p>
        <${Loaded} of=${advice}>
            ${(/** @type {{ rows: Advice[] }} */ { rows }) => html`${rows.length < desktops && html`<p class="note">Showing ${count(rows.length)} of ${count(desktops)}.</p>`}
                <${DataTable} caption=${title} columns=${columns} rows=${rows} most=${SHOWN_MAX} rowKey=${(/** @type {Advice} */ row) => row.workSpId} file=${`advice-${kind}`} empty="No desktops match." tools=${rows.length > 0 && html`${mode && html`<button type="button" class="quiet" onClick=${() => download(`${kind}.sh`, commands(rows, mode), "text/x-shellscript;charset=utf-8")}>Export commands of the AWS CLI</button>`}<a class="button" href=${href("desktops", undefined, { workSpId: `in.${rows.slice(0, OPENED_MAX).map((/** @type {Advice} */ { workSpId }) => workSpId).join(",")}` })}>Open ${rows.length > OPENED_MAX ? `the first ${count(OPENED_MAX)}` : count(rows.length)} in Desktops</a>`} />`}
        <//>
    </section>`;
}

/** What sets the running mode in AWS, which the interface cannot do: a command for each desktop. @param {Advice[]} rows @param {string} mode */
const commands = (rows, mode) => `#!/bin/sh\nset -e\n${rows.map(({ workSpId }) => `aws workspaces modify-workspace-properties --workspace-id '${workSpId.replaceAll("'", String.raw`'\''`)}' --workspace-properties RunningMode=${mode}\n`).join("")}`;
