// What each condition is called, whom it is about, and what helps.

import { count } from "../format.js";
import { href } from "../router.js";

/** @typedef {import("../../../../wasm/js/types.js").Condition} Condition */

/**
 * `desktops` filters those it is about, and `act` is the action on them that helps; `to` is the page that says more, with the scope it needs.
 * @typedef {object} Kind
 * @property {string} group
 * @property {(number: string, isOne: boolean) => string} title
 * @property {Record<string, string>} [desktops]
 * @property {string} [act]
 * @property {{ text: string, href: string, scope?: string }} [to]
 * @property {"logons" | "records"} [spark] the series that shows it
 */

const store = { text: "Open Store", href: href("store") };
/** AVAILABLE desktops that reported within a week, and do so no longer. */
const SILENT = { state: "AVAILABLE", asOf: "gt.-7d" };
const running = { text: "Show the running actions", href: href("audit", undefined, { tab: "running" }) };
const desktops = (/** @type {boolean} */ isOne) => (isOne ? "desktop" : "desktops");
const actions = (/** @type {boolean} */ isOne) => (isOne ? "action" : "actions");

/** @type {Record<string, Kind>} */
const KINDS = {
    DesktopsUnhealthy: { group: "Desktops", title: (number, isOne) => `${number} ${desktops(isOne)} unhealthy or in error`, desktops: { state: "in.UNHEALTHY,ERROR" }, act: "RecoveryRebootWorkSpace" },
    DesktopsSilent: { group: "Desktops", title: (number, isOne) => `${number} ${desktops(isOne)} stopped reporting`, desktops: SILENT, act: "RebootWorkSpace", spark: "records" },
    FleetSilent: { group: "Desktops", title: (number, isOne) => `Much of the fleet is silent: ${number} ${desktops(isOne)} stopped reporting`, desktops: SILENT, spark: "records" },
    LogonsSlow: { group: "Desktops", title: () => "Logons are slow", to: { text: "Show which phase", href: href("logons", undefined, { from: "-24h" }) }, spark: "logons" },
    ActionsUnattended: { group: "Actions", title: (number, isOne) => `${number} ${actions(isOne)} not begun by a provider`, to: running },
    ActionsStalled: { group: "Actions", title: (number, isOne) => `${number} ${actions(isOne)} without an end for 2 hours`, to: running },
    ActionsFailed: { group: "Actions", title: (number, isOne) => `${number} ${actions(isOne)} failed in the last hour`, to: { text: "Show the failures", href: href("audit", undefined, { result: "Failed" }) } },
    KeysExpire: { group: "Server", title: (number, isOne) => `${number} ${isOne ? "key expires" : "keys expire"} within 7 days`, to: { text: "Open Keys", href: href("keys"), scope: "admin" } },
    QueueLong: { group: "Server", title: () => "Telemetry waits too long to be processed", to: store },
    FilingFailed: { group: "Server", title: () => "Telemetry cannot be processed", to: store },
    RetentionBehind: { group: "Server", title: () => "Old telemetry is not removed in time", to: store },
    MaintenanceFailing: { group: "Server", title: () => "Upkeep of the store fails", to: store },
    LowDisk: { group: "Server", title: () => "The disk is nearly full", to: store },
    FileDisplaced: { group: "Server", title: () => "The file of the store was removed or replaced", to: store },
    Corrupted: { group: "Server", title: () => "A part of the store is damaged", to: store },
    StorageUnavailable: { group: "Server", title: () => "The store cannot be read or written", to: store },
    ClockBehind: { group: "Server", title: () => "The clock of the server is behind", to: store },
    BackupOld: { group: "Server", title: () => "The newest backup is old", to: store },
    CertificateExpires: { group: "Server", title: () => "The certificate expires soon", to: store },
    ConnectionsRefused: { group: "Server", title: () => "Connections are refused", to: store },
    ReceiversFailing: { group: "Server", title: () => "A webhook is not delivered", to: store },
};

/** One that this console does not know is called by its code: `LowDisk` is `Low disk`. @param {Condition} condition @returns {Kind} */
const kindOf = ({ code }) => KINDS[code] ?? { group: "Server", title: () => code.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`), to: store };

/** How a severity looks. @type {Record<string, { glyph: string, tone: string, label: string }>} */
const SEVERITIES = {
    critical: { glyph: "✖", tone: "bad", label: "Critical" },
    warning: { glyph: "▲", tone: "warn", label: "Warning" },
    info: { glyph: "●", tone: "busy", label: "Notice" },
};

/** A condition with what is said and done about it. @param {Condition} condition */
export function described(condition) {
    const { title, ...kind } = kindOf(condition);
    return { ...condition, ...kind, title: title(count(condition.count), condition.count === 1), look: SEVERITIES[condition.severity] ?? SEVERITIES.info };
}

/** @typedef {ReturnType<typeof described>} Described */

/** The conditions in groups. They come worst first: so do the groups. @param {readonly Condition[]} conditions */
export function grouped(conditions) {
    /** @type {Map<string, Described[]>} */
    const groups = new Map();
    for (const condition of conditions.map(described)) groups.set(condition.group, [...(groups.get(condition.group) ?? []), condition]);
    return [...groups];
}
