// What happened to one desktop, over time: its states and holds as bars, calls and use as marks.

import { duration, look, time } from "../format.js";
import { html } from "../vendor/preact.js";
import { cross, useWidth } from "./line-chart.js";
import { timeTicks } from "./scale.js";
import { held, states } from "./states.js";
import { visible } from "./text.js";

/** @typedef {import("./states.js").TimelineRow} TimelineRow @typedef {import("./states.js").Span} Span */

/** How the kinds of rows look. @type {Record<string, { glyph: string, tone: string, title: string }>} */
export const KINDS = {
    state: { glyph: "●", tone: "good", title: "States" },
    audit: { glyph: "◆", tone: "busy", title: "Actions" },
    hold: { glyph: "▣", tone: "care", title: "Holds" },
    activity: { glyph: "│", tone: "off", title: "Activity" },
    startup: { glyph: "▲", tone: "warn", title: "Logons" },
};

const LANE = 26;
const BAR = 18;
const AXIS = 20;
/** The place of the plot, also of the charts below it. */
export const LEFT = 56;
/** Pixels of a character in a bar. */
const CHARACTER = 7.5;

/** A call that was not carried out. @param {TimelineRow} row */
export const isRefused = ({ kind, detail }) => (kind === "audit" || kind === "hold") && /^(Refused|Failed|Cancelled)/.test(detail ?? "");

/** @param {{ rows: readonly TimelineRow[], from: number, to: number, state: string | null | undefined, onHold: boolean, chosen: TimelineRow | undefined, since: number, choose: (row: TimelineRow) => void }} properties */
export function Timeline({ rows, from, to, since, state, onHold, chosen, choose }) {
    const [frame, width] = useWidth();
    const x = (/** @type {number} */ at) => LEFT + ((at - from) / Math.max(to - from, 1)) * Math.max(width - LEFT - 1, 1);
    const stateSpans = states(rows, state, from, to, since);
    const holdSpans = held(rows, onHold, from, to);
    const of = (/** @type {string[]} */ ...kinds) => rows.filter(({ kind }) => kinds.includes(kind));
    const lanes = [
        { title: "State", spans: stateSpans, marks: [] },
        { title: "Hold", spans: holdSpans, marks: of("hold").filter(isRefused) },
        { title: "Actions", spans: [], marks: of("audit") },
        { title: "Activity", spans: [], marks: of("activity", "startup") },
    ].filter(({ title, spans, marks }) => title === "State" || spans.length + marks.length > 0);
    const height = lanes.length * LANE + AXIS;
    const ticks = timeTicks(from, to, (width - LEFT) / 76);
    return html`<div class="plot lanes" ref=${frame}>
        ${width > 0 &&
        html`<svg role="img" aria-label=${summary(stateSpans, holdSpans, rows, from, to)} width=${width} height=${height}>
            ${ticks.map(({ at, text }) => html`<g key=${at}><path class="grid" d=${`M${x(at)} 0V${height - AXIS + 4}`} /><text x=${Math.min(Math.max(x(at), LEFT + 16), width - 18)} y=${height - 5} text-anchor="middle">${text}</text></g>`)}
            ${[chosen && Date.parse(chosen.at), cross.value].map((at) => at !== undefined && at >= from && at <= to && html`<path class="cross" d=${`M${x(at)} 0V${height - AXIS}`} />`)}
            ${lanes.map(
                ({ title, spans, marks }, lane) => html`<g key=${title} transform=${`translate(0 ${lane * LANE})`}>
                    <text x="0" y="17">${title}</text>
                    ${spans.map((span) => html`<${Bar} key=${span.from} span=${span} x=${x} hold=${title === "Hold"} />`)}
                    ${marks.map((row, index) => html`<${Mark} key=${index} row=${row} x=${x(Date.parse(row.at))} choose=${choose} />`)}
                </g>`,
            )}
        </svg>`}
    </div>`;
}

/** A span with its name, where there is room for it. @param {{ span: Span, x: (at: number) => number, hold: boolean }} properties */
function Bar({ span: { from, to, name }, x, hold }) {
    const { glyph, tone, label } = name === "" ? { glyph: "", tone: "", label: "not known" } : hold ? { ...KINDS.hold, label: name } : look(name);
    const text = `${glyph} ${visible(label)}`;
    const begin = x(from);
    const width = Math.max(x(to) - begin, 2);
    const shown = text.length * CHARACTER + 8 < width ? text : CHARACTER + 8 < width ? glyph : "";
    return html`<g>
        <title>${`${visible(label)}, ${time(from)} to ${time(to)} (${duration(to - from)})`}</title>
        <rect class=${name === "" ? "unknown" : `tone-${tone}`} x=${begin} y="3" width=${width} height=${BAR} />
        ${shown && html`<text class=${name === "" ? "" : "in-bar"} x=${begin + 5} y="16">${shown}</text>`}
    </g>`;
}

/** @param {{ row: TimelineRow, x: number, choose: (row: TimelineRow) => void }} properties */
function Mark({ row, x, choose }) {
    const { kind, at, title, detail, by } = row;
    const { glyph, tone } = isRefused(row) ? { glyph: "✖", tone: "bad" } : KINDS[kind];
    return html`<g class=${`tone-${tone}`}>
        <text class="mark" x=${x} y="17" text-anchor="middle" onClick=${() => choose(row)}>${glyph}<title>${visible([time(at), title, detail, by].filter(Boolean).join(" · "))}</title></text>
    </g>`;
}

/** The lanes in a sentence. @param {Span[]} states @param {Span[]} holds @param {readonly TimelineRow[]} rows @param {number} from @param {number} to */
function summary(states, holds, rows, from, to) {
    /** @type {Map<string, number>} */
    const shares = new Map();
    for (const { name, from: begin, to: end } of states) shares.set(name, (shares.get(name) ?? 0) + end - begin);
    const had = [...shares].map(([name, length]) => `${name === "" ? "not known" : visible(look(name).label)} for ${duration(length)}`).join(", ");
    const number = (/** @type {string} */ kind) => rows.filter((row) => row.kind === kind).length;
    return `${time(from)} to ${time(to)}: ${had || "no state known"}; ${holds.length > 0 ? "on hold; " : ""}${number("audit")} actions, ${number("activity")} activities, ${number("startup")} logons. The list below has each.`;
}
