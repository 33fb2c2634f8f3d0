// One desktop, one user, and the litigation holds.

import assert from "node:assert/strict";
import { consoleTest } from "./consoles.mjs";

const DESKTOP = { workSpId: "ws-1", computerName: "DESK-1", username: "jdoe", state: "AVAILABLE", runningMode: "AUTO_STOP", computeTypeName: "STANDARD", protocol: "WSP", region: "eu-central-1", account: "111122223333", directoryId: "d-1" };
const MATTER = "Matter 2026-017";
const RTL = "\u202e";
const IMAGE = '<img src=x onerror="document.title=1">';

const main = (page) => page.$eval("main#main", (element) => element.textContent);
const says = (page, text) => page.waitForFunction((text) => document.querySelector("main#main").textContent.includes(text), {}, text);
const without = (page, text) => page.waitForFunction((text) => !document.querySelector("main#main").textContent.includes(text), {}, text);
const press = (page, text) => page.locator(`::-p-xpath(//button[not(ancestor::dialog) and contains(normalize-space(), "${text}")])`).click();
const settled = (page) => page.waitForFunction(() => document.querySelector(".lanes svg") !== null && document.querySelector("main .loading") === null);

/** Moves by Tab, from the begin of the page's content, to what a function of the focused element accepts. */
async function tabTo(page, accepts, ...given) {
    // Without it the focus may pass through the browser's own bars, after which Firefox presses no button for a driver.
    await page.evaluate(() => document.getElementById("main").focus());
    for (let presses = 0; presses < 80; presses++) {
        await page.keyboard.press("Tab");
        if (await page.evaluate((accepts, given) => new Function(`return ${accepts}`)()(document.activeElement, ...given), String(accepts), given)) return;
    }
    assert.fail(`Tab does not reach ${accepts} ${given}`);
}
const isButton = (element, text) => element.tagName === "BUTTON" && element.textContent.trim().startsWith(text);

/** Chooses from the menu of actions by the keys. */
async function choose(page, text) {
    await tabTo(page, isButton, "More actions");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement.closest(".menu-list"));
    while (!(await page.evaluate((text) => document.activeElement.textContent.startsWith(text), text))) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
}

consoleTest("hold_placed_by_keyboard_shows_at_once_refuses_terminate_and_is_released", async ({ page, load, show, request, passesAxe }) => {
    await load([DESKTOP]);
    await show("#/desktop/ws-1");
    await settled(page);
    await page.waitForSelector(".live.live");
    await choose(page, "Place hold");
    await page.waitForSelector("dialog[open] input[name=matter]");
    await passesAxe();
    await page.keyboard.type(MATTER);
    await page.keyboard.press("Tab");
    await page.keyboard.type("Custodian");
    await page.keyboard.press("Enter");
    await says(page, "On litigation hold");
    const banner = await page.$eval(".hold", (element) => element.textContent);
    for (const part of [MATTER, "Custodian"]) assert.ok(banner.includes(part), banner);
    assert.match(banner, /Placed by (console|(Chrome|Firefox) on Linux)/);

    await choose(page, "Terminate");
    await page.waitForFunction((matter) => document.querySelector("dialog[open]")?.textContent.includes(matter), {}, MATTER);
    const refused = await page.$eval("dialog[open]", (element) => element.textContent);
    assert.match(refused, /on litigation hold/);
    assert.equal(await page.$eval("dialog[open] button.danger", (button) => button.disabled), true);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("dialog[open]") === null);
    await page.waitForFunction(() => document.activeElement.textContent.startsWith("More actions"), {}, "the focus returns to what opened the dialog");

    await choose(page, "Release hold");
    await page.waitForSelector("dialog[open] input");
    await page.keyboard.type(MATTER.slice(0, -1));
    assert.equal(await page.$eval("dialog[open] button.danger", (button) => button.disabled), true, "the matter is not typed whole");
    await page.keyboard.type(MATTER.slice(-1));
    await page.keyboard.press("Enter");
    await without(page, "On litigation hold");
    assert.equal((await request("GET", "/operator/workspaces/ws-1")).litigationHold, null);
});

