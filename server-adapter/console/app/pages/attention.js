// What needs attention now: each with since when, whom it is about, how it went, and the one action that helps.

import { get, host, pages } from "../api.js";
import { DAY_MS, clock, count, day, time } from "../format.js";
import { askAction } from "../asked.js";
import { actionTitle } from "../parts/audit-words.js";
import { CardLink } from "../parts/links.js";
import { Loaded, Problem } from "../parts/problem.js";
import { Sparkline } from "../parts/sparkline.js";
import { Sign } from "../parts/state.js";
import { Text } from "../parts/text.js";
import { useResource } from "../resource.js";
import { WHOLE_FLEET, href } from "../router.js";
import { may, mayStart } from "../session.js";
import { html, useState } from "../vendor/preact.js";
import { grouped } from "./conditions.js";

/** @typedef {import("./conditions.js").Described} Described @typedef {import("../../../../wasm/js/types.js").Condition} Condition */
/** @typedef {{ workSpId: string, username: string | null, region: string | null }} Affected */

const EVERY_MS = 15_000;
/** What is behind a condition is looked at less often than whether there is one. */
const BEHIND_EVERY_MS = 60_000;
const NAMES = 6;
/** Desktops among which a region is looked for in which most of them are. */
const LOOKED_AT = 500;
/** Desktops of a request that reads no more than their ids. */
const PAGE = 5000;
/** Events among which the last condition is looked for. */
const EVENTS = 200;

const changes = (/** @type {import("../live.js").FleetEvent} */ { type }) => type.startsWith("condition.");

/** Today's time, or the day. @param {string} since */
const begun = (since) => (Date.now() - Date.parse(since) < DAY_MS ? clock(since) : day(since));

/** @param {{ fleet: any }} properties */
export function Attention({ fleet }) {
    const wrong = useResource("conditions", (signal) => get("/query/conditions", {}, signal), { every: EVERY_MS, on: changes });
    return html`<section class="panel attention" aria-labelledby="attention">
        <${Loaded} of=${wrong}>${(/** @type {{ rows: Condition[] }} */ { rows }) => html`
            <h2 id="attention">Needs attention ${rows.length > 0 && html`<span class="tag">${rows.length}</span>`}</h2>
            ${rows.length === 0 ? html`<${Fine} fleet=${fleet} />` : grouped(rows).map(([group, conditions]) => html`<section key=${group}>
                <h3>${group}</h3>
                <ul class="conditions">${conditions.map((condition) => html`<${One} key=${condition.code} condition=${condition} />`)}</ul>
            </section>`)}`}<//>
    </section>`;
}

/** @param {{ condition: Described }} properties */
function One({ condition }) {
    const { code, look, title, text, since, count: number, desktops, subjects, spark } = condition;
    const key = `${code} ${since} ${number}`;
    const affected = useResource(`affected ${key}`, async (signal) => (desktops ? (await get("/query/workspaces", { ...desktops, sort: "workSpId", limit: LOOKED_AT, fields: "workSpId,username,region" }, signal)).rows : []), { every: BEHIND_EVERY_MS });
    // The condition names the first ten; those that the filter finds have users and regions too.
    /** @type {Affected[]} */
    const rows = affected.data?.length ? affected.data : desktops ? subjects.map((workSpId) => ({ workSpId, username: null, region: null })) : [];
    return html`<li class="condition ${look.tone}">
        <div class="condition-head">
            <h4><${Sign} ...${look}><span class="hidden">${look.label}:</span><//>${title}</h4>
            <span class="note nowrap" title=${time(since)}>since ${begun(since)}</span>
        </div>
        <p class="note">${text}</p>
        ${rows.length > 0 && html`<${Names} rows=${rows} number=${number ?? rows.length} desktops=${desktops} />`}
        <${Problem} error=${affected.error} />
        <div class="row">
            <${Help} condition=${condition} />
            ${spark && html`<${Course} of=${spark} />`}
        </div>
    </li>`;
}

