// The pages, in the order of the menu. A page is a module whose `default` is its component; `more.js` has those that are loaded after the overview.

/**
 * @typedef {object} Page
 * @property {string} name in the address
 * @property {string} title
 * @property {string} group heading in the menu; a page without one is opened from others
 * @property {string} scope that the key needs, or several of which it needs one
 * @property {string} [range] the range of time that stands for no choice, such as `-7d`; a page without one is about now
 * @property {readonly string[]} [parts] members of the scope by which it can be asked, none for a page of the whole fleet; absent where the fleet is not the question
 */

const PARTS = ["region", "computeTypeName"];
const ALL_PARTS = [...PARTS, "directoryId"];

/** @type {Page[]} */
export const PAGES = [
    { name: "overview", title: "Overview", group: "Fleet", scope: "read", parts: [] },
    { name: "desktops", title: "Desktops", group: "Fleet", scope: "read", parts: ALL_PARTS },
    { name: "desktop", title: "Desktop", group: "", scope: "read", range: "-7d" },
    { name: "user", title: "Users", group: "Fleet", scope: "read", parts: [] },
    { name: "holds", title: "Holds", group: "Fleet", scope: "read audit", parts: ALL_PARTS },
    { name: "logons", title: "Logons", group: "Insight", scope: "read", range: "-7d", parts: PARTS },
    { name: "activity", title: "Activity", group: "Insight", scope: "read", range: "-28d", parts: [] },
    { name: "processes", title: "Processes", group: "Insight", scope: "read", range: "-24h", parts: [] },
    { name: "advice", title: "Advice", group: "Insight", scope: "read", range: "-28d", parts: ALL_PARTS },
    { name: "audit", title: "Actions and audit", group: "Operation", scope: "read audit", range: "-365d", parts: [] },
    { name: "keys", title: "Keys", group: "Operation", scope: "admin" },
    { name: "store", title: "Store", group: "Operation", scope: "read" },
    { name: "import", title: "Import", group: "Operation", scope: "read" },
    { name: "export", title: "Export", group: "Operation", scope: "read", range: "-7d" },
    { name: "api", title: "API", group: "Operation", scope: "read" },
];
