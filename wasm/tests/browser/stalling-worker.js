// The worker of `connect`, which a test can make stall, as a browser may.

import "../../pkg/opfs-worker.js";

addEventListener("message", ({ data }) => {
    if (!data.stall) return;
    const request = new XMLHttpRequest();
    request.open("GET", "/hang", false);
    // From here on it takes nothing.
    postMessage({ stalls: true });
    request.send();
});
