// The users of the desktops: found by any part of their names while it is typed.

import { pages } from "../api.js";
import { ago, count, time } from "../format.js";
import { DataTable } from "../parts/data-table.js";
import { UserLink } from "../parts/links.js";
import { Loaded } from "../parts/problem.js";
import { State } from "../parts/state.js";
import { useResource } from "../resource.js";
import { go, href, route, setQuery } from "../router.js";
import { html, useEffect, useRef, useState } from "../vendor/preact.js";

const TYPING_MS = 150;
const EVERY_MS = 60_000;
/** Pages of desktops that are read: what is typed may be in many ids, and in few names. */
const PAGES = 4;
const PAGE = 500;

/** @typedef {{ username: string, desktops: number, lastSeen: string | null, state: string | null }} User the state is that of the only desktop */

/** @param {string} part @param {AbortSignal} signal @returns {Promise<{ users: User[], more: boolean }>} */
async function load(part, signal) {
    /** @type {Map<string, User>} */
    const users = new Map();
    let left = PAGES;
    let more = false;
    for await (const { rows, hasMore } of pages("/query/workspaces", { q: part, sort: "username,workSpId", limit: PAGE, fields: "username,state,lastSeen" }, signal)) {
        for (const { username, state, lastSeen } of rows) {
            const key = username?.toLowerCase() ?? "";
            if (key === "" || !key.includes(part)) continue;
            const known = users.get(key);
            if (known === undefined) users.set(key, { username, desktops: 1, lastSeen, state });
            else Object.assign(known, { desktops: known.desktops + 1, state: null, lastSeen: (known.lastSeen ?? "") > (lastSeen ?? "") ? known.lastSeen : lastSeen });
        }
        more = hasMore;
        if (--left === 0) break;
    }
    return { users: [...users.values()], more };
}

/** @type {import("../parts/data-table.js").Column<User>[]} */
const COLUMNS = [
    { name: "username", title: "User", show: ({ username }) => html`<${UserLink} name=${username} />` },
    { name: "desktops", title: "Desktops", number: true, show: ({ desktops, username }) => (desktops === 1 ? "1" : html`<a href=${href("desktops", undefined, { q: username })}>${count(desktops)}</a>`) },
    { name: "state", title: "State", show: ({ state, desktops }) => (desktops === 1 ? html`<${State} state=${state} />` : html`<span class="note">several</span>`) },
    { name: "lastSeen", title: "Desktop reported", number: true, show: ({ lastSeen }) => html`<span title=${time(lastSeen)}>${ago(lastSeen, Date.now())}</span>` },
];

export function Users() {
    const { q = "" } = route.value.query;
    const [text, setText] = useState(q);
    const field = useRef(/** @type {HTMLInputElement | null} */ (null));
    useEffect(() => field.current?.focus(), []);
    const typing = useRef(0);
    useEffect(() => {
        typing.current = window.setTimeout(() => text.trim() !== q && setQuery({ q: text.trim() || undefined }, "q"), TYPING_MS);
        return () => clearTimeout(typing.current);
    }, [text]);
    const part = q.toLowerCase().replace(/^.*\\/, "");
    const found = useResource(`users ${part}`, (signal) => load(part, signal), { every: EVERY_MS, on: ({ type }) => type === "import.committed" });
    /** @param {SubmitEvent} event */
    const submit = (event) => {
        event.preventDefault();
        // The address of the user would be replaced by that of the search.
        clearTimeout(typing.current);
        const wanted = text.trim();
        // The only one that is found is meant; else the whole name, which telemetry may know without a desktop.
        const only = part === wanted.toLowerCase() && found.data?.users.length === 1 ? found.data.users[0].username : wanted;
        if (only !== "") go("user", only);
    };
    return html`<div class="head"><h1>Users</h1></div>
        <form class="row" role="search" onSubmit=${submit}>
            <input ref=${field} type="search" name="username" aria-label="Search by a part of the name" placeholder="A part of the name" autocomplete="off" spellcheck=${false} value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} />
            <button class="primary">Show</button>
            <span class="note">Domain optional, not case-sensitive.</span>
        </form>
        <${Loaded} of=${found}>${(/** @type {{ users: User[], more: boolean }} */ { users, more }) => html`
            ${more && html`<p class="note">The first ${count(users.length)}: type more of the name to find others.</p>`}
            <${DataTable} caption="Users" columns=${COLUMNS} rows=${users} most=${100} sort="username" rowKey=${(/** @type {User} */ { username }) => username.toLowerCase()} file="users" empty=${part === "" ? "No desktop has a user." : "No desktop's user has this in the name."} />`}<//>`;
}
