import { DurableObject } from "cloudflare:workers";
import { Engine } from "deskfleet";
import { durableObjectStorage } from "deskfleet/durable-object";

/** One fleet, kept in the SQLite database of its object. */
export class Fleet extends DurableObject {
    constructor(ctx, env) {
        super(ctx, env);
        ctx.blockConcurrencyWhile(async () => {
            this.engine = await Engine.open({ storage: durableObjectStorage(ctx.storage) });
            if ((await ctx.storage.getAlarm()) === null) await ctx.storage.setAlarm(Date.now() + 60_000);
        });
    }

    fetch(request) {
        return this.engine.fetch(request);
    }

    /** Called by other Workers through the binding, never from outside. */
    putWorkspaces(workspaces) {
        return this.engine.putWorkspaces(workspaces);
    }

    issueKey(key) {
        return this.engine.issueKey(key);
    }

    async alarm() {
        await this.engine.maintain();
        await this.ctx.storage.setAlarm(Date.now() + 60_000);
    }
}

export default {
    fetch(request, env) {
        return env.FLEET.getByName("fleet").fetch(request);
    },
};
