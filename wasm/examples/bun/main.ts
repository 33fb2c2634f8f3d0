// PORT=8000 bun main.ts
import { Engine } from "deskfleet";
import { fileStorage } from "deskfleet/node";

const engine = await Engine.open({ storage: fileStorage("fleet.redb") });
setInterval(() => engine.maintain().catch(console.error), 1000);

export default { fetch: (request: Request) => engine.fetch(request) };
