// A demo fleet: the same at each load, with times up to now.

const WORKSPACES = 120;
const MINUTES = 60_000;
/** Posts of one turn share a commit. */
const TOGETHER = 500;
const NAMES = ["jdoe", "asmith", "mgarcia", "lchen", "kpatel", "tnguyen", "sivanova", "bokafor", "hyilmaz", "rdubois"];
const STATES = ["AVAILABLE", "AVAILABLE", "AVAILABLE", "STOPPED", "UNHEALTHY"];
const TYPES = ["VALUE", "STANDARD", "PERFORMANCE", "POWER"];

/** Pseudo-random numbers from 0 up to a bound, in the same order each time. */
function series(seed) {
    let state = seed;
    return (bound) => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return Math.floor((state / 2 ** 32) * bound);
    };
}

function workspaces() {
    const pick = series(7);
    return Array.from({ length: WORKSPACES }, (_, index) => ({
        workSpId: `ws-${String(index).padStart(4, "0")}`,
        computerName: `DESK-${(index * 7919 + 4096).toString(16).toUpperCase()}`,
        account: "123456789012",
        region: ["eu-central-1", "us-east-1"][pick(2)],
        directoryId: "d-9067a1b2c3",
        runningMode: ["AUTO_STOP", "ALWAYS_ON"][pick(2)],
        computeTypeName: TYPES[pick(TYPES.length)],
        protocol: "WSP",
        username: `${NAMES[index % NAMES.length]}${Math.floor(index / NAMES.length) || ""}`,
        state: STATES[pick(STATES.length)],
    }));
}

/** The telemetry of the desktops for the last hours. @returns {Generator<[string, object]>} */
function* telemetry(fleet, now) {
    const pick = series(11);
    let id = 0;
    for (const { workSpId, username, computeTypeName } of fleet) {
        const who = { instanceId: workSpId, username, computeTypeName };
        const at = (minutes) => new Date(now - minutes * MINUTES).toISOString();
        yield ["PostStartupMetrics", { id: (id += 1), ...who, baselineUtc: at(241), profileMs: 900 + pick(2000), groupPolicyMs: 400 + pick(1500), shellMs: 1200 + pick(900), totalMs: 4000 + pick(3000) }];
        yield ["PostActivity", { id: (id += 1), ...who, activity: "Logon", activityTime: at(240) }];
        for (let minutes = 240; minutes > 0; minutes -= 15) {
            const memory = 8 * 2 ** 30;
            const used = pick(memory);
            yield ["Post", { id: (id += 1), ...who, updatetime: at(minutes), processorCount: 4, processorInUse: pick(100), physicalMemory: memory, availablePhysicalMemory: memory - used, memoryInUse: used, diskReads: pick(400), diskWrites: pick(200), uptime: (241 - minutes) * 60, osVersion: "10.0.20348" }];
        }
        if (pick(3) === 0) yield ["PostActivity", { id: (id += 1), ...who, activity: "Logoff", activityTime: at(2) }];
    }
}

/** Puts the fleet into an engine and posts its telemetry; reports progress. */
export async function loadFleet(engine, now, progress) {
    const fleet = workspaces();
    await engine.putWorkspaces(fleet);
    const records = [...telemetry(fleet, now)];
    const headers = { "content-type": "application/json" };
    const began = performance.now();
    for (let done = 0; done < records.length; done += TOGETHER) {
        const posts = records
            .slice(done, done + TOGETHER)
            .map(([path, record]) => engine.fetch(new Request(`/api/Stats/${path}`, { method: "POST", headers, body: JSON.stringify(record) })));
        const refused = (await Promise.all(posts)).find(({ status }) => status !== 200);
        if (refused) throw new Error(`a record was refused with ${refused.status}: ${await refused.text()}`);
        progress(Math.min(done + TOGETHER, records.length), records.length);
    }
    return { workspaces: fleet.length, records: records.length, milliseconds: performance.now() - began };
}
