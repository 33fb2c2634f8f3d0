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