consoleTest("desktop_follows_actions_and_shows_its_story_on_one_axis", async ({ page, load, report, show, request, passesAxe }) => {
    const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
    await load([DESKTOP]);
    await report([
        ...[90, 60, 30, 5].map((minutes, index) => ({ stats: { instanceId: "DESK-1", username: "jdoe", updatetime: ago(minutes), processorInUse: 20 + index, physicalMemory: 8e9, availablePhysicalMemory: 4e9, rootTotal: 100 * 2 ** 30, rootAvailable: 25 * 2 ** 30 } })),
        { activity: { instanceId: "ws-1", username: "jdoe", activity: "Logon", activityTime: ago(80) } },
        { startup: { instanceId: "ws-1", username: "jdoe", baselineUtc: ago(80), profileMs: 1000, groupPolicyMs: 2000, shellMs: 3000, totalMs: 7000 } },
        { processes: { instanceId: "ws-1", createdDate: ago(10), processes: [{ processName: "winword", processorUsage: 3, memoryUsage: 1e8, processCount: 1 }] } },
    ]);
    await show("#/desktop/ws-1");
    await settled(page);
    for (const part of ["DESK-1", "WSP", "111122223333", "d-1", "75.0 %", "75.0 GiB of 100.0 GiB", "winword", "7.0 s"]) await says(page, part);
    await page.waitForSelector(".live.live");
    const since = Date.now();
    await request("POST", "/api/Actions/RebootWorkSpace", { query: { workSpaceId: "ws-1", requester: "Ada" } });
    await page.waitForFunction(() => /Rebooting/.test(document.querySelector(".desktop-line").textContent) && /Reboot runs, due/.test(document.querySelector(".desktop-line").textContent));
    assert.ok(Date.now() - since < 60_000);
    await page.waitForFunction(() => [...document.querySelectorAll(".lanes rect")].length === 3, {}, "not known, Available, then Rebooting");
    const left = await page.evaluate(() => {
        const of = (selector) => document.querySelector(selector).getBoundingClientRect().left;
        return [of(".lanes rect"), ...[...document.querySelectorAll(".chart .reader")].map((reader) => reader.getBoundingClientRect().left)];
    });
    assert.equal(left.length, 3);
    for (const each of left) assert.ok(Math.abs(each - left[0]) < 1.5, `the lanes and the charts begin at one place: ${left}`);
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    // A filter is kept in the address.
    await page.locator(`::-p-xpath(//label[contains(., "Activity")]/input)`).click();
    await page.waitForFunction(() => location.hash.includes("kind=") && !document.querySelector("[aria-label=Timeline] tbody").textContent.includes("Activity"));
});

consoleTest("double_click_sends_an_action_once", async ({ page, load, show, request, fill, doubleClick }) => {
    await load([DESKTOP]);
    // The buttons of the result are where those of the question were.
    await page.setViewport({ width: 1280, height: 240 });
    await show("#/desktop/ws-1");
    await press(page, "Reboot");
    await fill("dialog[open] input[autocomplete=name]", "Ada");
    await doubleClick("dialog[open] form button.primary", () => page.waitForFunction(() => document.querySelector("dialog[open]")?.textContent.includes("Running actions") && document.activeElement.textContent === "Close"));
    const { activities: rows } = await request("GET", "/operator/audit", { query: { workSpaceId: "ws-1", action: "RebootWorkSpace" } });
    assert.deepEqual(rows.map(({ requester, result }) => [requester, result]), [["Ada", "Accepted"]]);
    // Esc pressed again and again closes the dialog, and another can be opened.
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("dialog") === null);
    await press(page, "Reboot");
    await page.waitForSelector("dialog[open]");
});

consoleTest("stopped_bulk_action_says_what_was_not_sent_and_sends_it_later", async ({ page, load, show, request, fill }) => {
    const ids = Array.from({ length: 60 }, (_, index) => `ws-${index}`);
    await load(ids.map((workSpId) => ({ workSpId, state: "AVAILABLE" })));
    await show("#/desktops");
    const open = (action, ids) => page.evaluate(async (action, ids) => (await import(new URL("app/asked.js", document.baseURI).href)).askAction(action, ids), action, ids);
    await open("RebootWorkSpace", ids);
    await fill("dialog[open] input[autocomplete=name]", "Ada");
    // More than 25 people are not disconnected with a click, and not all at one moment.
    assert.ok(await page.$eval("dialog[open] form button.primary", ({ disabled }) => disabled));
    await fill("dialog[open] input[autocomplete=off]", "60");
    assert.equal(await page.$eval("dialog[open] input[type=number]", ({ value }) => value), "25");
    await page.locator("dialog[open] form button.primary").click();
    const press = (text) => page.locator(`::-p-xpath(//dialog//button[contains(normalize-space(), "${text}")])`).click();
    const says = (text) => page.waitForFunction((text) => document.querySelector("dialog[open]")?.textContent.includes(text), {}, text);
    await says("25 accepted");
    await says("35 waiting");
    const rebooting = async () => (await request("GET", "/query/fleet")).byState.REBOOTING ?? 0;
    assert.equal(await rebooting(), 25);
    // It goes on without the dialog, and is found again.
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("dialog[open]") === null);
    await show("#/audit?tab=running", "table.data");
    await page.waitForFunction(() => document.querySelector("main").textContent.includes("0 done, 25 running, 35 waiting, 0 failed"));
    await page.locator(`::-p-xpath(//table//button[normalize-space() = "Stop"])`).click();
    await page.waitForFunction(() => document.querySelector("main").textContent.includes("35 not begun, 0 failed; stopped by a person"));
    await show("#/desktops");
    await open("RebootWorkSpace", ids.slice(20));
    await says("5 with an action in progress");
    await fill("dialog[open] input[autocomplete=off]", "35");
    await page.locator("dialog[open] form button.primary").click();
    await says("25 accepted");
    await press("Stop");
    await says("10 not sent");
    await press("Send the other 10");
    await says("10 accepted");
    assert.equal(await rebooting(), ids.length);
});

