// A demo fleet with a working week of telemetry, to look at before anything is connected: the kind of fleet that the server makes
// with `--demo`. Everything follows from the seed and the time.

const DESKTOPS = 320;
const HOLDS = 3;
/** In milliseconds. */
const MINUTE = 60_000;
const LOOK = 15 * MINUTE;
const DAY = 1440 * MINUTE;
const WEEK = 7 * DAY;
const GIB = 2 ** 30;
/** Desktops whose records go into one request, about 300 kB: few enough for a slow machine to stay responsive. */
const TOGETHER = 2;

/** Region, directory, account, minutes east of UTC; the larger sites stand here more often. @type {[string, string, string, number][]} */
const SITES = [
    ["eu-west-1", "d-93670a1b2c", "111122223333", 0],
    ["eu-central-1", "d-9967ac41de", "111122223333", 60],
    ["us-east-1", "d-90672fb09e", "444455556666", -300],
    ["us-east-1", "d-906740c7d1", "444455556666", -300],
    ["ap-southeast-2", "d-976738e1f0", "777788889999", 600],
];
/** Name, processors, memory in GiB. @type {[string, number, number][]} */
const COMPUTE_TYPES = [
    ["STANDARD", 2, 4],
    ["STANDARD", 2, 4],
    ["STANDARD", 2, 4],
    ["PERFORMANCE", 2, 8],
    ["PERFORMANCE", 2, 8],
    ["VALUE", 1, 2],
    ["POWER", 4, 16],
    ["POWERPRO", 8, 32],
    ["GRAPHICS_G4DN", 4, 16],
];
const SURNAMES =
    "abara almeida berg castillo chen dubois eriksen fischer garcia haddad hansen ito ivanova jansen kaya kim kowalski larsen lopez martin meyer mori murphy nguyen novak okafor oliveira patel petrov quinn rossi santos sato schmidt silva singh tanaka virtanen weber yilmaz".split(
        " ",
    );
const STATES = ["UNHEALTHY", "UNHEALTHY", "UNHEALTHY", "IMPAIRED", "ERROR", "ERROR", "MAINTENANCE", "SUSPENDED", "SUSPENDED", "PENDING"];
/** Name, how many of each run, on how many desktops in a hundred, the most load in percent, the usual memory of all in MiB. @type {[string, number, number, number, number][]} */
const PROCESSES = [
    ["msedge.exe", 14, 96, 22, 1100],
    ["OUTLOOK.EXE", 1, 88, 8, 310],
    ["ms-teams.exe", 6, 71, 18, 860],
    ["EXCEL.EXE", 2, 54, 26, 240],
    ["explorer.exe", 1, 100, 4, 130],
    ["svchost.exe", 71, 100, 6, 620],
    ["MsMpEng.exe", 1, 100, 31, 210],
    ["acrobat.exe", 2, 29, 12, 190],
];

/** Repeatable randomness (SplitMix, 32 bits). @param {number} seed */
function random(seed) {
    const next = () => {
        seed = (seed + 0x9e3779b9) | 0;
        let z = Math.imul(seed ^ (seed >>> 16), 0x21f0aaad);
        z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
        return ((z ^ (z >>> 15)) >>> 0) / 2 ** 32;
    };
    /** @param {number} low @param {number} high */
    const between = (low, high) => low + Math.floor(next() * (high - low + 1));
    return {
        between,
        /** Around the middle: two dice instead of one. @param {number} low @param {number} high */
        around: (low, high) => Math.floor((between(low, high) + between(low, high)) / 2),
        /** @template T @param {readonly T[] | string} items @returns {T} */
        pick: (items) => /** @type {T} */ (items[between(0, items.length - 1)]),
    };
}

/** @typedef {ReturnType<typeof random>} Random */
/** @typedef {ReturnType<typeof desktop>} Desktop */

