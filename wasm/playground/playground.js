import { ENDPOINTS } from "./endpoints.js";
import { loadFleet } from "./fleet.js";

const KEY = "deskfleet playground key";
const WATCH_MS = 1000;
const SHOWN_MAX = 100_000;
const SENT_MAX = 20;
const EMPTY = "The store is empty: load the demo fleet, or send requests of your own.";

const element = (id) => document.getElementById(id);
/** @type {import("../js/opfs.js").ConnectedEngine} */
let engine;
let busy = false;

function note(text, bad = false) {
    element("note").textContent = text;
    element("note").classList.toggle("bad", bad);
}

/** A key for the endpoints that need one; its secret stays in this browser, like the fleet. */
async function key() {
    const stored = localStorage.getItem(KEY);
    if (stored && (await get("/operator/keys", stored)).status === 200) return stored;
    const issued = await engine.issueKey({ name: `playground, ${new Date().toISOString()}`, scopes: ["admin"] });
    localStorage.setItem(KEY, issued.key);
    return issued.key;
}

function get(path, secret) {
    return engine.fetch(new Request(path, { headers: secret ? { "x-api-key": secret } : {} }));
}

/** The number of workspaces, up to a page of them. */
async function countWorkspaces() {
    const answer = await get("/api/Information/GetAllWorkSpaces?limit=500", localStorage.getItem(KEY));
    if (answer.status !== 200) return "–";
    const { workSpaces, hasMore } = await answer.json();
    return `${workSpaces.length}${hasMore ? " and more" : ""}`;
}

async function refresh() {
    const [count, workspaces] = await Promise.all([engine.queueCount(), countWorkspaces()]);
    element("queue").textContent = count.toLocaleString();
    element("workspaces").textContent = workspaces;
    element("kept").textContent = engine.persisted() ? "yes" : "until it needs the space";
    element("keep").disabled = busy || engine.persisted();
    // The next step is highlighted.
    element("load").classList.toggle("primary", workspaces === "0");
    if (workspaces === "0" && !busy && element("note").textContent === "") note(EMPTY);
}

/** Runs the action of a button; one at a time. */
async function during(text, work, failed = (error) => note(error.message, true)) {
    if (busy) return;
    setBusy(true);
    note(text);
    try {
        note((await work()) ?? "");
    } catch (error) {
        failed(error);
    } finally {
        setBusy(false);
        await refresh().catch((error) => note(error.message, true));
    }
}

function setBusy(now) {
    busy = now;
    for (const id of ["load", "file", "keep", "wipe", "send"]) element(id).disabled = now;
}

function fillEndpoints() {
    const select = element("endpoint");
    ENDPOINTS.forEach(([area, endpoints], row) => {
        const group = document.createElement("optgroup");
        group.label = area;
        endpoints.forEach(([method, path], column) => group.append(new Option(`${method} ${path.split("?")[0]}`, `${row} ${column}`)));
        select.append(group);
    });
    select.addEventListener("change", choose);
    element("method").addEventListener("change", showBody);
}

/** GET and HEAD have no body to fill in. */
function showBody() {
    element("body-field").hidden = ["GET", "HEAD"].includes(element("method").value);
}

function choose() {
    const [row, column] = element("endpoint").value.split(" ").map(Number);
    const [method, path, about, body, secured] = ENDPOINTS[row][1][column];
    element("method").value = method;
    element("path").value = path;
    element("about").textContent = about;
    element("body").value = body ? JSON.stringify(body, null, 2) : "";
    const lines = [];
    if (body) lines.push("Content-Type: application/json");
    if (secured) lines.push(`X-Api-Key: ${localStorage.getItem(KEY) ?? ""}`);
    element("headers").value = lines.join("\n");
    showBody();
}

