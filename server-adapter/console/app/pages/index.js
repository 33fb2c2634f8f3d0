// The pages, in the order of the menu. A page is a module whose `default` is its component; it is loaded when it is first shown.

/**
 * @typedef {object} Page
 * @property {string} name in the address
 * @property {string} title
 * @property {string} group heading in the menu; a page without one is opened from others
 * @property {string} scope that the key needs, or several of which it needs one
 * @property {string} [range] the range of time that stands for no choice, such as `-7d`; a page without one is about now
 * @property {readonly string[]} [parts] members of the scope by which it can be asked, none for a page of the whole fleet; absent where the fleet is not the question
 * @property {() => Promise<{ default: () => any }>} load
 */

const PARTS = ["region", "computeTypeName"];
const ALL_PARTS = [...PARTS, "directoryId"];

/** @type {Page[]} */
export const PAGES = [
    { name: "overview", title: "Overview", group: "Fleet", scope: "read", parts: [], load: () => import("./overview.js") },
    { name: "desktops", title: "Desktops", group: "Fleet", scope: "read", parts: ALL_PARTS, load: () => import("./desktops.js") },
    { name: "desktop", title: "Desktop", group: "", scope: "read", range: "-7d", load: () => import("./desktop.js") },
    { name: "user", title: "Users", group: "Fleet", scope: "read", parts: [], load: () => import("./user.js") },
    { name: "holds", title: "Holds", group: "Fleet", scope: "read audit", parts: ALL_PARTS, load: () => import("./holds.js") },
    { name: "logons", title: "Logons", group: "Insight", scope: "read", range: "-7d", parts: PARTS, load: () => import("./logons.js") },
    { name: "activity", title: "Activity", group: "Insight", scope: "read", range: "-28d", parts: [], load: () => import("./activity.js") },
    { name: "processes", title: "Processes", group: "Insight", scope: "read", range: "-24h", parts: [], load: () => import("./processes.js") },
    { name: "advice", title: "Advice", group: "Insight", scope: "read", range: "-28d", parts: ALL_PARTS, load: () => import("./advice.js") },
    { name: "audit", title: "Actions and audit", group: "Operation", scope: "read audit", range: "-365d", parts: [], load: () => import("./audit.js") },
    { name: "keys", title: "Keys", group: "Operation", scope: "admin", load: () => import("./keys.js") },
    { name: "store", title: "Store", group: "Operation", scope: "read", load: () => import("./store.js") },
    { name: "import", title: "Import", group: "Operation", scope: "read", load: () => import("./import.js") },
    { name: "export", title: "Export", group: "Operation", scope: "read", range: "-7d", load: () => import("./export.js") },
    { name: "api", title: "API", group: "Operation", scope: "read", load: () => import("./api.js") },
];
