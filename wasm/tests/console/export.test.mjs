// What is saved on the page Export is what the fleet has.

import assert from "node:assert/strict";
import { consoleTest } from "./consoles.mjs";

consoleTest("export_is_what_the_questions_return", async ({ page, load, report, request, show, fill, passesAxe }) => {
    await load(Array.from({ length: 1100 }, (_, index) => ({ workSpId: `ws-${index}`, username: index === 7 ? "=1+1" : `user${index}`, state: "AVAILABLE" })));
    const at = (hours) => new Date(Date.now() - hours * 3_600_000).toISOString();
    const records = Array.from({ length: 90 }, (_, index) => ({ stats: { updatetime: at(index), instanceId: `ws-${index % 5}`, username: "a,\nb", processorInUse: index } }));
    assert.equal((await report(records)).rejected, 0);
    // Through memory, where the test can see it.
    await page.evaluate(() => {
        delete globalThis.showSaveFilePicker;
        const make = URL.createObjectURL;
        URL.createObjectURL = (blob) => {
            globalThis.saved = blob.text();
            return make.call(URL, blob);
        };
        HTMLAnchorElement.prototype.click = () => {};
    });
    const saved = async (query) => {
        await page.evaluate(() => void (globalThis.saved = undefined));
        await show(`#/export?${query}`, "form.export");
        await page.waitForFunction((query) => location.hash === `#/export?${query}` && !document.querySelector("form.export button.primary").disabled, {}, query);
        await page.locator("form.export button.primary").click();
        await page.waitForFunction(() => globalThis.saved !== undefined);
        await page.waitForSelector("form.export button.primary:enabled");
        return page.evaluate(() => globalThis.saved);
    };
    const lines = (text) => text.split(/\r?\n/).sort();
    const stats = await request("GET", "/query/export", { query: { stream: "stats", format: "csv", from: "-7d" } });
    assert.ok(lines(stats).length > 90);
    assert.deepEqual(lines(await saved("what=stats&format=csv")), lines(stats));
    const ndjson = await request("GET", "/query/export", { query: { stream: "stats", format: "ndjson", from: "-7d", instanceId: "ws-1" } });
    await show("#/export?what=stats&format=ndjson", "form.export");
    await fill("form.export input", "ws-1");
    assert.deepEqual(lines(await saved("what=stats&format=ndjson")), lines(ndjson));
    const desktops = await saved("what=workspaces&format=csv");
    assert.equal(desktops.split("\r\n").length, 1100 + 2);
    assert.equal(desktops.match(/^workSpId,/gm).length, 1);
    assert.ok(desktops.includes(",'=1+1,"), "a formula is neutralised");
    for (const theme of ["light", "dark"]) await passesAxe(theme);
});

consoleTest("export_is_written_to_the_disk_as_it_arrives_and_a_stop_leaves_no_file", async ({ page, load, report, request, show }) => {
    await load(Array.from({ length: 5 }, (_, index) => ({ workSpId: `ws-${index}`, username: `user${index}`, state: "AVAILABLE" })));
    for (const index of [1, 3]) await request("PUT", `/operator/workspaces/ws-${index}/litigation-hold`, { json: { matter: `Matter ${index}`, reason: "=1+1" } });
    await report([{ stats: { instanceId: "ws-1", processorInUse: 40 } }]);
    await page.evaluate(() => {
        globalThis.showSaveFilePicker = async ({ suggestedName }) => {
            const file = (globalThis.file = { name: suggestedName, text: "", end: "" });
            const decoder = new TextDecoder();
            return { createWritable: async () => ({ write: async (chunk) => void (file.text += decoder.decode(chunk, { stream: true })), close: async () => void (file.end = "closed"), abort: async () => void (file.end = "aborted") }) };
        };
    });
    const ended = async () => {
        await page.waitForFunction(() => globalThis.file?.end);
        return page.evaluate(() => globalThis.file);
    };
    await show("#/holds", "table.data");
    await page.waitForFunction(() => document.querySelectorAll("table.data tbody tr").length === 2);
    const shown = await page.$$eval("table.data tbody tr", (rows) => rows.map(({ textContent }) => /ws-\d/.exec(textContent)[0] + /Matter \d/.exec(textContent)[0]));
    await show("#/export?what=holds", "form.export");
    await page.locator("form.export button.primary").click();
    const holds = await ended();
    assert.deepEqual([holds.name, holds.end, holds.text], ["holds.csv", "closed", await request("GET", "/query/holds", { query: { format: "csv" } })]);
    const saved = holds.text.trim().split("\r\n").slice(1).map((line) => /ws-\d/.exec(line)[0] + /Matter \d/.exec(line)[0]);
    assert.deepEqual(saved.sort(), shown.sort());
    await page.waitForFunction(() => /holds\.csv is saved: .*, 3 lines/.test(document.querySelector(".notices").textContent));

    // The second day does not come.
    await page.evaluate(async () => {
        globalThis.file = undefined;
        const transport = (await import(new URL("app/api.js", document.baseURI).href)).host();
        const { fetch } = transport;
        let days = 0;
        transport.fetch = async (path, init) => {
            if (path.startsWith("/query/export") && ++days === 2) await new Promise((done) => init.signal.addEventListener("abort", done));
            return fetch(path, init);
        };
    });
    await show("#/export?what=stats", "form.export");
    await page.locator("form.export button.primary").click();
    await page.waitForFunction(() => /14 % .* 1 lines/.test(document.querySelector(".running")?.textContent));
    await page.locator(".running button").click();
    assert.equal((await ended()).end, "aborted");
    await page.waitForFunction(() => /stopped \(.* 1 lines; nothing is saved\)/.test(document.querySelector(".notices").textContent));
});
