// node main.mjs
import { Engine } from "deskfleet";
import { fileStorage } from "deskfleet/node";

const engine = await Engine.open({ storage: fileStorage("fleet.redb") });

// The host's side: typed calls.
await engine.putWorkspaces([{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }]);
const name = `desk, ${new Date().toISOString()}`; // of each run: two keys in use have two names
const { key } = await engine.issueKey({ name, scopes: ["read", "act"] });

// The interface: a Request in, a Response out once what it wrote is durable.
const url = "http://fleet/api/Information/GetAllWorkSpaces";
const response = await engine.fetch(new Request(url, { headers: { "x-api-key": key } }));
console.log(response.status, await response.json());

// The same without these objects, at once.
const json = { "content-type": "application/json" };
const { status } = engine.handle("POST", "/api/Stats/Post", json, '{"instanceId":"ws-1","processorInUse":12}');
console.log(status, await engine.queueCount());

await engine.close();
