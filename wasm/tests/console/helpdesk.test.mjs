// The home and the help desk: what needs attention, the card of a desktop, commands of the search, the list of users.

import assert from "node:assert/strict";
import { consoleTest } from "./consoles.mjs";

const DESKTOP = { computerName: "DESK-1", username: "jlarsen", state: "AVAILABLE", runningMode: "AUTO_STOP", computeTypeName: "STANDARD", region: "eu-central-1" };
const desktops = (number, more = {}) => Array.from({ length: number }, (_, index) => ({ ...DESKTOP, workSpId: `ws-${String(index).padStart(3, "0")}`, computerName: `DESK-${index}`, username: `user${index}`, ...more }));
const minutes = (number) => new Date(Date.now() - number * 60_000).toISOString();

const says = (page, text, selector = "main#main") => page.waitForFunction((text, selector) => document.querySelector(selector)?.textContent.includes(text), {}, text, selector);
const textOf = (page, selector) => page.$eval(selector, (element) => element.textContent);
const press = (page, text, within = "main#main") => page.locator(`::-p-xpath(//*[${within === "dialog" ? "self::dialog" : "@id='main'"}]//button[contains(normalize-space(), "${text}")])`).click();
const closed = (page) => page.waitForFunction(() => document.querySelector("dialog[open]") === null);

async function search(page, text) {
    await page.keyboard.down("Control");
    await page.keyboard.press("k");
    await page.keyboard.up("Control");
    await page.waitForSelector("dialog[open] [role=combobox]");
    await page.keyboard.type(text);
}

/** A key of the help desk signs in. @param {any} given @param {object} more of the key */
async function signInWith({ page, request, fill }, more) {
    const { key } = await request("POST", "/operator/keys", { json: { name: `desk ${Math.random()}`, scopes: ["read", "act"], ...more } });
    await page.evaluate(() => [...document.querySelectorAll(".settings button")].at(-1).click());
    await fill("input[name=key]", key);
    await page.keyboard.press("Enter");
    await page.waitForSelector("main#main h1");
}

