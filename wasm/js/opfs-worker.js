// The dedicated worker that `connect` starts.

import { Alone } from "./browser/alone.js";
import { errorParts } from "./browser/calls.js";
import { Member } from "./browser/member.js";
import { openStore } from "./browser/store.js";
import { Engine } from "./index.js";
import { isBytes } from "./kinds.js";

/** @type {Member | Alone | undefined} */
let member;

const bodiesOf = (answers) => answers.flatMap(({ value }) => (isBytes(value?.body) ? [value.body.buffer] : []));

async function open({ name, options, fallback }) {
    const openEngine = () => Engine.open({ ...options, storage: openStore(name, fallback) });
    const Kind = navigator.locks === undefined ? Alone : Member;
    member = new Kind(name, openEngine, (answers) => postMessage({ answers }, { transfer: bodiesOf(answers) }));
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
