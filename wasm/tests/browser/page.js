// The functions that the tests call in a page.

import { DeskfleetError } from "../../pkg/index.js";
import { connect } from "../../pkg/opfs.js";
import { idsOf } from "./history.js";

const json = { "content-type": "application/json" };

export function postRequest(id, instance = "ws-1") {
    const body = JSON.stringify({ id, instanceId: instance, username: "jdoe", updatetime: "2026-11-20T08:00:00Z" });
    return new Request("/api/Stats/Post", { method: "POST", headers: json, body });
}

/** The error of a call, as data. */
export const failure = (promise) =>
    promise.then(
        () => undefined,
        (error) => ({ code: error.code, message: error.message, cause: String(error.cause), ours: error instanceof DeskfleetError }),
    );

/** Posts one record after the other, and reports each that was acknowledged. */
export async function postForEver(engine, acknowledged, together = 1, first = 0, instance = "ws-1") {
    for (let id = first; ; id += together) {
        const ids = Array.from({ length: together }, (_, index) => id + index);
        const responses = await Promise.all(ids.map((each) => engine.fetch(postRequest(each, instance))));
        acknowledged(ids.filter((_, index) => responses[index].status === 200));
    }
}

Object.assign(globalThis, { connect, postRequest, idsOf, failure, postForEver });
