// Replays the transcripts of `tests/examples/write_transcripts.rs` on an engine of any runtime, and compares byte by
// byte. Uses only what all runtimes have.

/**
 * @param {Iterable<string> | AsyncIterable<string>} lines transcripts, one JSON object per line
 * @param {(options: object) => Promise<object>} open opens an engine
 * @param {() => object} makeStorage makes an empty storage
 */
export async function play(lines, open, makeStorage) {
    const found = { cases: 0, answers: 0, differences: [] };
    for await (const line of lines) {
        if (line === "") continue;
        const transcript = JSON.parse(line);
        const host = { now: 0, free: Number.MAX_SAFE_INTEGER, broken: false };
        const [first] = transcript.steps;
        host.now = first.clock;
        const engine = await open({
            ...transcript.options,
            clock: () => host.now,
            storage: movable(makeStorage(), host),
        });
        for (const [index, step] of transcript.steps.entries()) {
            const difference = await take(engine, step, host);
            if (step.request) found.answers += 1;
            if (difference) found.differences.push(`[${transcript.row}] ${transcript.name}, step ${index}: ${difference}`);
        }
        host.broken = false;
        await engine.close();
        found.cases += 1;
    }
    return found;
}

/** Nothing may differ, and something must have been compared. */
export function assertSame(assert, context, { cases, answers, differences }) {
    context.diagnostic(`${cases} cases with ${answers} answers were compared`);
    assert.equal(differences.length, 0, `${differences.length} answers differ, the first:\n${differences.slice(0, 5).join("\n")}`);
    assert.ok(cases >= 300 && answers >= 3000, `only ${cases} cases with ${answers} answers were compared`);
}

/** A storage that the host can make fail or fill up. */
function movable(storage, host) {
    const writing = (work) => {
        if (host.broken) throw new Error("the storage takes no writes");
        return work();
    };
    return {
        len: () => storage.len(),
        read: (offset, into) => storage.read(offset, into),
        write: (offset, from) => writing(() => storage.write(offset, from)),
        setLen: (bytes) => writing(() => storage.setLen(bytes)),
        sync: () => writing(() => storage.sync()),
        close: () => storage.close(),
        freeBytes: () => host.free,
    };
}

/** Runs a step; returns the difference, if there is one. */
async function take(engine, step, host) {
    if ("request" in step) return compared(step, engine);
    if ("clock" in step) host.now = step.clock;
    else if ("free" in step) host.free = Math.min(step.free, Number.MAX_SAFE_INTEGER);
    else if ("broken" in step) host.broken = step.broken;
    else if ("key" in step) await engine.issueKey({ ...step.key, expires: step.key.expires ?? undefined });
    else if ("put" in step) await engine.putWorkspaces([step.put]);
    else if ("hold" in step) await engine.placeHold(step.hold, { matter: step.matter });
    else if ("maintain" in step) await engine.maintain();
    else if ("file" in step) while ((await engine.filePending()) > 0);
    else if ("record" in step) {
        const headers = { "content-type": "application/json" };
        const { status } = engine.handle("POST", step.record, headers, JSON.stringify(step.body));
        if (status !== 200) return `${step.record} answered ${status} to a record of the host`;
    } else return `what is ${Object.keys(step)}?`;
    return undefined;
}

function compared({ request, answer }, engine) {
    const { method, url, headers, body } = request;
    const found = engine.handle(method, url, headers, bytesOf(body));
    const expected = { status: answer.status, headers: Object.fromEntries(answer.headers), body: bytesOf(answer.body) };
    const sorted = Object.fromEntries(Object.entries(found.headers).sort(([a], [b]) => (a < b ? -1 : 1)));
    const got = { status: found.status, headers: sorted, body: found.body };
    const hasSameHead = got.status === expected.status && JSON.stringify(got.headers) === JSON.stringify(expected.headers);
    if (hasSameHead && (isSame(got.body, expected.body) || withoutSize(got.body) === withoutSize(expected.body))) return undefined;
    return `${method} ${url}\n  natively ${shown(expected)}\n  here     ${shown(got)}`;
}

function isSame(one, other) {
    return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** A body without the length of the store, which depends on the storage, and without the free space, of which JavaScript's integers are too short. */
function withoutSize(body) {
    return new TextDecoder().decode(body).replace(/("(?:storeBytes|freeBytes|bytes)":|deskfleet_(?:store|disk_free)_bytes )\d+/g, "$1");
}

function shown({ status, headers, body }) {
    return `${status} ${JSON.stringify(headers)} ${new TextDecoder().decode(body).slice(0, 1500)}`;
}

/** Not with the callback of `Uint8Array.from`: that took two fifths of the time of a comparison. */
function bytesOf(base64) {
    const binary = atob(base64);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
    return bytes;
}