/** Whom it is about. @param {{ rows: Affected[], number: number, desktops?: Record<string, string> }} properties */
function Names({ rows, number, desktops }) {
    /** @type {Map<string, number>} */
    const regions = new Map();
    for (const { region } of rows) if (region) regions.set(region, (regions.get(region) ?? 0) + 1);
    const [place, most] = [...regions].sort(([, one], [, other]) => other - one)[0] ?? [];
    const more = number - Math.min(rows.length, NAMES);
    return html`<p class="affected">
        ${rows.slice(0, NAMES).map(({ workSpId, username }) => html`<span key=${workSpId} class="one"><${CardLink} id=${workSpId} />${username && html` <span class="note"><${Text} text=${username} /></span>`}</span> `)}
        ${more > 0 && html`<a href=${href("desktops", undefined, { ...WHOLE_FLEET, ...desktops })}>and ${count(more)} more</a>`}
        ${most !== undefined && rows.length > 2 && regions.size > 1 && 2 * most > rows.length && html` <span class="note">${count(most)} of them in <${Text} text=${place} /></span>`}
    </p>`;
}

/** The one thing that helps. @param {{ condition: Described }} properties */
function Help({ condition: { act, desktops, to, count: number } }) {
    const [error, setError] = useState(/** @type {unknown} */ (undefined));
    if (desktops === undefined || act === undefined || !mayStart(act)) {
        const place = desktops ? { text: "Show the desktops", href: href("desktops", undefined, { ...WHOLE_FLEET, ...desktops }), scope: "read" } : to;
        return place && may(place.scope ?? "read") && html`<a class="button" href=${place.href}>${place.text}</a>`;
    }
    const ask = async () => {
        try {
            const ids = [];
            for await (const { columns } of pages("/query/workspaces", { ...desktops, format: "columns", fields: "workSpId", limit: PAGE })) ids.push(...columns.workSpId);
            askAction(act, ids);
        } catch (failed) {
            setError(failed);
        }
    };
    return html`<button type="button" class="primary" onClick=${() => void ask()}>${actionTitle(act)}${number !== null && number > 1 ? ` ${count(number)} desktops` : ""} …</button><${Problem} error=${error} />`;
}

/** @type {Record<"logons" | "records", { label: string, load: (signal: AbortSignal) => Promise<(number | null)[]> }>} */
const COURSES = {
    logons: { label: "95th percentile of logons by the hour, 24 h, s", load: async (signal) => (await get("/query/startup", { from: "-24h", step: "1h" }, signal)).rows.map((/** @type {any} */ { totalP95 }) => totalP95 && totalP95 / 1000) },
    records: { label: "Records by the hour, 24 h", load: async (signal) => (await get("/query/series", { metrics: "cpu", from: "-24h", step: "1h" }, signal)).rows.map((/** @type {any} */ { count }) => count) },
};

/** @param {{ of: "logons" | "records" }} properties */
function Course({ of }) {
    const { label, load } = COURSES[of];
    const course = useResource(`course ${of}`, load, { every: BEHIND_EVERY_MS });
    return course.data && html`<span class="course"><${Sparkline} values=${course.data} label=${label} width=${150} /> <span class="note">${label}</span></span>`;
}

/** What is fine, and since when. @param {{ fleet: any }} properties */
function Fine({ fleet }) {
    const since = useResource("fine since", fineSince, { on: changes });
    return html`<p class="fine"><${Sign} tone="good" glyph="✔"><b>All is well</b><//>${since.data && html` <span title=${time(since.data)}>since ${begun(since.data)}</span>`}</p>
        <ul class="checks">
            <li>No desktop is unhealthy or in error</li>
            <li>No running desktop stopped reporting; ${count(fleet.reporting15m)} of ${count(fleet.workSpaces)} reported in the last 15 minutes</li>
            <li>Logons take as long as usual, and no action failed in the last hour</li>
            <li>${host().kind === "server" ? "Disk, backup, certificate and queue are in order" : "The store is in order"}</li>
        </ul>`;
}

/** When the last condition was cleared, or since when at least there was none; as far as the events say. @param {AbortSignal} signal @returns {Promise<string | undefined>} */
async function fineSince(signal) {
    const { rows: newest } = await get("/query/events", { after: Number.MAX_SAFE_INTEGER, limit: 1 }, signal);
    const { rows } = await get("/query/events", { after: Math.max(0, (newest[0]?.id ?? 0) - EVENTS), limit: EVENTS }, signal);
    const cleared = rows.findLast((/** @type {any} */ { type }) => type === "condition.cleared");
    return cleared?.at ?? rows.find((/** @type {any} */ { type }) => type !== "resync")?.at;
}