consoleTest("conditions_are_ranked_and_name_who_is_affected_and_what_helps", async ({ page, load, request, doubleClick, passesAxe }) => {
    await load([...desktops(3, { state: "ERROR", region: "us-east-1" }), { ...DESKTOP, workSpId: "ws-well" }, { ...DESKTOP, workSpId: "ws-west", state: "UNHEALTHY", region: "us-west-2" }]);
    await says(page, "4 desktops unhealthy or in error");
    const condition = () => textOf(page, ".condition");
    await says(page, "3 of them in us-east-1", ".condition");
    for (const part of ["Warning", "since", "ws-000", "user0"]) assert.ok((await condition()).includes(part), await condition());
    assert.ok(!(await condition()).includes("ws-well"));
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    await press(page, "Recovery reboot 4 desktops");
    await says(page, "will reboot on another host", "dialog[open]");
    assert.match(await textOf(page, "dialog[open] h2"), /Recovery reboot 4 desktops/);
    await page.keyboard.press("Escape");
    await closed(page);
    // A name opens the card, over the home.
    await doubleClick(".condition .affected a", () => says(page, "No telemetry", "dialog.drawer[open]"));
    assert.equal(await page.evaluate(() => location.hash.replace(/^#\/overview|^$/, "")), "");
    await page.keyboard.press("Escape");
    await closed(page);
    const { rows } = await request("GET", "/query/conditions");
    assert.deepEqual(await page.$$eval(".condition h4", (all) => all.length), rows.length);
});

consoleTest("home_of_a_fleet_without_conditions_says_what_is_fine", async ({ page, load, passesAxe }) => {
    await says(page, "The fleet is empty");
    await says(page, "Get started");
    await passesAxe();
    await load(desktops(5));
    await says(page, "All is well");
    await page.waitForFunction(() => /since \d\d:\d\d/.test(document.querySelector(".fine").textContent));
    await says(page, "No desktop is unhealthy or in error");
    await passesAxe();
});

consoleTest("home_says_what_following_the_advice_saves", async ({ page, load, report, request, show, passesAxe }) => {
    // Nothing is called unused before it has been known for a week.
    await report(desktops(3).map(({ workSpId: instanceId }) => ({ stats: { instanceId, updatetime: minutes(9 * 24 * 60), processorInUse: 1 } })));
    await load(desktops(3, { runningMode: "ALWAYS_ON" }));
    // It counts what is filed.
    let sum = 0;
    for (let tries = 0; sum === 0 && tries < 100; tries++) {
        await new Promise((done) => setTimeout(done, 300));
        const { rows } = await request("GET", "/query/advice/totals", { query: { from: "-30d" } });
        sum = rows.reduce((sum, { savingPerMonth }) => sum + (savingPerMonth ?? 0), 0);
    }
    assert.ok(sum > 0);
    await show("#/holds");
    await show("#/overview", "#savings");
    await page.waitForFunction((sum) => document.querySelector("#savings")?.textContent.includes(`Save up to ${sum} a month`), {}, sum.toFixed(0));
    await page.waitForFunction(() => /Unused.*3/s.test(document.querySelector(".totals")?.textContent ?? ""));
    await passesAxe();
}, { transports: ["server"], arguments: ["--set", "cost.prices=STANDARD 35 9.75 0.30"] });

consoleTest("latest_actions_show_a_batch_as_one_line_no_keys_and_no_updates", async ({ page, load, request, passesAxe }) => {
    await load([...desktops(6), { ...DESKTOP, workSpId: "ws-stopped", state: "STOPPED" }, { ...DESKTOP, workSpId: "ws-alone", state: "STOPPED" }]);
    await request("POST", "/operator/keys", { json: { name: "another", scopes: ["read"] } });
    await request("POST", "/api/Actions/StartWorkSpace", { query: { workSpaceId: "ws-stopped", requester: "Ada" } });
    await request("POST", "/operator/actions", { json: { action: "RebootWorkSpace", workSpaceIds: [...desktops(6).map(({ workSpId }) => workSpId), "ws-none"], requester: "Grace" } });
    // As the inventory reports desktops that stop and start by themselves.
    for (let turn = 0; turn < 10; turn++) await load(Array.from({ length: 30 }, (_, number) => ({ ...DESKTOP, workSpId: `ws-auto-${number}`, state: turn % 2 ? "STOPPED" : "AVAILABLE" })));
    await request("POST", "/operator/actions", { json: { action: "StartWorkSpace", workSpaceIds: ["ws-alone"], requester: "Edsger" } });
    await says(page, "7 desktops", ".latest");
    await says(page, "Start ws-stopped", ".latest");
    await says(page, "1 failed", ".latest");
    // A batch of one names its desktop.
    await page.waitForFunction(() => [...document.querySelectorAll(".latest li")].some(({ textContent }) => /Start ws-alone.*Edsger/s.test(textContent)));
    const lines = await page.$$eval(".latest li", (all) => all.map(({ textContent }) => textContent));
    assert.match(lines[0], /Reboot.*7 desktops.*1 failed.*Grace/s, "failures are first");
    assert.equal(lines.filter((line) => line.includes("Reboot")).length, 1, lines.join("\n"));
    assert.equal(lines.filter((line) => line.includes("Import")).length, 1, lines.join("\n"));
    assert.ok(!lines.some((line) => /key|update/i.test(line)), lines.join("\n"));
    await passesAxe();
});

consoleTest("card_opens_by_three_letters_with_values_logon_and_events", async ({ page, load, report, request, passesAxe }) => {
    await load([{ ...DESKTOP, workSpId: "ws-1" }, { ...DESKTOP, workSpId: "ws-2", computerName: "DESK-2", state: "STOPPED" }, { ...DESKTOP, workSpId: "ws-3", computerName: "DESK-3", username: "other" }]);
    await report([
        { stats: { instanceId: "ws-1", username: "jlarsen", updatetime: minutes(1), processorInUse: 97, physicalMemory: 100, availablePhysicalMemory: 15, rootTotal: 100, rootAvailable: 60 } },
        ...[1, 2, 3].map((number) => ({ startup: { instanceId: "ws-3", username: "other", baselineUtc: minutes(60 * number + 200), profileMs: 3000, groupPolicyMs: 3000, shellMs: 1000, totalMs: 8000 } })),
        { startup: { instanceId: "ws-1", username: "jlarsen", baselineUtc: minutes(90), profileMs: 12_000, groupPolicyMs: 47_000, shellMs: 8000, totalMs: 72_000 } },
        { activity: { instanceId: "ws-1", username: "jlarsen", activity: "Logon", activityTime: minutes(90) } },
    ]);
    await request("PUT", "/operator/workspaces/ws-1/litigation-hold", { json: { matter: "Matter 7" } });
    await search(page, "jla");
    // Enter before the answer is there opens what is found.
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog.drawer[open] .values");
    const hash = await page.evaluate(() => location.hash);
    assert.ok(hash === "" || hash === "#/overview", hash);
    for (const part of ["97.0 % high", "85.0 % high", "Matter 7", "Logon 1 min 12 s", "47.0 s of it group policy", "fleet median", "Available", "DESK-1", "Reported 1 min ago"]) await says(page, part, "dialog.drawer[open]");
    assert.ok((await page.$$("dialog.drawer[open] .events li")).length >= 3);
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    // The other desktop of the user is a click away.
    await press(page, "ws-2", "dialog");
    await says(page, "Start …", "dialog.drawer[open]");
    await says(page, "No telemetry", "dialog.drawer[open]");
    await press(page, "Start …", "dialog");
    await page.waitForFunction(() => document.querySelectorAll("dialog[open]").length === 2);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelectorAll("dialog[open]").length === 1);
    await page.keyboard.press("Escape");
    await closed(page);
    await page.setViewport({ width: 320, height: 640 });
    await search(page, "DESK-1");
    await page.waitForFunction(() => document.querySelector("[role=option]")?.textContent.includes("ws-1"));
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog.drawer[open] .events");
    assert.ok(await page.$eval("dialog.drawer", ({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth), "the card fits 320 pixels");
    await page.locator("::-p-xpath(//dialog//a[contains(., \"Open the desktop's page\")])").click();
    await page.waitForFunction(() => location.hash === "#/desktop/ws-1" && document.querySelector("dialog[open]") === null);
});

consoleTest("card_marks_values_of_the_past_and_opens_from_a_row_of_the_table", async ({ page, load, report, show, passesAxe }) => {
    await load([{ ...DESKTOP, workSpId: "ws-1" }]);
    await report([{ stats: { instanceId: "ws-1", username: "jlarsen", updatetime: minutes(9 * 60), processorInUse: 97, physicalMemory: 100, availablePhysicalMemory: 15 } }]);
    await show("#/desktops");
    await page.waitForSelector(".grid-body [role=row]");
    await page.focus("[role=grid]");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.down("Shift");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Shift");
    await says(page, "Not reporting", "dialog.drawer[open]");
    assert.deepEqual(await page.$$eval("dialog.drawer .values .past", (all) => all.map(({ textContent }) => textContent)), ["97.0 %", "85.0 %"]);
    assert.equal((await page.$$("dialog.drawer .values .level")).length, 0, "a value of the past is no alarm");
    await passesAxe();
    await page.keyboard.press("Escape");
    await closed(page);
    await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "grid", {}, "the focus returns to the table");
    await page.locator(".grid-body [data-column='3']").click({ count: 2 });
    await page.waitForSelector("dialog.drawer[open]");
    await page.keyboard.press("Escape");
    await closed(page);
    // The filter has those that report no longer, as the condition links to them.
    await load([{ ...DESKTOP, workSpId: "ws-2", computerName: "DESK-2" }]);
    await show("#/desktops?asOf=gt.-7d");
    await says(page, "1 of 2 desktops");
    await show("#/desktops");
    await says(page, "2 desktops");
    await page.locator("::-p-xpath(//label[contains(., 'Not reporting')]/input)").click();
    await says(page, "1 of 2 desktops");
    // The page of the desktop says it too.
    await show("#/desktop/ws-1", ".figures .past");
    await says(page, "as of ");
});

consoleTest("card_offers_what_the_key_may_do", async (given) => {
    const { page, load, passesAxe } = given;
    await load([{ ...DESKTOP, workSpId: "ws-1" }, { ...DESKTOP, workSpId: "ws-far", computerName: "FAR", username: "far", region: "us-east-1" }]);
    await signInWith(given, { actions: ["RebootWorkSpace"], filter: { region: "eu-central-1" } });
    await search(page, "ws-1");
    await page.waitForFunction(() => document.querySelector("[role=option]")?.textContent.includes("ws-1"));
    await page.keyboard.press("Enter");
    await says(page, "only desktops of eu-central-1", "dialog.drawer[open]");
    assert.deepEqual(await page.$$eval("dialog.drawer .desktop-actions button", (all) => all.map(({ textContent }) => textContent.trim())), ["Reboot …"]);
    await passesAxe();
    await page.keyboard.press("Escape");
    await closed(page);
    await search(page, "ws-far");
    await page.waitForFunction(() => document.querySelector("[role=option]")?.textContent.includes("ws-far"));
    await page.keyboard.press("Enter");
    await says(page, "may not act on this desktop", "dialog.drawer[open]");
    assert.equal((await page.$$("dialog.drawer .desktop-actions button")).length, 0);
    await page.keyboard.press("Escape");
    await closed(page);
    // The search offers no more than the card.
    await search(page, "terminate ");
    await page.waitForFunction(() => document.querySelector("dialog[open] [role=status]").textContent.includes("No desktop has this"));
    assert.equal((await page.$$("[role=option]")).length, 0);
}, { transports: ["server"] });

consoleTest("search_runs_commands_and_has_the_last_ones_first", async ({ page, load, show, passesAxe }) => {
    await load([{ ...DESKTOP, workSpId: "ws-1" }]);
    await show("#/holds");
    await search(page, "reboot jla");
    await page.waitForFunction(() => /Reboot ws-1/.test(document.querySelector("[role=option]")?.textContent ?? ""));
    await passesAxe();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /Reboot 1 desktop/.test(document.querySelector("dialog[open] h2")?.textContent ?? ""));
    await page.keyboard.press("Escape");
    await closed(page);
    await search(page, "hold ws-1");
    await page.waitForFunction(() => /Place a hold on ws-1/.test(document.querySelector("[role=option]")?.textContent ?? ""));
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open] input[name=matter]");
    await page.keyboard.press("Escape");
    await closed(page);
    await search(page, "dark theme");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark" && document.querySelector("dialog[open]") === null);
    // A verb alone asks for the desktop.
    await search(page, "recovery");
    await page.waitForFunction(() => /Recovery reboot …/.test(document.querySelector("[role=option]")?.textContent ?? ""));
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("[role=combobox]").value === "recovery reboot ");
    // One press of Esc closes, also with a text: nothing is lost.
    await page.keyboard.press("Escape");
    await closed(page);
    await search(page, "");
    const lately = await page.$$eval("[role=option]", (all) => all.slice(0, 3).map(({ textContent }) => textContent.replace(/\s+/g, " ").trim()));
    assert.match(lately.join("|"), /^Recovery reboot ….*\|Dark theme.*\|ws-1/);
    await page.keyboard.press("Escape");
    await closed(page);
    await search(page, "issue key");
    await page.waitForFunction(() => /Issue a key/.test(document.querySelector("[role=option]")?.textContent ?? ""));
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open] input[name=name]");
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => location.hash === "#/keys" && document.querySelector("dialog[open]") === null);
});

