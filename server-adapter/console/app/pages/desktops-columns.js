// The columns of the table of all desktops.

import { NONE, ago, decimal, duration, look, time } from "../format.js";
import { ACTIONS } from "../parts/actions.js";
import { CpuLine } from "../parts/cpu-line.js";
import { Level } from "../parts/level.js";
import { State } from "../parts/state.js";
import { Text } from "../parts/text.js";
import { href } from "../router.js";
import { html } from "../vendor/preact.js";

const HOURS_24 = 24 * 3600 * 1000;

/** @typedef {import("../fleet.js").Field} Field */
/** @typedef {import("../columns.js").Value} Value */
/** @typedef {import("../parts/virtual-table.js").Column & { card?: boolean }} Column those of the cards of narrow screens are marked */

/** @param {import("../columns.js").Value} value */
const text = (value) => html`<${Text} text=${value} />`;
/** @param {string | null} to @param {Value} value */
const link = (to, value) => (to === null ? NONE : html`<a tabindex="-1" href=${to}>${text(value)}</a>`);

/** @param {any} state @param {any} transition @param {boolean} onHold */
function stateWith(state, transition, onHold) {
    const title = ACTIONS.find(({ name }) => name === transition)?.title ?? transition ?? "";
    // `Rebooting` says it already.
    const said = look(state).label.startsWith(title.slice(0, 5));
    return html`<${State} state=${state} />${!said && html` <span class="note" title=${title}>${title}</span>`}${onHold && html` <span class="tag" title="On litigation hold">Hold</span>`}`;
}

/** @param {import("../fleet.js").Fleet} fleet @param {{ value: number }} minute the time, for what depends on it @returns {Column[]} */
export function desktopColumnsOf({ columns }, minute) {
    const of = (/** @type {Field} */ name, /** @type {number} */ row) => /** @type {any} */ (columns[name].get(row));
    const plain = (/** @type {Field} */ name, /** @type {string} */ title, /** @type {number} */ width) => ({ name, title, width, show: (/** @type {number} */ row) => text(of(name, row)), text: (/** @type {number} */ row) => String(of(name, row) ?? "") });
    /** A figure, marked where it is not of now. @param {number} row @param {string} shown */
    const figure = (row, shown) => (of("asOf", row) === null || shown === NONE ? shown : html`<span class="past" title=${`as of ${time(of("asOf", row))}`}>${shown}</span>`);
    const part = (/** @type {Field} */ name, /** @type {string} */ title) => ({
        name,
        title,
        width: 84,
        number: true,
        show: (/** @type {number} */ row) => (of("asOf", row) === null ? html`<${Level} value=${of(name, row)} text=${decimal(of(name, row))} />` : figure(row, decimal(of(name, row)))),
    });
    const desktop = (/** @type {number} */ row) => href("desktop", of("workSpId", row));
    const user = (/** @type {number} */ row) => (of("username", row) ? href("user", of("username", row)) : null);
    const reports = (/** @type {number} */ row) => columns.lastSeen.values[row] > Date.now() - HOURS_24;
    return [
        { name: "workSpId", title: "Id", width: 132, card: true, to: desktop, show: (row) => link(desktop(row), of("workSpId", row)) },
        { name: "state", title: "State", width: 170, card: true, show: (row) => stateWith(of("state", row), of("transition", row), of("onHold", row)) },
        { name: "username", title: "User", width: 120, card: true, to: user, show: (row) => link(user(row), of("username", row)) },
        plain("computerName", "Computer", 150),
        { ...part("cpu", "CPU %"), width: 84, card: true },
        { name: "cpuLine", title: "CPU, 24 h", width: 106, fixed: true, show: (row) => (reports(row) ? html`<${CpuLine} id=${of("workSpId", row)} minute=${minute.value} />` : NONE) },
        part("memory", "Memory %"),
        { name: "lastSeen", title: "Last seen", width: 98, number: true, show: (row) => html`<span title=${time(of("lastSeen", row))}>${ago(of("lastSeen", row), Date.now())}</span>` },
        { name: "onHold", title: "Hold", width: 58, show: (row) => of("onHold", row) === true && html`<span class="tag">Hold</span>` },
        plain("runningMode", "Running mode", 118),
        plain("computeTypeName", "Compute type", 140),
        plain("region", "Region", 118),
        plain("directoryId", "Directory", 118),
        part("rootVolume", "Root %"),
        part("userVolume", "User volume %"),
        { name: "uptimeSeconds", title: "Up", width: 96, number: true, show: (row) => figure(row, duration(of("uptimeSeconds", row) === null ? null : of("uptimeSeconds", row) * 1000)) },
    ];
}
