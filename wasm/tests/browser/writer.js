// A worker with an engine of its own on a file, which writes without end and reports what was acknowledged.

import { Engine } from "../../pkg/index.js";
import { opfsStorage } from "../../pkg/opfs.js";

const settings = new URLSearchParams(location.search);
const together = Number(settings.get("together") ?? 1);
const instance = settings.get("instance") ?? "ws-1";
const engine = await Engine.open({ storage: opfsStorage("deskfleet.redb") });
for (let first = 0; ; first += together) {
    const ids = Array.from({ length: together }, (_, index) => first + index);
    const responses = await Promise.all(
        ids.map((id) => {
            const body = JSON.stringify({ id, instanceId: instance, updatetime: "2026-11-20T08:00:00Z" });
            return engine.fetch(new Request("/api/Stats/Post", { method: "POST", headers: { "content-type": "application/json" }, body }));
        }),
    );
    postMessage(ids.filter((_, index) => responses[index].status === 200));
}
