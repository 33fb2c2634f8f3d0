// The worker of `connect`, which can be made to stand still, as the browser may make it.

import "../../pkg/opfs-worker.js";

addEventListener("message", ({ data }) => {
    if (!data.stall) return;
    const request = new XMLHttpRequest();
    request.open("GET", "/hang", false);
    request.send();
});
