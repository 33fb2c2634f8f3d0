// The Durable Object of the example with test endpoints: calls that no client may make, and its storage by itself.

import { DeskfleetError, Engine, memoryStorage } from "deskfleet";
import { durableObjectStorage } from "deskfleet/durable-object";
import { Engine as Inline } from "deskfleet/inline";
import { DurableObject } from "cloudflare:workers";
import { Fleet as Example } from "./worker.js";
import { play } from "./conformance.mjs";
import { compare } from "./storage-model.mjs";

export class Fleet extends Example {
    #made = crypto.randomUUID();

    call(name, parameters) {
        return this.engine[name](...parameters);
    }

    made() {
        return this.#made;
    }

    /** As when the host of the object is lost: nothing of this object is called again. */
    lose() {
        this.ctx.abort("lost");
    }

    /** A second engine on a storage that is open in the first. */
    async openTwice() {
        return codeOf(() => Engine.open({ storage: durableObjectStorage(this.ctx.storage) }));
    }
}

/** An object without an engine, for its storage alone. */
export class Store extends DurableObject {
    #open = () => durableObjectStorage(this.ctx.storage);

    compare(seed, steps) {
        return compare(this.#open, seed, steps);
    }

    /** All bytes, as a hash. */
    async hash() {
        const storage = this.#open();
        const bytes = new Uint8Array(storage.len());
        storage.read(0, bytes);
        storage.close();
        return `${bytes.length} ${new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).join(" ")}`;
    }

    lose() {
        this.ctx.abort("lost");
    }

    /**
     * Replays transcripts. They are a request body: the parameters of a call are limited to 32 MiB, and transcripts
     * are longer.
     */
    async fetch(request) {
        const durable = new URL(request.url).searchParams.has("durable");
        const empty = () => {
            for (const table of ["deskfleet_store", "deskfleet_rows", "deskfleet_log"]) this.ctx.storage.sql.exec(`DROP TABLE IF EXISTS ${table}`);
            return this.#open();
        };
        return Response.json(await play((await request.text()).split("\n"), (options) => Engine.open(options), durable ? empty : memoryStorage));
    }

    /** The response when the object has reached its limit. */
    async full(maxBytes) {
        const engine = await Engine.open({ storage: durableObjectStorage(this.ctx.storage, { maxBytes }) });
        const { status, body } = engine.handle("POST", "/api/Stats/Post", { "content-type": "application/json" }, "{}");
        await engine.close();
        return `${status} ${new TextDecoder().decode(body)}`;
    }

    /** Compiling bytes is forbidden here. */
    async inlined() {
        return codeOf(() => Inline.open());
    }

    async wrongVersion() {
        this.#open().close();
        this.ctx.storage.sql.exec("INSERT OR REPLACE INTO deskfleet_store VALUES (1, 4096, 4096)");
        return codeOf(this.#open);
    }
}

async function codeOf(call) {
    try {
        await call();
    } catch (error) {
        return error instanceof DeskfleetError ? error.code : String(error);
    }
    return undefined;
}

export default {
    async fetch(request, env) {
        const { pathname, searchParams } = new URL(request.url);
        const [, door, name] = pathname.split("/");
        if (door !== "fleet" && door !== "store") return env.FLEET.getByName("fleet").fetch(request);
        const stub = door === "fleet" ? env.FLEET.getByName("fleet") : env.STORE.getByName(searchParams.get("name") ?? "store");
        try {
            if (name === "play") return await stub.fetch(request);
            return Response.json((await stub[name](...(await request.json()))) ?? null);
        } catch (error) {
            return new Response(String(error), { status: 500 });
        }
    },
};
