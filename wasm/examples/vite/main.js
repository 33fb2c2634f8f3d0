// npm install deskfleet vite && npx vite
import { Engine } from "deskfleet";

const engine = await Engine.open();
await engine.fetch(
    new Request("/api/Stats/Post", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ instanceId: "ws-1", username: "jdoe" }),
    }),
);
const count = await engine.fetch(new Request("/api/Stats/queue/count"));
document.querySelector("#answer").textContent = `${await count.text()} record waits to be filed`;
