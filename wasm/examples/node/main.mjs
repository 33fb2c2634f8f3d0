// node main.mjs
import { Engine } from "deskfleet";
import { fileStorage } from "deskfleet/node";

const engine = await Engine.open({ storage: fileStorage("fleet.redb") });

await engine.putWorkspaces([{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }]);
const { key } = await engine.issueKey({ name: "desk", scopes: ["read", "act"] });

const response = await engine.fetch(
    new Request("http://fleet/api/Information/GetAllWorkSpaces", { headers: { "x-api-key": key } }),
);
console.log(response.status, await response.json());

await engine.close();
