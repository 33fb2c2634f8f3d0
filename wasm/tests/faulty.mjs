// Misbehaving storages.

import { memoryStorage } from "../pkg/index.node.js";

/** A storage that counts its calls, and calls `meddle(name, number of the call, arguments)` before each. */
export function meddled(meddle, inner = memoryStorage()) {
    const counts = { len: 0, read: 0, write: 0, setLen: 0, sync: 0, close: 0 };
    let all = 0;
    const storage = { counts, total: () => all, inner };
    for (const name of Object.keys(counts)) {
        storage[name] = (...parameters) => {
            counts[name] += 1;
            all += 1;
            const instead = meddle?.(name, all, parameters);
            return instead === undefined ? inner[name](...parameters) : instead.answer;
        };
    }
    return storage;
}

export const JSON_HEADERS = { "content-type": "application/json" };

export function post(engine, body = '{"instanceId":"ws-1","username":"jdoe"}') {
    return engine.handle("POST", "/api/Stats/Post", JSON_HEADERS, body);
}

export function postRequest(body = '{"instanceId":"ws-1","username":"jdoe"}') {
    return new Request("http://fleet/api/Stats/Post", { method: "POST", headers: JSON_HEADERS, body });
}

export function codeOf(answer) {
    return JSON.parse(new TextDecoder().decode(answer.body)).code;
}
