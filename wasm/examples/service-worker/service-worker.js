// npm install deskfleet; with a bundler the name of the package is enough: "deskfleet/service-worker".
import { answerFetches } from "./node_modules/deskfleet/service-worker.js";

answerFetches({
    name: "fleet",
    paths: ["/api/"],
    async onOpen(engine) {
        await engine.putWorkspaces([{ workSpId: "ws-1", username: "jdoe", state: "AVAILABLE" }]);
    },
});
