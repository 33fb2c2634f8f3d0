// Signing in, what a session may do, and the list of sessions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browserName, sessionName, sessionOf } from "../../../server-adapter/console/app/parts/sessions.js";
import { consoleTest } from "./consoles.mjs";

const SERVER = { transports: ["server"] };
const says = (page, selector, text) => page.waitForFunction((selector, text) => document.querySelector(selector)?.textContent.includes(text), {}, selector, text);

test("name_of_a_session_says_whose_it_is_and_where", () => {
    const since = new Date("2026-11-27T22:00:00Z");
    for (const person of ["Ada", "Lovelace, Ada", ""]) {
        assert.deepEqual(sessionOf(sessionName(person, "Firefox on Linux", since)), { person, browser: "Firefox on Linux" });
    }
    // Those of links of the server.
    for (const name of ["console 2026-11-27T22:00:00Z", "console 2026-11-27T22:00:00Z 2"]) assert.deepEqual(sessionOf(name), { person: "", browser: "" });
    for (const name of ["admin", "console", "a console 2026-11-27T22:00:00Z", "console 2026-11-27T22:00:00Z backup"]) assert.equal(sessionOf(name), undefined, name);
    for (const [agent, expected] of [
        ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
        ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0", "Edge on Windows"],
        ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15", "Safari on macOS"],
        ["", "Browser"],
    ]) assert.equal(browserName(agent), expected);
});

/** Signs in at the page for it. @param {import("puppeteer-core").Page} page */
async function signIn(page, { key, name, task = "" }) {
    await page.waitForSelector("input[name=key]");
    await page.locator("input[name=key]").fill(key);
    await page.locator("input[name=name]").fill(name);
    await page.select("select[name=task]", task);
    await page.locator("form button").click();
    await page.waitForSelector("main#main h1");
}

/** A tab that no other lends its session. */
async function alone(opened, url) {
    const page = await opened();
    await page.evaluateOnNewDocument(() => void (globalThis.BroadcastChannel = class extends EventTarget { postMessage() {} close() {} }));
    await page.goto(url);
    return page;
}

const sessionKey = (page) => page.evaluate(() => JSON.parse(Object.entries(sessionStorage).find(([name]) => name.startsWith("deskfleet.session"))[1]));

consoleTest("sessions_are_listed_by_person_and_browser_and_the_others_of_a_person_revoked", async ({ opened, key, url, request }) => {
    const first = await alone(opened, url);
    await signIn(first, { key, name: "Ada" });
    const other = await alone(opened, url);
    await signIn(other, { key, name: "Ada" });
    const bob = await alone(opened, url);
    await signIn(bob, { key, name: "Bob", task: "helpdesk" });
    await first.bringToFront();
    await first.evaluate(() => void (location.hash = "#/keys"));
    await says(first, "main", "Sessions");
    await says(first, "main", "Bob");
    const tables = await first.$$eval("table.data", (all) => all.map(({ textContent }) => textContent));
    assert.ok(!tables[0].includes("console 2") && /Ada.*(Chrome|Firefox) on Linux/.test(tables[1]), tables.join("\n"));
    await first.evaluate(() => [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "Revoke all my other sessions").click());
    await says(first, ".notices", "1 other session of Ada revoked");
    const { keys } = await request("GET", "/operator/keys");
    const active = keys.filter(({ revoked, name }) => revoked === null && name.includes(", console ")).map(({ name }) => name.split(",")[0]);
    // The third is the session of the link, of a person who gave no name.
    assert.deepEqual(active.sort().map((who) => who.replace(/^\w+ on/, "a browser on")), ["Ada", "Bob", "a browser on Linux"]);
    assert.equal((await request("GET", "/query/key", { key: (await sessionKey(first)).key })).scopes[0], "admin");
    await other.reload();
    await other.waitForSelector(".sign-in");
}, { ...SERVER, troubles: /401|Failed to load/ });

consoleTest("session_for_the_help_desk_has_the_rights_of_its_task_and_no_others", async ({ opened, key, url, request, passesAxe }) => {
    const page = await alone(opened, url);
    await signIn(page, { key, name: "Ada", task: "helpdesk" });
    const session = await sessionKey(page);
    const info = await request("GET", "/query/key", { key: session.key });
    assert.deepEqual([info.scopes, info.actions.length], [["read", "act"], 3]);
    const hours = (Date.parse(info.expires) - Date.now()) / 3_600_000;
    assert.ok(hours > 11.9 && hours <= 12, `${hours} hours`);
    assert.match(info.name, /^Ada, (Chrome|Firefox) on Linux, console \d/);
    assert.equal((await page.$$eval("nav a", (all) => all.map(({ textContent }) => textContent))).some((text) => text.includes("Keys")), false);
    await page.evaluate(() => [...document.querySelectorAll(".settings button")].at(-1).click());
    await says(page, ".sign-in [role=status]", "You are signed out. The key of the session is not kept anywhere, and expires at");
    assert.equal(await page.$(".sign-in .problem"), null, "it is no problem");
    await passesAxe();
}, SERVER);

consoleTest("sign_out_ends_the_session_in_all_tabs_and_says_so", async ({ page, open }) => {
    const second = await open();
    await page.evaluate(() => [...document.querySelectorAll(".settings button")].at(-1).click());
    await says(second, ".sign-in [role=status]", "You signed out in another tab.");
    await says(page, ".sign-in [role=status]", "You are signed out.");
}, { ...SERVER, troubles: /401|Failed to load/ });

consoleTest("auditor_opens_the_audit_and_the_holds_and_is_told_what_the_key_may_do", async ({ opened, key, url, request, load }) => {
    await load([{ workSpId: "ws-1", state: "AVAILABLE", username: "jdoe" }]);
    await request("PUT", "/operator/workspaces/ws-1/litigation-hold", { json: { matter: "Matter 7" } });
    const page = await alone(opened, url);
    await signIn(page, { key, name: "Ada", task: "auditor" });
    await says(page, "main", "This key lacks the permission read.");
    await says(page, "main", "It may open: Holds, Actions and audit.");
    assert.deepEqual(await page.$$eval("#menu a", (links) => links.map(({ textContent }) => textContent)), ["Holds", "Actions and audit"]);
    await page.evaluate(() => [...document.querySelectorAll("main a")].find(({ textContent }) => textContent === "Holds").click());
    await says(page, "main table", "Matter 7");
    await page.evaluate(() => void (location.hash = "#/audit?action=PlaceLitigationHold"));
    await says(page, "main table", "ws-1");
    // It asks for nothing that the key may not read: no stream of events, no scope of the fleet.
    assert.equal(await page.$(".live"), null);
    const posting = await alone(opened, url);
    const { key: ingest } = await request("POST", "/operator/keys", { json: { name: "agents", scopes: ["ingest"] } });
    await posting.locator("input[name=key]").fill(ingest);
    await posting.locator("form button").click();
    await says(posting, "main", "This key may only post telemetry");
}, { ...SERVER, troubles: /403/ });

consoleTest("link_that_signs_in_names_the_session_after_who_used_the_browser", async ({ page, request, show }) => {
    const { name } = await request("GET", "/query/key");
    assert.match(name, /^(Chrome|Firefox) on Linux, console \d{4}-/);
    await show("#/keys");
    await says(page, "main", "on Linux");
}, SERVER);
