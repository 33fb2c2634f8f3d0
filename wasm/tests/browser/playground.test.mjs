// The playground, as a user uses it: load, send, reload, file, wipe; by keyboard, under its own strict policy.

import assert from "node:assert/strict";
import { browserTest } from "./in-browsers.mjs";

const text = (page, id) => page.textContent(`#${id}`);

async function opened(browser, origin, seen) {
    const page = await browser.open("about:blank");
    page.on("pageerror", (error) => seen.push(String(error)));
    page.on("console", (message) => message.type() === "error" && seen.push(message.text()));
    await page.goto(`${origin}/playground/`);
    await page.waitForSelector("#send:enabled");
    return page;
}

browserTest("playground_loads_a_fleet_and_keeps_it", async ({ start, origin }) => {
    const troubles = [];
    const browser = await start();
    const page = await opened(browser, origin, troubles);
    await page.click("#load");
    await page.waitForFunction(() => /records posted/.test(document.querySelector("#note").textContent));
    await page.waitForFunction(() => document.querySelector("#workspaces").textContent === "120");
    const queued = Number((await text(page, "queue")).replace(/\D/g, ""));
    assert.ok(queued > 2000, `${queued} records are queued`);

    // Each endpoint of the list succeeds, or is refused by a rule of the interface.
    const options = await page.$$eval("#endpoint option", (all) => all.map(({ value }) => value));
    assert.ok(options.length >= 26);
    for (const option of options) {
        await page.selectOption("#endpoint", option);
        await page.click("#send");
        await page.waitForSelector("#send:enabled");
        const outcome = await text(page, "outcome");
        assert.match(outcome, /^(200|409), after/, await page.inputValue("#path"));
    }
    assert.equal(await page.locator("#sent li").count(), 20);

    // By keyboard alone: every control is reached by Tab, and Ctrl + Enter sends.
    await page.selectOption("#method", "POST");
    await page.focus("#endpoint");
    const reached = [];
    for (let step = 0; step < 6; step++) {
        reached.push(await page.evaluate(() => document.activeElement.id));
        await page.keyboard.press("Tab");
    }
    assert.deepEqual(reached, ["endpoint", "method", "path", "headers", "body", "send"]);
    await page.fill("#path", "/nowhere");
    await page.selectOption("#method", "GET");
    await page.focus("#path");
    await page.keyboard.press("Control+Enter");
    await page.waitForFunction(() => document.querySelector("#outcome").textContent.startsWith("404"));

    // A sent request can be loaded into the form again; one that cannot be sent shows its error.
    await page.click("#sent li:nth-child(2) button");
    assert.equal(await page.inputValue("#path"), "/operator/keys");
    await page.fill("#headers", "no colon");
    await page.click("#send");
    await page.waitForFunction(() => /^Not sent: .*no colon/.test(document.querySelector("#outcome").textContent));

    await page.reload();
    await page.waitForSelector("#send:enabled");
    await page.waitForFunction(() => document.querySelector("#workspaces").textContent === "119");
    await page.click("#file");
    await page.waitForFunction(() => /were filed/.test(document.querySelector("#note").textContent));
    await page.waitForFunction(() => document.querySelector("#queue").textContent === "0");

    page.on("dialog", (dialog) => dialog.accept());
    const other = await opened(browser, origin, troubles);
    await page.click("#wipe");
    for (const tab of [page, other]) await tab.waitForFunction(() => document.querySelector("#workspaces").textContent === "0" || document.querySelector("#workspaces").textContent === "–");
    assert.match(await text(page, "note"), /empty/);
    assert.deepEqual(troubles, []);
});

browserTest("playground_without_its_files_shows_the_reason", async ({ start, origin }) => {
    const page = await (await start()).open("about:blank");
    for (const [missing, reason] of [["deskfleet.wasm", /deskfleet\.wasm returned 404/], ["opfs.js", /run cargo wasm/]]) {
        await page.route(`**/pkg/${missing}`, (route) => route.fulfill({ status: 404, body: "none" }));
        await page.goto(`${origin}/playground/`);
        await page.waitForFunction(() => document.querySelector("#engine").textContent === "did not open");
        assert.match(await text(page, "note"), reason);
        assert.equal(await page.isDisabled("#send"), true);
        await page.unroute(`**/pkg/${missing}`);
    }
});
