// A reporter for `node --test`: one sentence with the number of skipped tests by reason, and the command that installs what is
// missing. Writes nothing when no test was skipped.

import { installCommand } from "./runtimes.mjs";

/** @param {AsyncIterable<{ type: string, data: { skip?: string | true } }>} events */
export default async function* (events) {
    /** @type {Map<string, number>} */
    const reasons = new Map();
    for await (const { type, data } of events) {
        if (type !== "test:pass" || data.skip === undefined) continue;
        const reason = typeof data.skip === "string" ? data.skip : "no reason given";
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    if (reasons.size === 0) return;
    const counts = [...reasons].map(([reason, count]) => `${count} (${reason})`);
    yield `Skipped tests of the npm package: ${counts.join(", ")}.\n`;
    const missing = [...reasons.keys()].map((reason) => /^(\S+) is not installed$/.exec(reason)?.[1]).filter((name) => name !== undefined);
    if (missing.length > 0) yield `Install with: ${installCommand(missing)}\n`;
}
