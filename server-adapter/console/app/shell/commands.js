// What the search can do besides finding: actions on a desktop that is named after them, and commands.

import { host } from "../api.js";
import { askAction, askHold, askRelease, help, person } from "../asked.js";
import { ACTIONS } from "../parts/actions.js";
import { theme, utc } from "../preferences.js";
import { go } from "../router.js";
import { may, mayStart, signOut } from "../session.js";

/** @typedef {{ name: string, title: string, may: () => boolean, run: (ids: string[]) => void }} Verb `name` is what is typed before the desktop */
/** @typedef {{ name: string, title: string, words?: string, may?: () => boolean, run: () => void }} Command `words` find it too */

/** @type {Verb[]} */
const VERBS = [
    ...ACTIONS.map(({ name, title }) => ({ name: title.toLowerCase(), title, may: () => mayStart(name), run: (/** @type {string[]} */ ids) => askAction(name, ids) })),
    { name: "hold", title: "Place a hold on", may: () => may("admin"), run: askHold },
    { name: "release", title: "Release the hold on", may: () => may("admin"), run: askRelease },
];

/** @type {Command[]} */
const COMMANDS = [
    { name: "dark", title: "Dark theme", words: "colours", run: () => (theme.value = "dark") },
    { name: "light", title: "Light theme", words: "colours", run: () => (theme.value = "light") },
    { name: "system", title: "System theme", words: "colours auto", run: () => (theme.value = "auto") },
    { name: "utc", title: "Times in UTC", words: "zone", may: () => !utc.value, run: () => (utc.value = true) },
    { name: "local", title: "Times in the zone of this browser", words: "local utc", may: () => utc.value, run: () => (utc.value = false) },
    { name: "issue", title: "Issue a key", words: "new api issue key", may: () => may("admin"), run: () => go("keys", undefined, { issue: "1" }) },
    { name: "holds", title: "Place holds on a list of desktops", words: "litigation matter", may: () => may("admin"), run: () => askHold([]) },
    { name: "name", title: "Change your name", words: "person requester", run: () => (person.value = true) },
    { name: "help", title: "Help and keys", words: "shortcuts keyboard", run: () => (help.value = true) },
    { name: "out", title: "Sign out", words: "log off end session", may: () => host().kind === "server", run: () => void signOut() },
];

export const verbs = () => VERBS.filter((verb) => verb.may());
export const commands = () => COMMANDS.filter((command) => command.may?.() ?? true);

/** The verb at the begin of a text, and what follows it; the longest if there are several. @param {string} text in lower case @returns {{ verb: Verb, rest: string } | undefined} */
export function spoken(text) {
    const [verb] = verbs()
        .filter(({ name }) => text.startsWith(`${name} `))
        .sort((one, other) => other.name.length - one.name.length);
    return verb && { verb, rest: text.slice(verb.name.length).trim() };
}

/** Whether each word of a text begins a word of the title or of the others. @param {string} text in lower case @param {{ title: string, words?: string }} of */
export function matches(text, { title, words = "" }) {
    const all = `${title} ${words}`.toLowerCase().split(/\s+/);
    return text.split(/\s+/).every((part) => all.some((word) => word.startsWith(part)));
}
