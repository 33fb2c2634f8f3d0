// A process that posts to a file until it is killed; it prints the id of each acknowledged record.

import { writeSync } from "node:fs";
import { Engine } from "../pkg/index.node.js";
import { fileStorage } from "../pkg/node.js";

const engine = await Engine.open({ storage: fileStorage(process.argv[2]) });
let next = Number(process.argv[3]);
for (;;) {
    const turn = Array.from({ length: 20 }, () => {
        const id = next++;
        const body = `{"id":${id},"instanceId":"ws-1"}`;
        const headers = { "content-type": "application/json" };
        return engine.fetch(new Request("http://fleet/api/Stats/Post", { method: "POST", headers, body })).then(({ status }) => {
            if (status === 200) writeSync(1, `${id}\n`);
        });
    });
    await Promise.all(turn);
    if (next % 1000 < 20) await engine.filePending();
}
