/** The ids of the records that the history of an instance holds. */
export async function idsOf(engine, instance = "ws-1") {
    const { key } = await engine.issueKey({ name: `check ${crypto.randomUUID()}`, scopes: ["admin"] });
    const ids = [];
    for (let token = ""; token !== null; ) {
        const url = `/operator/telemetry/stats?instanceId=${instance}&limit=500${token && `&nextToken=${token}`}`;
        const response = await engine.fetch(new Request(`http://fleet${url}`, { headers: { "x-api-key": key } }));
        if (response.status !== 200) throw new Error(`history answered ${response.status}: ${await response.text()}`);
        const { records, nextToken } = await response.json();
        ids.push(...records.map(({ id }) => id));
        token = nextToken;
    }
    return ids;
}
