// The shell and the overview.

import assert from "node:assert/strict";
import { consoleTest } from "./consoles.mjs";

const FLEET = Array.from({ length: 40 }, (_, index) => ({
    workSpId: `ws-${String(index).padStart(3, "0")}`,
    computerName: `DESK-${index}`,
    username: `user${index % 30}`,
    state: index % 4 === 0 ? "STOPPED" : "AVAILABLE",
    runningMode: "AUTO_STOP",
    computeTypeName: "STANDARD",
    region: "eu-central-1",
}));

const textOf = (page, selector) => page.$eval(selector, (element) => element.textContent);

consoleTest("overview_shows_the_fleet_and_follows_it", async ({ page, load, request, passesAxe }) => {
    await page.waitForFunction(() => document.querySelector("main#main").textContent.includes("The fleet is empty"));
    await load(FLEET);
    await page.waitForSelector(".strip");
    await page.waitForFunction(() => /Stopped\s*10/.test(document.querySelector(".legend").textContent));
    await page.waitForSelector(".live.live");
    await request("POST", "/api/Actions/StartWorkSpace", { query: { workSpaceId: "ws-000", requester: "Ada" } });
    await page.waitForFunction(() => /Starting\s*1/.test(document.querySelector(".legend").textContent));
    await page.waitForFunction(() => /Start ws-000/.test(document.querySelector("main").textContent));
    for (const theme of ["light", "dark"]) await passesAxe(theme);
});

consoleTest("buttons_copy_what_they_name", async ({ page, load, show, transport }) => {
    // What the browser was given for its clipboard.
    await page.evaluate(() => addEventListener("copy", ({ clipboardData }) => void (globalThis.copied = clipboardData.getData("text/plain"))));
    const copies = async (button, shown) => {
        // It is said for two seconds: the wait begins before the click.
        const said = page.waitForFunction((button, shown) => document.querySelector(`:is(${button}) + [role=status]`)?.textContent === "Copied" && globalThis.copied === document.querySelector(shown)?.textContent, {}, button, shown);
        await Promise.all([said, page.locator(button).click()]);
    };
    await show("#/import");
    await page.waitForFunction(() => document.querySelector("main").textContent.includes("Load the demo fleet"), {}, "the lines are those of an empty fleet");
    await copies(".line-title button", ".line-title + pre");
    await load(FLEET);
    await show("#/desktop/ws-000");
    await copies("[aria-label='Copy the id']", "main h1");
    if (transport !== "server") return;
    await show("#/store");
    await copies("[aria-label='Copy the signal']", "pre[aria-label='the signal']");
    await show("#/api");
    const said = page.waitForFunction(() => document.querySelector("form [role=status]")?.textContent === "Copied" && /^curl .*[$]KEY.*query/.test(globalThis.copied));
    await Promise.all([said, page.locator("button[title^='With $KEY']").click()]);
});

consoleTest("palette_finds_desktops_and_pages_by_keyboard", async ({ page, load, passesAxe }) => {
    await load(FLEET);
    await page.keyboard.down("Control");
    await page.keyboard.press("k");
    await page.keyboard.up("Control");
    await page.waitForSelector("dialog[open] [role=combobox]");
    await page.keyboard.type("DESK-17");
    await page.waitForFunction(() => document.querySelector("[role=option]")?.textContent.includes("ws-017"));
    await passesAxe();
    await page.keyboard.down("Control");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Control");
    await page.waitForFunction(() => location.hash === "#/desktop/ws-017");
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open] table");
    await passesAxe();
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => document.querySelector("dialog[open]") === null);
});

