// npm install deskfleet msw && node main.mjs
import { http } from "msw";
import { setupServer } from "msw/node";
import { Engine } from "deskfleet";
import { handlers } from "deskfleet/msw";

const engine = await Engine.open({ seed: 1 });
await engine.putWorkspaces([{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }]);
const { key } = await engine.issueKey({ name: "desk", scopes: ["read"] });

const server = setupServer(...handlers(engine, http, { origin: "https://fleet.example" }));
server.listen({ onUnhandledRequest: "error" });

// The code under test knows nothing of this.
const response = await fetch(`https://fleet.example/api/Information/GetAllWorkSpaces?apiKey=${key}`);
console.log(response.status, await response.json());

server.close();
await engine.close();
