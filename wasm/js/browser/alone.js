import { afterThisTurn } from "../turn.js";
import { Leader } from "./leader.js";
import { gathered } from "./member.js";

/** The only user of its store, where the browser has no locks by which workers could share one. It has the methods of a `Member`. */
export class Alone {
    #leader;
    #deliver;

    /** @param {string} name @param {() => Promise<import("../index.js").Engine>} open @param {(answers: object[]) => void} deliver */
    constructor(name, open, deliver) {
        this.#leader = new Leader(name, open);
        this.#deliver = gathered(deliver);
    }

    async join() {
        await this.#leader.engine();
    }

    take(calls) {
        for (const call of calls) void this.#leader.answer(call).then(this.#deliver);
    }

    async close() {
        await this.#leader.close();
        // Results are sent at the end of a turn; the end comes after them.
        for (let turn = 0; turn < 2; turn++) await new Promise(afterThisTurn);
    }
}
