// The posts of the benches: in Node, and in a browser's worker and page.

const HEADERS = { "content-type": "application/json" };
const MEASURED_MS = 3000;
const KILO = 1000;

/** A record with every field, about 570 bytes. */
export function recordOf(id) {
    return JSON.stringify({
        id,
        computeTypeName: "STANDARD",
        updatetime: new Date(Date.UTC(2026, 10, 20, 8) + id * 10).toISOString(),
        username: `user${id % 500}`,
        processorCount: 4,
        processorInUse: id % 100,
        physicalMemory: 8_589_934_592,
        availablePhysicalMemory: 4_294_967_296 + id,
        virtualMemory: 17_179_869_184,
        availableVirtualMemory: 8_589_934_592 + id,
        memoryInUse: 4_294_967_296 - id,
        rootTotal: 85_899_345_920,
        rootAvailable: 42_949_672_960,
        userTotal: 53_687_091_200,
        userAvailable: 26_843_545_600,
        diskReads: (id % 977) / 8,
        diskWrites: (id % 613) / 8,
        networkReceived: (id % 10_007) / 4,
        networkSent: (id % 5003) / 4,
        uptime: 3600 + id / 100,
        osVersion: "10.0.20348",
        tenantId: "tenant-1",
        instanceId: `ws-${id % 500}`,
    });
}

/** Posts turn after turn for a few seconds; returns the durable records per second, overall and of the best turn. */
export async function timed(engine, together, record) {
    const bodies = Array.from({ length: 20_000 }, (_, id) => record(id));
    const post = (body) => engine.fetch(new Request("/api/Stats/Post", { method: "POST", headers: HEADERS, body }));
    const turn = async (first) => {
        const responses = await Promise.all(Array.from({ length: together }, (_, index) => post(bodies[(first + index) % bodies.length])));
        for (const { status } of responses) if (status !== 200) throw new Error(`a record was answered ${status}`);
    };
    await turn(0);
    let [posted, best, second, since] = [0, 0, 0, performance.now()];
    const began = since;
    for (let now = began; now - began < MEASURED_MS; now = performance.now()) {
        await turn(posted + together);
        posted += together;
        second += together;
        if (performance.now() - since < KILO) continue;
        best = Math.max(best, (second / (performance.now() - since)) * KILO);
        [second, since] = [0, performance.now()];
    }
    return { rate: Math.round((posted / (performance.now() - began)) * KILO), best: Math.round(best) };
}