consoleTest("sign_out_revokes_the_key_and_a_bad_key_is_explained", async ({ page, fill, passesAxe, open, key }) => {
    const stored = () => page.evaluate(() => JSON.parse(sessionStorage.getItem(`deskfleet.session ${new URL(".", document.baseURI).pathname}`)).key);
    const used = await stored();
    assert.notEqual(used, key, "the key of a person is not kept");
    await page.evaluate(() => [...document.querySelectorAll(".settings button")].at(-1).click());
    await page.waitForSelector(".sign-in");
    await passesAxe("light");
    await passesAxe("dark");
    const answer = await page.evaluate(async (key) => (await fetch("query/key", { headers: { "x-api-key": key } })).status, used);
    assert.equal(answer, 401);
    await fill("input[name=key]", "dfk_wrong");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => /not accepted/.test(document.querySelector("[role=alert]")?.textContent ?? ""));
    assert.match(await textOf(await open(), "h1"), /Overview/);
}, { transports: ["server"], troubles: /401/ });

consoleTest("second_tab_needs_no_sign_in_and_follows_when_the_first_is_closed", async ({ page, opened, url }) => {
    const second = await opened();
    await second.goto(url);
    await second.waitForSelector(".live.live");
    const keyOf = (tab) => tab.evaluate(() => JSON.parse(Object.entries(sessionStorage).find(([name]) => name.startsWith("deskfleet.session"))[1]).id);
    assert.equal(await keyOf(second), await keyOf(page));
    await page.close();
    await second.waitForSelector(".live.live");
    await second.evaluate(async () => {
        const { request } = await import(new URL("app/api.js", document.baseURI).href);
        const importRow = () => request("POST", "/operator/workspaces", { body: '{"workSpId":"ws-new","state":"ERROR"}', type: "application/x-ndjson" });
        // The tab that closes may take this write and never answer it, and the same row twice changes nothing.
        await importRow().catch(importRow);
    });
    await second.waitForFunction(() => /Error\s*1/.test(document.querySelector(".legend")?.textContent ?? ""));
});

consoleTest("server_that_is_gone_is_said_and_followed_again_after_its_return", async ({ page, restart, request }) => {
    await page.waitForSelector(".live.live");
    await Promise.all([page.waitForSelector(".live.lost"), restart()]);
    await page.waitForSelector(".live.live");
    await request("POST", "/operator/workspaces", { body: '{"workSpId":"ws-new","state":"ERROR"}', type: "application/x-ndjson" });
    await page.waitForFunction(() => /Error\s*1/.test(document.querySelector(".legend")?.textContent ?? ""));
}, { transports: ["server"], file: true, troubles: /ERR_|Failed to load|NetworkError|Cross-Origin|could not be loaded/ });

consoleTest("slow_and_failing_answers_are_said_and_tried_again", async ({ page, load, show, passesAxe }) => {
    await load(FLEET);
    await page.evaluate(async () => {
        const transport = (await import(new URL("app/api.js", document.baseURI).href)).host();
        const { fetch } = transport;
        const problem = { title: "Internal Server Error", status: 500, detail: "It failed.", traceId: "00-1-1-00", code: "Internal" };
        globalThis.answer = "slow";
        transport.fetch = async (path, init) => {
            if (globalThis.answer === "gone") throw new TypeError("no network");
            if (globalThis.answer === "failing") return new Response(JSON.stringify(problem), { status: 500 });
            if (globalThis.answer === "slow") await new Promise((done) => setTimeout(done, 500));
            return fetch(path, init);
        };
    });
    await show("#/holds");
    await page.waitForSelector("main .loading");
    await page.waitForFunction(() => document.querySelector("main .loading") === null);
    for (const [answer, hash, said] of [["failing", "#/processes", /It failed\..*00-1-1-00/s], ["gone", "#/advice", /Cannot reach the server/]]) {
        await page.evaluate((answer) => void (globalThis.answer = answer), answer);
        await show(hash);
        await page.waitForSelector("main [role=alert] button");
        assert.match(await textOf(page, "main [role=alert]"), said);
        await passesAxe();
        await page.evaluate(() => void (globalThis.answer = ""));
        await page.locator("main [role=alert] button").click();
        await page.waitForFunction(() => document.querySelector("main [role=alert]") === null && document.querySelector("main .loading") === null);
    }
});
