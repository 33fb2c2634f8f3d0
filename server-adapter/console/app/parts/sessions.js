// Sessions are keys that the console had issued: their names say whose they are, in which browser, and since when.

/** The name of the key of a session. @param {string} person @param {string} browser @param {Date} since */
export const sessionName = (person, browser, since) => `${person === "" ? "" : `${person}, `}${browser}, console ${since.toISOString()}`;

/** As above; `console TIME` is the name of the key for a link of the server, with a number where another has the same time. */
const NAME = /^(?:(?:(.*), )?([^,]+), )?console \d{4}-\d\d-\d\dT[\d:.]+Z(?: \d)?$/;

/** Who signed in, and where, if a key is that of a session. @param {string} name @returns {{ person: string, browser: string } | undefined} */
export function sessionOf(name) {
    const parts = NAME.exec(name);
    return parts === null ? undefined : { person: parts[1] ?? "", browser: parts[2] ?? "" };
}

const BROWSERS = [["Edg/", "Edge"], ["OPR/", "Opera"], ["Firefox/", "Firefox"], ["Chrome/", "Chrome"], ["Safari/", "Safari"]];
const SYSTEMS = [["Windows", "Windows"], ["iPhone", "iPhone"], ["iPad", "iPad"], ["Android", "Android"], ["Mac OS", "macOS"], ["CrOS", "ChromeOS"], ["Linux", "Linux"]];

/** The browser as people call it, without commas. @param {string} agent */
export function browserName(agent) {
    const [browser, system] = [BROWSERS, SYSTEMS].map((names) => names.find(([part]) => agent.includes(part))?.[1]);
    return [browser ?? "Browser", system].filter(Boolean).join(" on ");
}