consoleTest("users_are_found_by_any_part_while_it_is_typed", async ({ page, load, show, passesAxe }) => {
    await load([{ ...DESKTOP, workSpId: "ws-1" }, { ...DESKTOP, workSpId: "ws-2", computerName: "LARS" }, { ...DESKTOP, workSpId: "ws-3", computerName: "DESK-3", username: "ahansen" }, { ...DESKTOP, workSpId: "ws-4", computerName: "JLARSEN", username: "bruno" }]);
    await show("#/user", "main#main tbody tr");
    await page.waitForFunction(() => document.activeElement?.name === "username", {}, "the focus is in the field");
    // The desktop reports also while its user is away.
    assert.deepEqual(await page.$$eval("main#main thead th", (all) => all.map(({ textContent }) => textContent.replace(/ [↑↓]/, "").trim())), ["User", "Desktops", "State", "Desktop reported"]);
    const users = () => page.$$eval("main#main tbody tr", (all) => all.map(({ textContent }) => textContent));
    assert.equal((await users()).length, 3);
    await page.keyboard.type("LARS");
    await page.waitForFunction(() => document.querySelectorAll("main#main tbody tr").length === 1);
    assert.match((await users())[0], /jlarsen.*2/s);
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash === "#/user/jlarsen");
    await says(page, "ws-2");
});

