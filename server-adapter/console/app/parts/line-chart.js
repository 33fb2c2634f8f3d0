// Values over time as lines, with their numbers beside them: in the readout at the pointer or the arrow keys, in a table, as CSV.

import { DAY_MS, time, utcDay } from "../format.js";
import { utc } from "../preferences.js";
import { html, signal, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { DataTable } from "./data-table.js";
import { setRange, shownPage } from "./range.js";
import { exact, numberTicks, timeTicks, withUnit } from "./scale.js";

/**
 * @typedef {{ name: string, label: string, tone: number }} Series member of the rows, what it is called, and 1–4 for `--series-N`:
 * the same for the same thing everywhere (1 processor, 2 memory)
 * @typedef {{ at: string } & Record<string, any>} Row a step; null, and a step that is missing, are a gap
 * @typedef {object} LineChartProperties
 * @property {string} title
 * @property {readonly Row[]} rows oldest first
 * @property {readonly Series[]} series drawn with a pattern by their order
 * @property {string} [unit] `%`, `ms`, `s`, `B`, `B/s` or another word
 * @property {number} [max] end of the axis; without it that of the greatest value
 * @property {number} [from] of the axis, in ms; without it the first step
 * @property {number} [to] of the axis, in ms; without it the end of the last step
 * @property {number} [step] in seconds; without it that of the first two rows
 * @property {{ low: string, high: string, label?: string }} [band] members of the rows between which is shaded
 * @property {{ name: string, label: string }} [amount] of what the values of a step are made: read out and in the table, not drawn
 * @property {number} [height] in pixels
 * @property {number} [inset] pixels before the plot, at least
 * @property {string} [file] name of the CSV
 * @property {{ at: number, label: string }} [threshold] a value to stay below
 * @property {readonly Mark[]} [marks] what was done, oldest first
 * @property {(from: number, to: number, row: Row) => void} [open] shows what is behind a step
 */

/** @typedef {{ at: number, text: string, tone: string, glyph: string }} Mark something that happened; `at` in ms */

/** The time at which a chart of the page is read: the others show it as well. @type {import("../vendor/preact.js").Signal<number | undefined>} */
export const cross = signal(/** @type {number | undefined} */ (undefined));
/** Pixels from which a movement is a selection. */
const DRAG_PX = 6;
/** Pixels between two marks. */
const MARK_PX = 12;

/** What a band is called. */
const BAND = "min–max";
const TOP = 8;
const BOTTOM = 22;
/** Pixels of a character of a tick. */
const CHARACTER = 6.6;

/** The width of an element, as it changes. @returns {[import("../vendor/preact.js").Ref<any>, number]} */
export function useWidth() {
    const element = useRef(/** @type {HTMLElement | null} */ (null));
    const [width, setWidth] = useState(0);
    useLayoutEffect(() => {
        if (element.current === null) return;
        const observer = new ResizeObserver(([{ contentRect }]) => setWidth(Math.floor(contentRect.width)));
        observer.observe(element.current);
        return () => observer.disconnect();
    }, []);
    return [element, width];
}

/** @param {LineChartProperties} properties */
export function LineChart(properties) {
    const { title, rows, series, unit = "", band, amount, file } = properties;
    const [asTable, setAsTable] = useState(false);
    const [chosen, setChosen] = useState(/** @type {number | undefined} */ (undefined));
    return html`<figure class="chart">
        <figcaption>
            <strong>${title}</strong>
            <button type="button" class="quiet" onClick=${() => setAsTable(!asTable)}>${asTable ? "Show as chart" : "Show as table"}</button>
            <span class="keys">
                ${series.map(
                    ({ name, label, tone }, index) => html`<span key=${name} class="key">
                        <${Key} index=${index} tone=${tone} />
                        ${label}
                    </span>`,
                )}
                ${band && html`<span class="key"><svg width="22" height="10" aria-hidden="true" class=${`series-${series[0]?.tone}`}><rect class="band" width="22" height="10" /></svg> ${band.label ?? BAND}</span>`}
            </span>
        </figcaption>
        ${asTable ? html`<${Numbers} title=${title} rows=${rows} series=${series} unit=${unit} band=${band} amount=${amount} file=${file} />` : html`<${Plot} ...${properties} unit=${unit} chosen=${chosen} choose=${setChosen} />`}
    </figure>`;
}

/** The line of a series, beside its name. @param {{ index: number, tone: number }} properties */
function Key({ index, tone }) {
    return html`<svg width="22" height="10" aria-hidden="true" class=${`series-${tone}`}><path class=${`line dash-${index}`} d="M1 5H21" /></svg>`;
}

/** @param {{ title: string, rows: Row[], series: Series[], unit: string, band?: { low: string, high: string }, amount?: { name: string, label: string }, file?: string }} properties */
function Numbers({ title, rows, series, unit, band, amount, file = title.toLowerCase().replaceAll(/\W+/g, "-") }) {
    const column = (/** @type {string} */ name, /** @type {string} */ label) => ({ name, title: unit === "" ? label : `${label}, ${unit}`, number: true, show: (/** @type {Row} */ row) => exact(row[name]) });
    const columns = [{ name: "at", title: utc.value ? "Time (UTC)" : "Time", show: (/** @type {Row} */ row) => time(row.at) }, ...series.map(({ name, label }) => column(name, label))];
    for (const name of band ? [band.low, band.high] : []) if (!series.some((each) => each.name === name)) columns.push(column(name, name === band?.low ? "min" : "max"));
    if (amount) columns.push({ ...column(amount.name, ""), title: amount.label });
    return html`<${DataTable} caption=${title} columns=${columns} rows=${rows} rowKey=${(/** @type {Row} */ row) => row.at} file=${file} />`;
}

/** @param {LineChartProperties & { unit: string, chosen: number | undefined, choose: (index: number | undefined) => void }} properties */
function Plot({ title, rows, series, unit, max, from, to, step, band, amount, height = 170, inset = 0, threshold, marks = [], open, chosen, choose }) {
    // A chart that is gone is not read any more.
    useEffect(() => () => void (cross.value = undefined), []);
    const [dragged, drag] = useState(/** @type {[number, number] | undefined} */ (undefined));
    const [frame, width] = useWidth();
    const clip = useId();
    const times = useMemo(() => rows.map(({ at }) => Date.parse(at)), [rows]);
    const stepMs = step ? step * 1000 : (times[1] ?? 0) - times[0] || 60_000;
    const names = [...series.map(({ name }) => name), ...(band ? [band.high] : [])];
    if (!rows.some((row) => names.some((name) => (row[name] ?? null) !== null))) return html`<div class="plot" ref=${frame}><p class="note no-data">No data in this time range.</p></div>`;
    // Steps of days are those of UTC, also on an axis of another zone.
    const inDays = stepMs >= DAY_MS;
    const when = (/** @type {string | number | undefined} */ at) => (inDays && at !== undefined ? `${utcDay(at)} (UTC)` : time(at));
    const begin = Math.min(from ?? Infinity, times[0]);
    // Nothing is known of what comes.
    const end = Math.max(to ?? Math.min(times[times.length - 1] + stepMs, Date.now()), times[times.length - 1], begin + 1);
    const ticks = numberTicks(max ?? Math.max(0, ...rows.flatMap((row) => names.map((name) => row[name] ?? 0))), 4, unit);
    const texts = ticks.map((tick) => (tick === 0 ? "0" : withUnit(tick, unit).replace(/\.0 /, " ")));
    const top = ticks.at(-1) ?? 1;
    const left = Math.max(inset, Math.ceil(Math.max(...texts.map(({ length }) => length)) * CHARACTER) + 8);
    const x = (/** @type {number} */ at) => left + ((at - begin) / (end - begin)) * Math.max(width - left - 1, 1);
    const y = (/** @type {number} */ value) => TOP + (1 - Math.min(value, top) / top) * (height - TOP - BOTTOM);
    const point = (/** @type {string} */ name) => (/** @type {number} */ index) => {
        const value = rows[index][name] ?? null;
        return value === null ? null : `${x(times[index]).toFixed(1)} ${y(value).toFixed(1)}`;
    };
    const runs = runsOf(times, stepMs);
    const nearest = (/** @type {number} */ at) => times.reduce((best, each, index) => (Math.abs(each - at) < Math.abs(times[best] - at) ? index : best), 0);
    const chooseAt = (/** @type {number | undefined} */ index) => {
        cross.value = index === undefined ? undefined : times[index];
        choose(index);
    };
    /** The time at a pointer. @param {PointerEvent} event */
    const timeAt = (event) => {
        const place = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
        return begin + Math.min(Math.max((event.clientX - place.left) / place.width, 0), 1) * (end - begin);
    };
    /** @param {PointerEvent} event */
    const pointed = (event) => {
        const at = timeAt(event);
        chooseAt(nearest(at));
        if (event.type === "pointerdown" && event.button === 0) {
            /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
            drag([at, at]);
        } else if (dragged !== undefined && event.buttons === 1) drag([dragged[0], at]);
    };
    const zooms = shownPage()?.range !== undefined;
    /** A selection becomes the range; a click shows what is behind a step. @param {[number, number] | undefined} selection @param {number} index */
    const act = (selection, index) => {
        drag(undefined);
        if (selection === undefined || Math.abs(x(selection[1]) - x(selection[0])) < DRAG_PX) open?.(times[index], times[index] + stepMs, rows[index]);
        else if (zooms) setRange(Math.min(...selection), Math.max(...selection));
    };
    const shared = cross.value;
    const read = chosen ?? (shared === undefined || shared < begin || shared > end ? undefined : nearest(shared));
    const during = (/** @type {number} */ index) => marks.filter(({ at }) => at >= times[index] && at < times[index] + stepMs);
    return html`<div class="plot" ref=${frame}>
        ${width > 0 && html`<svg role="img" aria-label=${summary(title, rows, series, unit, when)} width=${width} height=${height}>
                <clipPath id=${clip}><rect x=${left} y="0" width=${Math.max(width - left, 0)} height=${height} /></clipPath>
                ${ticks.map((tick, index) => html`<g key=${tick}><path class="grid" d=${`M${left} ${y(tick)}H${width}`} /><text x=${left - 6} y=${y(tick) + 4} text-anchor="end">${texts[index]}</text></g>`)}
                ${timeTicks(begin, end, (width - left) / 76, inDays || undefined).map(({ at, text }) => html`<g key=${at}><path class="grid" d=${`M${x(at)} ${height - BOTTOM}v4`} /><text x=${Math.min(Math.max(x(at), left + 16), width - 18)} y=${height - 5} text-anchor="middle">${text}</text></g>`)}
                <g clip-path=${`url(#${clip})`}>
                    ${band && html`<path class=${`band series-${series[0]?.tone}`} d=${areas(runs, point(band.low), point(band.high))} />`}
                    ${series.map(({ name, tone }, index) => html`<path key=${name} class=${`line series-${tone} dash-${index}`} d=${lines(runs, point(name))} />`)}
                </g>
                ${threshold && threshold.at <= top && html`<path class="threshold" d=${`M${left} ${y(threshold.at)}H${width}`} /><text class="threshold-text" x=${left + 4} y=${y(threshold.at) - 4}>${threshold.label}</text>`}
                ${apart(marks.filter(({ at }) => at >= begin && at <= end), x).map(({ at, text, tone, glyph }, index) => html`<g key=${index} class=${`event tone-${tone}`}><path d=${`M${x(at)} ${TOP}V${height - BOTTOM}`} /><text x=${x(at)} y=${TOP + 4} text-anchor="middle">${glyph}<title>${`${time(at)}: ${text}`}</title></text></g>`)}
                ${dragged && html`<rect class="selection" x=${Math.min(...dragged.map(x))} y=${TOP} width=${Math.abs(x(dragged[1]) - x(dragged[0]))} height=${height - TOP - BOTTOM} />`}
                ${read !== undefined && rows[read] && html`<path class="cross" d=${`M${x(times[read])} ${TOP}V${height - BOTTOM}`} />
                    ${series.map(({ name, tone }) => (rows[read][name] ?? null) !== null && html`<circle key=${name} class=${`series-${tone}`} cx=${x(times[read])} cy=${y(rows[read][name])} r="3.5" />`)}`}
            </svg>
            <${Reader} title=${title} left=${left} count=${rows.length} chosen=${chosen} choose=${chooseAt} pointed=${pointed} dragged=${dragged} drag=${drag} act=${act} at=${(/** @type {number} */ index) => times[index]}
                text=${(/** @type {number} */ index) => `${spoken(rows[index], series, unit, when)}${during(index).map(({ text }) => `; ${text}`).join("")}`} />`}
        ${chosen !== undefined && rows[chosen] && html`<dl class="readout" aria-hidden="true" style=${beside(x(times[chosen]), width)}>
            <dt class="all">${when(rows[chosen].at)}</dt>
            ${series.map(({ name, label, tone }, index) => html`<dt key=${name}><${Key} index=${index} tone=${tone} /> ${label}</dt><dd>${withUnit(rows[chosen][name], unit)}</dd>`)}
            ${band && html`<dt>${band.label ?? BAND}</dt><dd>${(rows[chosen][band.low] ?? null) === null ? "no data" : `${withUnit(rows[chosen][band.low], unit)} – ${withUnit(rows[chosen][band.high], unit)}`}</dd>`}
            ${amount && html`<dt>${amount.label}</dt><dd>${exact(rows[chosen][amount.name])}</dd>`}
            ${during(chosen).slice(0, 4).map(({ text, glyph }, index) => html`<dt key=${index} class="all">${glyph} ${text}</dt>`)}
        </dl>`}
    </div>`;
}

/** Marks that would lie on each other as one. @param {readonly Mark[]} marks oldest first @param {(at: number) => number} x @returns {Mark[]} */
function apart(marks, x) {
    /** @type {(Mark & { number: number })[]} */
    const placed = [];
    for (const mark of marks) {
        const last = placed.at(-1);
        if (last === undefined || x(mark.at) - x(last.at) >= MARK_PX) placed.push({ ...mark, number: 1 });
        else Object.assign(last, { number: last.number + 1, text: `${last.text.replace(/ and \d+ more$/, "")} and ${last.number} more`, ...(mark.tone === "bad" ? { tone: mark.tone, glyph: mark.glyph } : {}) });
    }
    return placed;
}

/** Where the readout stands: beside the line at `x`, on a narrow chart at the other edge. @param {number} x @param {number} width */
function beside(x, width) {
    if (width < 420) return x > width / 2 ? { left: "0" } : { right: "0" };
    return x > width / 2 ? { right: `${width - x + 10}px` } : { left: `${x + 10}px` };
}

/**
 * Reads the steps of a chart one by one: with the pointer, or as a slider with the keys. Shift and the arrow keys select what Enter makes the range,
 * as the pointer does by dragging; Enter without a selection opens what is behind a step.
 * @param {{ title: string, left: number, count: number, chosen: number | undefined, choose: (index: number | undefined) => void, pointed: (event: PointerEvent) => void, text: (index: number) => string,
 *   at: (index: number) => number, dragged: [number, number] | undefined, drag: (selection: [number, number] | undefined) => void, act: (selection: [number, number] | undefined, index: number) => void }} properties
 */
function Reader({ title, left, count, chosen, choose, pointed, text, at, dragged, drag, act }) {
    const shown = Math.min(chosen ?? count - 1, count - 1);
    /** @param {KeyboardEvent} event */
    const pressed = (event) => {
        const far = Math.max(Math.round(count / 10), 1);
        const to = { ArrowLeft: shown - 1, ArrowDown: shown - 1, ArrowRight: shown + 1, ArrowUp: shown + 1, PageDown: shown - far, PageUp: shown + far, Home: 0, End: count - 1 }[event.key];
        if (event.key === "Escape") {
            if (dragged === undefined) choose(undefined);
            drag(undefined);
        }
        if (event.key === "Enter") act(dragged, shown);
        if (to === undefined) return;
        event.preventDefault();
        drag(event.shiftKey ? [dragged?.[0] ?? at(shown), at(Math.min(Math.max(to, 0), count - 1))] : undefined);
        choose(Math.min(Math.max(to, 0), count - 1));
    };
    return html`<div
        class="reader"
        style=${{ left: `${left}px` }}
        role="slider"
        tabindex="0"
        aria-label=${`${title}: values at a time`}
        aria-valuemin="0"
        aria-valuemax=${count - 1}
        aria-valuenow=${shown}
        aria-valuetext=${text(shown)}
        onKeyDown=${pressed}
        onFocus=${() => choose(shown)}
        onBlur=${() => (drag(undefined), choose(undefined))}
        onPointerMove=${pointed}
        onPointerDown=${pointed}
        onPointerUp=${(/** @type {PointerEvent} */ event) => event.button === 0 && act(dragged, shown)}
        onPointerCancel=${() => drag(undefined)}
        onPointerLeave=${(/** @type {PointerEvent} */ event) => document.activeElement !== event.currentTarget && choose(undefined)}
    ></div>`;
}

/** Indexes of steps that follow each other without one missing. @param {number[]} times @param {number} stepMs @returns {number[][]} */
function runsOf(times, stepMs) {
    /** @type {number[][]} */
    const runs = [];
    times.forEach((at, index) => {
        if (index > 0 && at - times[index - 1] <= stepMs * 1.5) runs[runs.length - 1].push(index);
        else runs.push([index]);
    });
    return runs;
}

/** Lines through the points there are; one alone is a dot. @param {number[][]} runs @param {(index: number) => string | null} point */
function lines(runs, point) {
    let path = "";
    for (const run of runs) {
        let open = false;
        run.forEach((index, place) => {
            const here = point(index);
            const next = place + 1 < run.length ? point(run[place + 1]) : null;
            if (here !== null) path += open ? `L${here}` : next === null ? `M${here}h.01` : `M${here}`;
            open = here !== null;
        });
    }
    return path;
}

/** Areas between two lines, where both have a value. @param {number[][]} runs @param {(index: number) => string | null} low @param {(index: number) => string | null} high */
function areas(runs, low, high) {
    let path = "";
    /** @type {number[]} */
    let part = [];
    const close = () => {
        if (part.length > 1) path += `M${part.map(low).join("L")}L${part.reverse().map(high).join("L")}Z`;
        part = [];
    };
    for (const run of runs) {
        for (const index of run) {
            if (low(index) === null || high(index) === null) close();
            else part.push(index);
        }
        close();
    }
    return path;
}

/** @param {Row} row @param {readonly Series[]} series @param {string} unit @param {(at: string) => string} when */
const spoken = (row, series, unit, when) => `${when(row.at)}: ${series.map(({ name, label }) => `${label} ${withUnit(row[name], unit)}`).join(", ")}`;

/** The chart in a sentence. @param {string} title @param {readonly Row[]} rows @param {readonly Series[]} series @param {string} unit @param {(at: string) => string} when */
function summary(title, rows, series, unit, when) {
    if (rows.length === 0) return `${title}: no data.`;
    const parts = series.map(({ name, label }) => {
        const values = rows.map((row) => row[name]).filter((value) => typeof value === "number");
        if (values.length === 0) return `${label} without data`;
        return `${label} from ${withUnit(Math.min(...values), unit)} to ${withUnit(Math.max(...values), unit)}, at last ${withUnit(values.at(-1), unit)}`;
    });
    return `${title}, ${when(rows[0].at)} to ${when(rows[rows.length - 1].at)}: ${parts.join("; ")}.`;
}
