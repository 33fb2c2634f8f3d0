// Calls that the package refuses, and with which code.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine } from "../pkg/index.node.js";
import { handlers } from "../pkg/msw.js";
import { fileStorage } from "../pkg/node.js";
import { codeOf, meddled, post } from "./faulty.mjs";
import { emptyFolder } from "./packed.mjs";

test("storage_that_returns_another_count_than_it_was_given_refuses_the_write", async () => {
    for (const count of [-1, 0, 0.5, NaN, Infinity, "all", 1e6]) {
        let wrong = false;
        const storage = meddled((name) => (wrong && name === "write" ? { answer: count } : undefined));
        const engine = await Engine.open({ storage });
        wrong = true;
        const refused = post(engine);
        assert.equal(refused.status, 503, String(count));
        wrong = false;
        await engine.close().catch(() => {});
    }
});

test("full_storage_is_low_disk_and_serves_again", async () => {
    let full = false;
    const storage = meddled((name) => {
        if (full && (name === "write" || name === "setLen")) throw Object.assign(new Error("no room"), { name: "QuotaExceededError" });
    });
    const engine = await Engine.open({ storage });
    full = true;
    const refused = post(engine);
    assert.deepEqual([refused.status, codeOf(refused)], [503, "LowDisk"]);
    await assert.rejects(engine.putWorkspaces([{ workSpId: "ws-1" }]), { code: "LowDisk" });
    full = false;
    assert.equal(post(engine).status, 200);
    await engine.close();
});

test("misspelled_member_of_a_workspace_is_named_and_a_foreign_one_is_left_out", async () => {
    const engine = await Engine.open();
    await assert.rejects(engine.putWorkspaces([{ workSpId: "ws-1" }, { workSpId: "ws-2", userNmae: "jdoe" }]), {
        code: "InvalidArgument",
        message: "workspaces[1].userNmae is no member of a workspace; did you mean username?",
    });
    assert.equal(await engine.putWorkspaces([{ workSpId: "ws-1", bundle: "b", username: "jdoe", userName: "jdoe" }]), 1);
    await engine.close();
});

test("file_that_this_process_has_open_says_so", async () => {
    const name = `${emptyFolder()}/fleet.redb`;
    const engine = await Engine.open({ storage: fileStorage(name) });
    assert.throws(() => fileStorage(name), { code: "StorageLocked", message: /in this process already.*globalThis/ });
    assert.equal(engine.storageKind, "file");
    await engine.close();
});

test("msw_handlers_take_every_path_of_an_engine", async () => {
    const engine = await Engine.open();
    const taken = handlers(engine, { all: (path) => path }, { origin: "https://fleet.example" });
    assert.deepEqual(taken, ["/api/*", "/operator/*", "/query/*"].map((path) => `https://fleet.example${path}`));
    await engine.close();
});