consoleTest("name_of_the_person_is_in_the_bar_and_changes_there", async ({ page, load, request, passesAxe }) => {
    await load([{ ...DESKTOP, workSpId: "ws-1" }]);
    await page.locator(".person").click();
    await page.locator("dialog[open] input[name=name]").fill("Ada Lovelace");
    await passesAxe();
    await page.keyboard.press("Enter");
    await closed(page);
    await page.waitForFunction(() => document.querySelector(".person").textContent.includes("Ada Lovelace"));
    await search(page, "reboot ws-1");
    await page.waitForFunction(() => /Reboot ws-1/.test(document.querySelector("[role=option]")?.textContent ?? ""));
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open] input[autocomplete=name]");
    assert.equal(await page.$eval("dialog[open] input[autocomplete=name]", ({ value }) => value), "Ada Lovelace");
});

consoleTest("filter_drops_hidden_rows_from_the_selection_and_an_action_clears_it", async ({ page, load, show, fill }) => {
    await load([...desktops(3, { state: "STOPPED" }), { ...DESKTOP, workSpId: "ws-error", state: "ERROR" }]);
    await show("#/desktops?state=STOPPED");
    await page.waitForFunction(() => document.querySelectorAll(".grid-body [role=row]").length === 3);
    await page.focus("[role=grid]");
    await page.keyboard.down("Control");
    await page.keyboard.press("a");
    await page.keyboard.up("Control");
    await says(page, "3 selected", ".bulk");
    await show("#/desktops?state=ERROR");
    await page.waitForFunction(() => document.querySelectorAll(".grid-body [role=row]").length === 1 && document.querySelector(".bulk") === null);
    await page.locator(".grid-body .tick").click();
    await says(page, "1 selected", ".bulk");
    await press(page, "More actions");
    await press(page, "Terminate");
    await says(page, "1 will be terminated", "dialog[open]");
    assert.match(await textOf(page, "dialog[open] h2"), /Terminate 1 desktop$/);
    assert.match(await textOf(page, "dialog[open] .outcomes"), /▲.*ws-error/s, "the sign of danger, and the name");
    await page.keyboard.press("Escape");
    await closed(page);
    await show("#/desktops?state=in.STOPPED,ERROR");
    await page.waitForFunction(() => document.querySelectorAll(".grid-body [role=row]").length === 4);
    assert.match(await textOf(page, ".bulk"), /1 selected/, "what was hidden is not selected again");
    await press(page, "More actions");
    await press(page, "Recovery reboot");
    await fill("dialog[open] input[autocomplete=name]", "Ada");
    await page.locator("::-p-xpath(//dialog//button[starts-with(normalize-space(), 'Recovery reboot')])").click();
    await page.waitForFunction(() => document.querySelector(".bulk") === null, {}, "the selection ends with the action");
});