/** @param {number} number @param {Random} dice */
function desktop(number, dice) {
    const word = (/** @type {string} */ alphabet, /** @type {number} */ length) => Array.from({ length }, () => dice.pick(alphabet)).join("");
    const [region, directoryId, account, east] = dice.pick(SITES);
    const [computeTypeName, processors, memory] = dice.pick(COMPUTE_TYPES);
    const runningMode = dice.pick(["AUTO_STOP", "AUTO_STOP", "ALWAYS_ON"]);
    const fate = dice.between(0, 99);
    const habit = dice.between(1, 100);
    return {
        workspace: {
            workSpId: `ws-${word("0123456789bcdfghjklmnpqrstvwxyz", 9)}`,
            computerName: `WSAMZN-${word("0123456789ABCDEFGHJKLMNPQRSTUVWXYZ", 8)}`,
            account,
            region,
            directoryId,
            runningMode,
            computeTypeName,
            protocol: dice.pick(["WSP", "WSP", "PCOIP"]),
            username: "abdehjklmnprst"[Math.floor(number / SURNAMES.length)] + SURNAMES[number % SURNAMES.length],
            state: STATES[fate] ?? (fate < 40 && runningMode === "AUTO_STOP" ? "STOPPED" : "AVAILABLE"),
        },
        logon: dice.around(435, 585) - east,
        stay: dice.around(360, 630),
        processors,
        memory,
        overloaded: habit <= 5,
        unused: habit > 95,
    };
}

/** The days of a user: logon, lunch, back, end. @param {Desktop} desktop @param {number} start @param {Random} dice @returns {number[][]} */
function sessions({ logon, stay, unused }, start, dice) {
    const days = [];
    for (let day = Math.floor(start / DAY) - 1; day <= start / DAY + 8; day++) {
        const weekday = (day + 3) % 7;
        if (dice.between(1, 100) > (weekday < 5 ? 95 : 6) || unused) continue;
        const later = (/** @type {number} */ time, /** @type {number} */ low, /** @type {number} */ high) => time + dice.around(low * 60, high * 60) * 1000;
        const on = later(day * DAY, logon - 15, logon + 15);
        const lunch = later(on, 180, 270);
        days.push([on, lunch, later(lunch, 20, 70), later(on, stay - 30, stay + 30)]);
    }
    return days;
}

/** The lines of telemetry of a desktop in the week before `end`. @param {Desktop} desktop @param {number} end @param {Random} dice */
function week(desktop, end, dice) {
    const { workspace, processors, memory, overloaded } = desktop;
    const start = end - WEEK;
    /** @type {string[]} */
    const lines = [];
    const names = { instanceId: workspace.workSpId, username: workspace.username, computeTypeName: workspace.computeTypeName };
    /** @param {string} stream @param {string} named member with the time @param {number} time @param {object} more */
    const add = (stream, named, time, more) => {
        if (time >= start && time < end) lines.push(JSON.stringify({ [stream]: { ...names, [named]: new Date(time).toISOString(), ...more } }));
    };
    const days = sessions(desktop, start, dice);
    for (const [on, lunch, back, off] of days) {
        const times = dice.between(1, 100) <= (overloaded ? 70 : 3) ? 5 : 1;
        const [profileMs, groupPolicyMs, shellMs] = [dice.around(900, 9000) * times, dice.around(1500, 14_000) * times, dice.around(1200, 6000)];
        add("startup", "baselineUtc", on, { profileMs, groupPolicyMs, shellMs, totalMs: profileMs + groupPolicyMs + shellMs + dice.between(100, 900) });
        /** @type {[number, string][]} */
        const acts = [[on, "Logon"], [lunch, "Lock"], [back, "Unlock"], [off, dice.pick(["Logoff", "Disconnect", "Disconnect"])]];
        for (const [time, activity] of acts) add("activity", "activityTime", time, { activity, tenantId: "contoso" });
    }
    const programs = PROCESSES.filter(([, , share]) => dice.between(1, 100) <= share);
    const alwaysOn = workspace.runningMode === "ALWAYS_ON";
    const started = start - DAY * dice.between(1, 20);
    const phase = dice.between(0, 899_000);
    for (let look = 0; look < WEEK / LOOK; look++) {
        const time = start + look * LOOK + phase;
        const session = days.find(([on, , , off]) => on <= time && time < off);
        if (session === undefined && !(alwaysOn && look % 4 === 0)) continue;
        const away = session !== undefined && session[1] <= time && time < session[2];
        const [cpuLow, cpuHigh, usedLow, usedHigh, traffic] =
            session === undefined ? [0, 4, 22, 34, 4] : away ? [0, 8, 40, 55, 12] : overloaded ? [82, 100, 88, 98, 900] : [2, 58, 42, 80, 400];
        const rate = () => dice.around(0, 2 * traffic) / 2;
        const physicalMemory = memory * GIB;
        const memoryInUse = Math.floor((physicalMemory * dice.around(usedLow, usedHigh)) / 409_600) * 4096;
        const rootAvailable = dice.around(28_000, 31_000) * 2 ** 20;
        add("stats", "updatetime", time, {
            ...(session === undefined ? { username: null } : {}),
            processorCount: processors,
            processorInUse: dice.around(cpuLow, cpuHigh),
            physicalMemory,
            availablePhysicalMemory: physicalMemory - memoryInUse,
            virtualMemory: physicalMemory + 2 * GIB,
            availableVirtualMemory: physicalMemory + 2 * GIB - memoryInUse,
            memoryInUse,
            rootTotal: 80 * GIB,
            rootAvailable,
            userTotal: 50 * GIB,
            userAvailable: rootAvailable / 2 + 9 * GIB,
            diskReads: rate(),
            diskWrites: rate(),
            networkReceived: rate() * 1024,
            networkSent: rate() * 256,
            uptime: Math.round((time - (session === undefined || alwaysOn ? started : session[0] - 90_000)) / 1000),
            osVersion: "10.0.20348",
            tenantId: "contoso",
        });
        if (session !== undefined && look % 8 === 0) {
            const processes = programs.map(([processName, processCount, , load, memory]) => ({
                processName,
                processCount,
                processorUsage: dice.between(0, load * 100) / 100 / dice.between(1, 6),
                memoryUsage: Math.round((memory * dice.around(60, 140)) / 100) * 2 ** 20,
                username: workspace.username,
            }));
            add("processes", "createdDate", time, { processes });
        }
    }
    return lines;
}

