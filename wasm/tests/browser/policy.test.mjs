// Pages that may not compile WebAssembly, or do not receive it, get an error with its remedy.

import assert from "node:assert/strict";
import { browserTest } from "./in-browsers.mjs";

browserTest("policy_without_wasm_unsafe_eval_is_named_with_its_remedy", async ({ start, origin }) => {
    const browser = await start();
    const page = await browser.open(`${origin}/tests/browser/page.html?policy=no-wasm`);
    await page.waitForFunction(() => globalThis.connect);
    const errors = await page.evaluate(async () => {
        const { Engine } = await import("/pkg/index.js");
        const { Engine: Inline } = await import("/pkg/inline.js");
        const bytes = await (await fetch("/pkg/deskfleet.wasm")).arrayBuffer();
        return {
            page: await failure(Engine.open()),
            again: await failure(Engine.open()),
            inline: await failure(Inline.open()),
            bytes: await failure(Engine.open({ wasm: bytes })),
            worker: await failure(connect({ worker: "/pkg/opfs-worker.js?policy=no-wasm" })),
        };
    });
    for (const [where, error] of Object.entries(errors)) {
        assert.equal(error?.ours, true, where);
        assert.equal(error.code, "ModuleUnavailable", where);
        assert.match(error.message, /Content-Security-Policy.*'wasm-unsafe-eval'.*script-src/, where);
        assert.match(error.cause, /Content.Security.Policy|unsafe-eval/i, where);
    }
    // The same origin under a policy that allows it works.
    const other = await browser.open(`${origin}/tests/browser/page.html`);
    await other.waitForFunction(() => globalThis.connect);
    assert.equal(await other.evaluate(async () => (await (await connect()).fetch(postRequest(1))).status), 200);
});

browserTest("missing_module_is_named_with_its_address", async ({ start, origin }) => {
    const page = await (await start()).open(`${origin}/tests/browser/page.html`);
    await page.waitForFunction(() => globalThis.connect);
    await page.route("**/deskfleet.wasm", (route) => route.fulfill({ status: 404, body: "none" }));
    const open = () =>
        page.evaluate(async () => {
            const { Engine } = await import("/pkg/index.js");
            return failure(Engine.open());
        });
    const missing = await open();
    assert.equal(missing.code, "ModuleUnavailable");
    assert.match(missing.message, /\/pkg\/deskfleet\.wasm returned 404; serve .*deskfleet\/inline/);
    await page.unroute("**/deskfleet.wasm");
    await page.route("**/deskfleet.wasm", (route) => route.fulfill({ contentType: "application/wasm", body: "<!doctype html>" }));
    const other = await open();
    assert.equal(other.code, "ModuleUnavailable");
    assert.match(other.message, /cannot be loaded: .*CompileError|cannot be loaded: WebAssembly/);
    await page.unroute("**/deskfleet.wasm");
    assert.equal(await open(), undefined);
});