consoleTest("data_without_a_connection_says_of_when_it_is_and_comes_back", async ({ page, load, show, restart, passesAxe }) => {
    await load(desktops(2));
    await show("#/overview", ".strip");
    await page.waitForSelector(".live.live");
    assert.notEqual(await page.$eval(".live > span", (element) => getComputedStyle(element).color), await page.$eval("body", (element) => getComputedStyle(element).color));
    const good = await page.$eval(".live > span", (element) => getComputedStyle(element).color);
    await page.evaluate(async () => {
        const transport = (await import(new URL("app/api.js", document.baseURI).href)).host();
        const { fetch } = transport;
        globalThis.gone = true;
        transport.fetch = (path, init) => (globalThis.gone ? Promise.reject(new TypeError("no network")) : fetch(path, init));
    });
    await Promise.all([page.waitForSelector(".live.lost"), restart()]);
    assert.notEqual(await page.$eval(".live.lost > span", (element) => getComputedStyle(element).color), good, "the cross is not green");
    await says(page, "What is shown is of");
    await says(page, "Cannot reach the server.");
    await passesAxe();
    await page.evaluate(() => void (globalThis.gone = false));
    await page.waitForFunction(() => document.querySelector(".live.live") !== null && document.querySelector("main [role=alert]") === null);
}, { transports: ["server"], file: true, troubles: /ERR_|Failed to load|NetworkError|Cross-Origin|could not be loaded/ });
