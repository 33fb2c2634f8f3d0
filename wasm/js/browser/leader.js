import { DeskfleetError } from "../errors.js";
import { CALLS, errorParts, partsOf, requestOf } from "./calls.js";
import { removeStore } from "./store.js";

/** The engine of the one worker that has the file open, shared by all members. */
export class Leader {
    #name;
    #open;
    /** @type {Promise<import("../index.js").Engine> | undefined} */
    #engine;
    #running = 0;
    #idle = () => {};

    /**
     * @param {string} name of the store
     * @param {() => Promise<import("../index.js").Engine>} open
     */
    constructor(name, open) {
        this.#name = name;
        this.#open = open;
    }

    /** The engine; opened when there is none, and again when the last attempt failed or the last engine crashed. */
    engine() {
        return this.#engine ?? this.#keep(this.#open());
    }

    #keep(opening) {
        this.#engine = opening;
        opening.catch(() => {
            if (this.#engine === opening) this.#engine = undefined;
        });
        return opening;
    }

    /** Makes a call. Its result or error is data. */
    async answer({ id, name, argument }) {
        this.#running += 1;
        const engine = this.engine();
        try {
            return { id, value: await this.#make(engine, name, argument) };
        } catch (error) {
            // Its storage is whole: the next call opens another engine on it.
            if (error?.code === "EngineCrashed" && this.#engine === engine) this.#engine = undefined;
            return { id, error: errorParts(error) };
        } finally {
            this.#running -= 1;
            if (this.#running === 0) this.#idle();
        }
    }

    async #make(opening, name, argument) {
        if (name === "wipe") return this.#wipe();
        const engine = await opening;
        if (name === "fetch") return partsOf(await engine.fetch(requestOf(argument)));
        if (name === "storageKind") return engine.storageKind;
        if (!CALLS.has(name)) throw new DeskfleetError("InvalidArgument", `there is no call ${name}`);
        return engine[name](...argument);
    }

    /** Begins again with an empty store. Calls meanwhile wait for it. */
    #wipe() {
        const old = this.#engine;
        const wiped = (async () => {
            const engine = await old?.catch(() => {});
            await engine?.close();
            await removeStore(this.#name, engine?.storageKind ?? "opfs");
        })();
        return this.#keep(wiped.then(() => this.#open())).then(() => {});
    }

    /** Ends once all calls have returned. */
    async close() {
        if (this.#running > 0) await new Promise((idle) => (this.#idle = idle));
        const engine = await this.#engine?.catch(() => {});
        await engine?.close();
    }
}
