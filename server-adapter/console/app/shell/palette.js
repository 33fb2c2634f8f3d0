// The search over everything: desktops, users, pages, and what can be done, such as `reboot ws-1`.

import { get } from "../api.js";
import { openCard, palette } from "../asked.js";
import { Dialog } from "../parts/dialog.js";
import { State } from "../parts/state.js";
import { Text } from "../parts/text.js";
import { PAGES } from "../pages/index.js";
import { follow, href } from "../router.js";
import { may } from "../session.js";
import { html, useEffect, useId, useRef, useState } from "../vendor/preact.js";
import { commands, matches, spoken, verbs } from "./commands.js";
import { recent, remember } from "./recent.js";

const FOUND_MAX = 8;
const PAUSE_MS = 120;

export function Palette() {
    return html`<${Dialog} open=${palette.value} title="Search and commands" onClose=${close}><${Search} /><//>`;
}

function close() {
    palette.value = false;
}

/** @typedef {import("./recent.js").Choice} Choice */
/** @typedef {{ key: string, text: any, note: any, to?: string, choice?: Choice, stays?: boolean, run: () => void }} Found `to`: the page that Ctrl Enter opens; `stays`: the search goes on */
/** @typedef {{ workSpId: string, computerName: string | null, username: string | null, state: string | null }} Row */

/** @param {string} part */
function useDesktops(part) {
    const [found, setFound] = useState({ part: "", rows: /** @type {Row[]} */ ([]), note: "" });
    useEffect(() => {
        if (part === "" || !may("read")) return setFound({ part, rows: [], note: "" });
        const controller = new AbortController();
        const timer = setTimeout(async () => {
            try {
                const { rows } = await get("/query/workspaces", { q: part, limit: FOUND_MAX, fields: "workSpId,computerName,username,state" }, controller.signal);
                setFound({ part, rows, note: rows.length === 0 ? "No desktop has this in its id, computer name or user." : "" });
            } catch (error) {
                if (!controller.signal.aborted) setFound({ part, rows: [], note: error instanceof Error ? error.message : String(error) });
            }
        }, PAUSE_MS);
        return () => {
            clearTimeout(timer);
            controller.abort();
        };
    }, [part]);
    return found;
}

function Search() {
    const [text, setText] = useState("");
    const [chosen, setChosen] = useState("");
    const list = useId();
    const wanted = text.trim().toLowerCase();
    // The space after a verb says that a desktop follows.
    const said = spoken(text.trimStart().toLowerCase());
    const part = said?.rest ?? wanted;
    const { rows, note, part: answered } = useDesktops(part);
    const fresh = answered === part;
    const found = distinct(said ? objects(said.verb, rows) : wanted === "" ? [...lately(setText), ...verbsLike("", setText), ...pages("")] : called(wanted, rows.flatMap(results), [...verbsLike(wanted, setText), ...commandsLike(wanted), ...pages(wanted)]));
    const index = Math.max(0, found.findIndex(({ key }) => key === chosen));
    const id = (/** @type {number} */ at) => `${list}-${at}`;
    /** @param {Found} item @param {boolean} asPage */
    const take = (item, asPage) => {
        if (item.choice) remember(item.choice);
        if (item.stays) return item.run();
        close();
        if (asPage && item.to) follow(item.to);
        else item.run();
    };
    // Enter before the answer is there waits for it: a name is typed faster than it is found.
    const waits = useRef(false);
    useEffect(() => {
        if (!fresh || !waits.current) return;
        waits.current = false;
        if (found[0]) take(found[0], false);
    }, [fresh]);
    /** @param {KeyboardEvent} event */
    const pressed = (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        const item = found[index];
        if (step !== undefined) setChosen(found[(index + step + found.length) % Math.max(found.length, 1)]?.key ?? "");
        else if (event.key === "Escape") close();
        else if (event.key === "Enter" && (fresh || chosen !== "" || item?.text.toLowerCase?.() === wanted)) item && take(item, event.ctrlKey || event.metaKey);
        else if (event.key === "Enter") waits.current = true;
        else return;
        event.preventDefault();
    };
    useEffect(() => document.getElementById(id(index))?.scrollIntoView({ block: "nearest" }), [index]);
    return html`<input
            type="search"
            role="combobox"
            aria-label="Search desktops, users and pages, or type what to do"
            aria-expanded="true"
            aria-controls=${list}
            aria-activedescendant=${found.length > 0 ? id(index) : undefined}
            autofocus
            autocomplete="off"
            spellcheck=${false}
            placeholder="Name, machine, page, or reboot ws-1"
            value=${text}
            onInput=${(/** @type {any} */ event) => {
                waits.current = false;
                setChosen("");
                setText(event.target.value);
            }}
            onKeyDown=${pressed}
        />
        <ul id=${list} role="listbox" aria-label="Found" class="found">
            ${found.map(
                (item, at) => html`<li key=${item.key} id=${id(at)} role="option" aria-selected=${at === index} onClick=${(/** @type {MouseEvent} */ event) => take(item, event.ctrlKey || event.metaKey)}>
                    <span>${item.text}</span><span class="note">${item.note}</span>
                </li>`,
            )}
        </ul>
        <p class="note" role="status">${said && part === "" ? `${said.verb.title} which desktop? Type a part of its id, computer name or user.` : fresh && found.length > 0 && rows.length === 0 ? "" : note}</p>
        <p class="note hint"><kbd>Enter</kbd> ${said ? "shows what would happen" : "opens the card"} · <kbd>Ctrl Enter</kbd> the page · <kbd>Esc</kbd> closes</p>`;
}

