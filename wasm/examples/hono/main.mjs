// npm install deskfleet hono && node main.mjs
import { Hono } from "hono";
import { Engine } from "deskfleet";
import { mount } from "deskfleet/hono";

const engine = await Engine.open();
const app = new Hono();
app.get("/", (context) => context.text("Fleets live below /fleet."));
app.all("/fleet/*", mount(engine, { base: "/fleet" }));

// Serve `app` as your runtime does; here, it is only asked.
const posted = await app.request("/fleet/api/Stats/Post", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ instanceId: "ws-1", username: "jdoe" }),
});
const count = await app.request("/fleet/api/Stats/queue/count");
console.log(posted.status, await count.json());

await engine.close();