/**
 * What to send to an empty fleet, in this order; lines of a request are generated when it is its turn.
 * @typedef {{ method: string, path: string, query?: Record<string, string>, lines?: string[], json?: unknown}} Step
 * @param {number} seed
 * @param {number} now in milliseconds since 1970
 * @returns {Generator<Step & { done: number, of: number }, void>}
 */
export function* demo(seed, now) {
    const dice = random(seed);
    const desktops = Array.from({ length: DESKTOPS }, (_, number) => desktop(number, dice));
    const reporting = desktops.filter(({ workspace: { state } }) => ["AVAILABLE", "UNHEALTHY", "IMPAIRED"].includes(state));
    const of = reporting.length;
    yield { method: "POST", path: "/operator/workspaces", lines: desktops.map(({ workspace }) => JSON.stringify(workspace)), done: 0, of };
    for (let done = 0; done < of; done += TOGETHER) {
        const lines = reporting.slice(done, done + TOGETHER).flatMap((each) => week(each, now, dice));
        yield { method: "POST", path: "/operator/telemetry", lines, done, of };
    }
    const ids = (/** @type {string} */ wanted) => desktops.filter(({ workspace: { state } }) => state === wanted).map(({ workspace }) => workspace.workSpId);
    const available = ids("AVAILABLE");
    for (const id of available.slice(0, HOLDS)) {
        const json = { matter: "Matter 2026-017", reason: "Custodian of the 2026 supply contract" };
        yield { method: "PUT", path: `/operator/workspaces/${id}/litigation-hold`, json, done: of, of };
    }
    /** @type {[string, string | undefined][]} */
    const actions = [
        ["RebootWorkSpace", available[5]],
        ["RebootWorkSpace", available[9]],
        ["ChangeComputeType", available[12]],
        ["StartWorkSpace", ids("STOPPED")[0]],
        ["StartWorkSpace", ids("STOPPED")[1]],
        ["RestoreWorkSpace", ids("IMPAIRED")[0]],
        ["RebuildWorkSpace", ids("ERROR")[0]],
        ["RebootWorkSpace", ids("UNHEALTHY")[0]],
    ];
    for (const [action, workSpaceId] of actions) {
        if (workSpaceId === undefined) continue;
        const requester = dice.pick(["svc-desk", "svc-desk", "m.keller", "night-ops"]);
        const computeType = action === "ChangeComputeType" ? "POWER" : "";
        yield { method: "POST", path: `/api/Actions/${action}`, query: { workSpaceId, requester, computeType }, done: of, of };
    }
}
