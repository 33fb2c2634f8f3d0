import { connect } from "deskfleet/opfs";

// The engine runs in a worker and keeps a file of this origin. Every tab that connects shares it.
const engine = await connect({ name: "fleet.redb" });
await engine.persist(); // asks the browser never to throw the file away

await engine.fetch(
    new Request("/api/Stats/Post", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ instanceId: "ws-1", username: "jdoe", updatetime: new Date().toISOString() }),
    }),
);
document.querySelector("#answer").textContent = `${await engine.queueCount()} in the queue`;
