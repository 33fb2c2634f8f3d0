// The dedicated worker that `connect` starts.

import { errorParts } from "./browser/calls.js";
import { Member } from "./browser/member.js";
import { Engine } from "./index.js";
import { opfsStorage } from "./storage/opfs.js";

/** @type {Member | undefined} */
let member;

const bodiesOf = (answers) => answers.flatMap(({ value }) => (value?.body instanceof Uint8Array ? [value.body.buffer] : []));

async function open({ name, options }) {
    const openEngine = () => Engine.open({ ...options, storage: opfsStorage(name) });
    member = new Member(name, openEngine, (answers) => postMessage({ answers }, { transfer: bodiesOf(answers) }));
    try {
        await member.join((lock) => postMessage({ lock }));
        postMessage({ opened: true });
    } catch (error) {
        postMessage({ failed: errorParts(error) });
    }
}

async function close() {
    try {
        await member.close();
        postMessage({ closed: true });
    } catch (error) {
        postMessage({ closed: true, failed: errorParts(error) });
    }
}

addEventListener("message", ({ data }) => {
    if (data.calls) member.take(data.calls);
    else if (data.open) void open(data.open);
    else if (data.close) void close();
});
