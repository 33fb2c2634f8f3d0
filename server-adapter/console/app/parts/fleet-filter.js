// Which part of the fleet a page is about: filters of `/query` whose values are those of the fleet, kept in the address.

import { get } from "../api.js";
import { useResource } from "../resource.js";
import { route, setQuery } from "../router.js";
import { html } from "../vendor/preact.js";
import { visible } from "./text.js";

const FILTERS = [
    { name: "region", title: "Region", counts: "byRegion" },
    { name: "runningMode", title: "Running mode", counts: "byRunningMode" },
    { name: "computeTypeName", title: "Compute type", counts: "byComputeType" },
];

/** The chosen filters, as members of a query. @returns {Record<string, string | undefined>} */
export const fleetFilter = () => Object.fromEntries(FILTERS.map(({ name }) => [name, route.value.query[name]]));

export function FleetFilter() {
    const fleet = useResource("fleet", (signal) => get("/query/fleet", {}, signal));
    return FILTERS.map(({ name, title, counts }) => {
        const chosen = route.value.query[name];
        const values = Object.keys(fleet.data?.[counts] ?? {}).filter((value) => value !== "other" && value !== "unknown");
        if (chosen !== undefined && !values.includes(chosen)) values.push(chosen);
        return html`<label key=${name} class="compact">${title} <select value=${chosen ?? ""} onChange=${(/** @type {any} */ event) => setQuery({ [name]: event.target.value || undefined })}>
            <option value="">all</option>
            ${values.map((value) => html`<option key=${value} value=${value}>${visible(value)}</option>`)}
        </select></label>`;
    });
}