/** What is called as it was typed comes before what has it in its name, and what begins with it before what has it within. @param {string} wanted @param {Found[]} desktops @param {Found[]} others */
function called(wanted, desktops, others) {
    const title = (/** @type {Found} */ { text }) => text.replace(/ …$/, "").toLowerCase();
    const within = others.filter((other) => title(other) !== wanted);
    const begins = (/** @type {Found} */ other) => title(other).startsWith(wanted);
    return [...others.filter((other) => title(other) === wanted), ...desktops, ...within.filter(begins), ...within.filter((other) => !begins(other))];
}

/** @param {Found[]} found */
function distinct(found) {
    const seen = new Set();
    return found.filter(({ key }) => !seen.has(key) && seen.add(key));
}

/** @param {string} id @param {string | null} [computerName] @param {any} [note] @returns {Found} */
const desktop = (id, computerName, note = "Desktop") => ({ key: `desktop ${id}`, to: href("desktop", id), choice: { kind: "desktop", id }, text: html`<${Text} text=${id} />${computerName && html` <span class="note"><${Text} text=${computerName} /></span>`}`, note, run: () => openCard({ id }) });
/** @param {string} id @returns {Found} */
const user = (id) => ({ key: `user ${id.toLowerCase()}`, to: href("user", id), choice: { kind: "user", id }, text: html`<${Text} text=${id} />`, note: "User", run: () => openCard({ user: id }) });

/** A desktop and its user. @param {Row} row @returns {Found[]} */
function results({ workSpId, computerName, username, state }) {
    const found = desktop(workSpId, computerName, html`<${State} state=${state} />`);
    return username ? [found, user(username)] : [found];
}

/** What a verb may be about. @param {import("./commands.js").Verb} verb @param {Row[]} rows @returns {Found[]} */
const objects = ({ name, title, run }, rows) =>
    rows.map(({ workSpId, computerName, username, state }) => ({
        key: `${name} ${workSpId}`,
        to: href("desktop", workSpId),
        choice: { kind: "desktop", id: workSpId },
        text: html`${title} <b><${Text} text=${workSpId} /></b> <span class="note"><${Text} text=${computerName} />${username && html`, <${Text} text=${username} />`}</span>`,
        note: html`<${State} state=${state} />`,
        run: () => run([workSpId]),
    }));

/** @param {import("./commands.js").Verb} verb @param {(text: string) => void} setText @returns {Found} */
const asVerb = ({ name, title }, setText) => ({ key: `verb ${name}`, choice: { kind: "verb", id: name }, stays: true, text: `${title} …`, note: "Action", run: () => setText(`${name} `) });
/** @param {import("./commands.js").Command} command @returns {Found} */
const asCommand = ({ name, title, run }) => ({ key: `command ${name}`, choice: { kind: "command", id: name }, text: title, note: "Command", run });
/** @param {import("../pages/index.js").Page} page @returns {Found} */
const asPage = ({ name, title }) => ({ key: `page ${name}`, to: href(name), choice: { kind: "page", id: name }, text: title, note: "Page", run: () => (location.hash = href(name)) });

const allowed = () => PAGES.filter(({ group, scope }) => group !== "" && may(scope));
const pages = (/** @type {string} */ wanted) => allowed().filter((page) => matches(wanted, page)).map(asPage);
const verbsLike = (/** @type {string} */ wanted, /** @type {(text: string) => void} */ setText) => verbs().filter((verb) => matches(wanted, { title: verb.title, words: verb.name })).map((verb) => asVerb(verb, setText));
const commandsLike = (/** @type {string} */ wanted) => commands().filter((command) => matches(wanted, command)).map(asCommand);

/** What was chosen last, as far as the key may do it. @param {(text: string) => void} setText @returns {Found[]} */
function lately(setText) {
    return recent.value.flatMap(({ kind, id }) => {
        if (kind === "desktop") return [desktop(id)];
        if (kind === "user") return [user(id)];
        if (kind === "page") return allowed().filter(({ name }) => name === id).map(asPage);
        if (kind === "verb") return verbs().filter(({ name }) => name === id).map((verb) => asVerb(verb, setText));
        return commands().filter(({ name }) => name === id).map(asCommand);
    });
}
