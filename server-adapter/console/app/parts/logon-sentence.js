// One logon against the fleet, in a sentence: how long, the phase that was slow, what is usual.

import { get } from "../api.js";
import { ago, duration } from "../format.js";
import { html } from "../vendor/preact.js";

/** One step that holds any range: the next ends in 2079. */
const WHOLE = "20000d";
/** A logon that takes as many times the fleet's median is slow, and one that takes less than this is not. */
const TIMES = 2;
const LEAST_MS = 10_000;

/** @type {[phase: "profile" | "groupPolicy" | "shell" | "unattributed", title: string][]} */
const PHASES = [
    ["profile", "the profile"],
    ["groupPolicy", "group policy"],
    ["shell", "the shell"],
    ["unattributed", "none of the phases"],
];

/** Quantiles of all logons of a range, `totalP50` and the like; none where there were none. @param {string} from @param {AbortSignal} signal @returns {Promise<Record<string, any>>} */
export async function fleetLogons(from, signal) {
    const { rows } = await get("/query/startup", { from, step: WHOLE }, signal);
    return rows.at(-1) ?? {};
}

/** The phase that took longest beyond the fleet's median. @param {import("./logons.js").Logon} logon @param {Record<string, any>} fleet */
function slowest(logon, fleet) {
    const of = (/** @type {string} */ phase) => /** @type {any} */ (logon)[`${phase}Ms`] ?? 0;
    const beyond = (/** @type {string} */ phase) => of(phase) - (fleet[`${phase}P50`] ?? 0);
    const [phase, title] = PHASES.reduce((best, each) => (beyond(each[0]) > beyond(best[0]) ? each : best));
    return { title, ms: of(phase) };
}

/** @param {{ logon: import("./logons.js").Logon | undefined, fleet: Record<string, any>, now: number, days: number }} properties */
export function LogonSentence({ logon, fleet, now, days }) {
    if (logon?.totalMs === undefined) return html`<span class="note">No logon was reported in ${days} days.</span>`;
    const median = fleet.totalP50 ?? null;
    const slow = logon.totalMs >= LEAST_MS && median !== null && logon.totalMs > TIMES * median;
    const { title, ms } = slowest(logon, fleet);
    const whole = `Logon ${duration(logon.totalMs)}`;
    return html`${slow ? html`<span class="level warn"><span class="glyph" aria-hidden="true">△</span> <b>${whole}</b> <small>slow</small></span>` : html`<b>${whole}</b>`}${ms > 0 && `, ${duration(ms)} of it ${title}`}${median !== null && `; fleet median ${duration(median)}`}. <span class="note">${ago(logon.at, now)}</span>`;
}
