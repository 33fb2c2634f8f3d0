// The search over everything: pages, desktops and users.

import { get } from "../api.js";
import { Dialog } from "../parts/dialog.js";
import { State } from "../parts/state.js";
import { PAGES } from "../pages/index.js";
import { href } from "../router.js";
import { may } from "../session.js";
import { html, signal, useEffect, useId, useState } from "../vendor/preact.js";

const FOUND_MAX = 8;
const PAUSE_MS = 120;

/** Whether it is shown. */
export const palette = signal(false);

export function Palette() {
    return html`<${Dialog} open=${palette.value} title="Search" onClose=${close}><${Search} /><//>`;
}

function close() {
    palette.value = false;
}

/** @typedef {{ key: string, to: string, text: string, note: any }} Found */

function Search() {
    const [text, setText] = useState("");
    const [desktops, setDesktops] = useState(/** @type {Found[]} */ ([]));
    const [chosen, setChosen] = useState(0);
    const [note, setNote] = useState("");
    const list = useId();
    const wanted = text.trim().toLowerCase();
    useEffect(() => {
        setChosen(0);
        if (wanted === "") return setDesktops([]);
        const controller = new AbortController();
        const timer = setTimeout(async () => {
            try {
                const { rows } = await get("/query/workspaces", { q: wanted, limit: FOUND_MAX, fields: "workSpId,computerName,username,state" }, controller.signal);
                setDesktops(rows.flatMap(results));
                setNote(rows.length === 0 ? "No desktop has this in its id, computer name or user." : "");
            } catch (error) {
                if (!controller.signal.aborted) setNote(error instanceof Error ? error.message : String(error));
            }
        }, PAUSE_MS);
        return () => {
            clearTimeout(timer);
            controller.abort();
        };
    }, [wanted]);
    const pages = PAGES.filter(({ group, scope, title }) => group !== "" && may(scope) && title.toLowerCase().includes(wanted));
    const seen = new Set();
    const found = [...desktops, ...pages.map(({ name, title }) => ({ key: `page ${name}`, to: href(name), text: title, note: "Page" }))].filter(({ key }) => !seen.has(key) && seen.add(key));
    const id = (/** @type {number} */ index) => `${list}-${index}`;
    /** @param {KeyboardEvent} event */
    const pressed = (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step !== undefined) {
            event.preventDefault();
            setChosen((chosen + step + found.length) % Math.max(found.length, 1));
        } else if (event.key === "Enter" && found[chosen] !== undefined) {
            event.preventDefault();
            location.hash = found[chosen].to;
            close();
        }
    };
    return html`<input
            type="search"
            role="combobox"
            aria-label="Search desktops, users and pages"
            aria-expanded="true"
            aria-controls=${list}
            aria-activedescendant=${found.length > 0 ? id(chosen) : undefined}
            autofocus
            spellcheck="false"
            value=${text}
            onInput=${(/** @type {any} */ event) => setText(event.target.value)}
            onKeyDown=${pressed}
        />
        <ul id=${list} role="listbox" aria-label="Found" class="found">
            ${found.map(
                ({ key, to, text, note }, index) => html`<li key=${key} id=${id(index)} role="option" aria-selected=${index === chosen} onClick=${() => ((location.hash = to), close())}>
                    <span>${text}</span><span class="note">${note}</span>
                </li>`,
            )}
        </ul>
        <p class="note" role="status">${note}</p>`;
}

/** A desktop and its user. @param {{ workSpId: string, computerName: string | null, username: string | null, state: string | null }} row @returns {Found[]} */
function results({ workSpId, computerName, username, state }) {
    const desktop = { key: `desktop ${workSpId}`, to: href("desktop", workSpId), text: `${workSpId}${computerName ? `  ${computerName}` : ""}`, note: html`<${State} state=${state} />` };
    return username ? [desktop, { key: `user ${username.toLowerCase()}`, to: href("user", username), text: username, note: "User" }] : [desktop];
}