function requestOfForm() {
    const headers = new Headers();
    for (const line of element("headers").value.split("\n").filter((each) => each.trim())) {
        const colon = line.indexOf(":");
        if (colon < 1) throw new Error(`the header line “${line}” has no colon`);
        headers.append(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
    }
    const method = element("method").value;
    const bodiless = method === "GET" || method === "HEAD";
    const body = bodiless || element("body").value === "" ? undefined : element("body").value;
    return new Request(element("path").value, { method, headers, body });
}

async function send() {
    const request = requestOfForm();
    const began = performance.now();
    const response = await engine.fetch(request);
    const body = await response.text();
    const milliseconds = (performance.now() - began).toFixed(1);
    show(`${response.status}, after ${milliseconds} ms`, response.ok);
    element("answer-headers").textContent = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    element("answer-body").textContent = pretty(body);
    remember(response);
}

function show(text, good) {
    element("outcome").textContent = text;
    element("outcome").className = good ? "good" : "bad";
    // On a small screen the response is further down.
    if (element("outcome").getBoundingClientRect().bottom > innerHeight) element("answer").scrollIntoView();
}

/** Shows a request that could not be sent. */
function notSent(error) {
    show(`Not sent: ${error.message}`, false);
    for (const id of ["answer-headers", "answer-body"]) element(id).textContent = "";
}

/** Lists the requests sent; each can be loaded into the form again. */
function remember({ status }) {
    const fields = ["method", "path", "headers", "body"].map((id) => [id, element(id).value]);
    const [[, method], [, path]] = fields;
    const again = document.createElement("button");
    again.type = "button";
    again.textContent = `${status} ${method} ${path.replace(/(apikey=)[^&]*/gi, "$1…")}`;
    again.addEventListener("click", () => {
        for (const [id, value] of fields) element(id).value = value;
        showBody();
        element("path").focus();
    });
    const entry = document.createElement("li");
    entry.append(again);
    element("sent").prepend(entry);
    while (element("sent").children.length > SENT_MAX) element("sent").lastChild.remove();
    element("sent-none").hidden = true;
}

function pretty(body) {
    let text = body;
    try {
        text = JSON.stringify(JSON.parse(body), null, 2);
    } catch {
        // Shown as it arrived.
    }
    return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}\n… ${text.length - SHOWN_MAX} characters more` : text;
}

function listen() {
    element("load").addEventListener("click", () =>
        during("Loading …", async () => {
            const { workspaces, records, milliseconds } = await loadFleet(engine, Date.now(), (done, all) => note(`${done} of ${all} records are in the file …`));
            return `${workspaces} workspaces; ${records.toLocaleString()} records posted one by one, durable after ${Math.round(milliseconds)} ms.`;
        }),
    );
    element("file").addEventListener("click", () => during("Filing …", async () => `${(await engine.filePending()).toLocaleString()} records were filed into history.`));
    element("keep").addEventListener("click", () =>
        during("Asking …", async () => ((await engine.persist()) ? "The browser keeps the data until you delete it." : "The browser said no: it may throw the data away when the disk is full. It outlives closing all the same.")),
    );
    element("wipe").addEventListener("click", () => {
        if (!confirm("Delete the fleet and all its records, in all tabs?")) return;
        void during("Wiping …", async () => {
            await engine.wipe();
            await key();
            choose();
            return "The store is empty.";
        });
    });
    element("request").addEventListener("submit", (event) => {
        event.preventDefault();
        void during("", send, notSent);
    });
    element("request").addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) element("request").requestSubmit();
    });
}

/** Shows what changed, here or in another tab. */
async function watch() {
    try {
        if (!busy && !document.hidden) {
            await refresh();
        }
    } catch (error) {
        note(error.message, true);
    }
    setTimeout(watch, WATCH_MS);
}

/** The package is beside this folder once it is built. */
async function packaged() {
    try {
        return await import("../pkg/opfs.js");
    } catch (error) {
        throw new Error("The package cannot be loaded: run cargo wasm, then serve the folder wasm.", { cause: error });
    }
}

fillEndpoints();
choose();
listen();
try {
    const { connect } = await packaged();
    engine = await connect({ name: "playground.redb" });
    await key();
    element("engine").textContent = "runs in a worker";
    element("engine").className = "good";
    choose();
    setBusy(false);
    await watch();
} catch (error) {
    element("engine").textContent = "did not open";
    element("engine").className = "bad";
    note(error.message, true);
}