consoleTest("hostile_names_are_shown_as_text", async ({ page, load, show, request }) => {
    const id = `ws-${IMAGE}`;
    await load([{ ...DESKTOP, workSpId: id, computerName: `a${RTL}b`, username: IMAGE, region: `${RTL}evil` }]);
    await request("PUT", `/operator/workspaces/${encodeURIComponent(id)}/litigation-hold`, { json: { matter: `${RTL}${IMAGE}`, reason: IMAGE } });
    for (const [hash, wanted] of [
        [`#/desktop/${encodeURIComponent(id)}`, "aU+202Eb"],
        [`#/user/${encodeURIComponent(IMAGE)}`, "aU+202Eb"],
        ["#/holds", "U+202E<img"],
        ["#/holds?group=matter", "U+202E<img"],
    ]) {
        await show(hash);
        await says(page, wanted);
        const text = await main(page);
        assert.ok(text.includes(IMAGE), hash);
        assert.ok(!text.includes(RTL), `${hash}: the override is shown, and does not act`);
        assert.equal(await page.$$eval("main#main img", (images) => images.length), 0, hash);
        assert.equal(await page.evaluate((hidden) => document.title.includes(hidden), RTL), false);
        const free = await page.$$eval("main#main bdi", (all) => all.some((each) => getComputedStyle(each).unicodeBidi !== "isolate"));
        assert.equal(free, false, "texts of the fleet are isolated");
    }
});

consoleTest("user_shows_desktops_logons_and_what_happened", async ({ page, load, report, show, fill, passesAxe }) => {
    const at = new Date(Date.now() - 3_600_000).toISOString();
    await load([DESKTOP, { ...DESKTOP, workSpId: "ws-2", computerName: "DESK-2", state: "STOPPED" }]);
    await report([{ startup: { instanceId: "ws-2", username: "jdoe", baselineUtc: at, profileMs: 1000, groupPolicyMs: 2000, shellMs: 3000, totalMs: 9000 } }, { activity: { instanceId: "ws-2", username: "jdoe", activity: "Logon", activityTime: at } }]);
    await show("#/user");
    await passesAxe();
    await fill("main#main input[name=username]", "CORP\\JDOE");
    await page.keyboard.press("Enter");
    for (const part of ["jdoe", "ws-1", "ws-2", "Stopped", "9.0 s", "Logon"]) await says(page, part);
    for (const theme of ["light", "dark"]) await passesAxe(theme);
});

consoleTest("unknown_user_and_desktop_say_what_to_try", async ({ page, show, passesAxe }) => {
    await show("#/user/nobody");
    await says(page, "No desktop belongs to a user of this name");
    await passesAxe();
    await show("#/desktop/ws-none");
    await says(page, "No desktop has this id");
}, { troubles: /404/ });

consoleTest("holds_are_placed_for_a_list_and_released_together", async ({ page, load, show, request, passesAxe }) => {
    await load([1, 2, 3].map((number) => ({ ...DESKTOP, workSpId: `ws-${number}`, computerName: `DESK-${number}` })));
    await show("#/holds");
    await says(page, "No holds yet");
    await press(page, "Place holds");
    await page.locator("dialog[open] textarea").fill("ws-1\nws-2\n\nws-none, ws-3");
    await page.locator("dialog[open] input[name=matter]").fill(MATTER);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /3 done, 1 refused/.test(document.querySelector("dialog[open]")?.textContent ?? ""));
    assert.match(await page.$eval("dialog[open]", (element) => element.textContent), /ws-none.*WorkSpaceNotFound/);
    await passesAxe();
    await page.locator("::-p-xpath(//dialog//button[normalize-space()='Close'])").click();
    await page.waitForFunction(() => document.querySelectorAll("main#main tbody tr").length === 3);
    for (const theme of ["light", "dark"]) await passesAxe(theme);
    await page.locator("::-p-xpath(//main//label[normalize-space()='All']/input)").click();
    await press(page, "Release 3");
    await page.waitForFunction((matter) => document.querySelector("dialog[open]")?.textContent.includes(matter), {}, MATTER);
    await page.locator("dialog[open] input").fill("3");
    await page.keyboard.press("Enter");
    await says(page, "No holds yet");
    assert.deepEqual((await request("GET", "/query/holds")).rows, []);
}, { troubles: /404/ });
