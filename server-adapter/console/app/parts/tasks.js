// What keys are issued for, as `deskfleet keys issue --for` has it.

/** The tasks, and what their keys may do. @type {Record<string, { title: string, scopes: string[], actions?: string[], perHour?: number }>} */
export const TASKS = {
    helpdesk: { title: "Help desk: look, reboot, recovery reboot, start", scopes: ["read", "act"], actions: ["RebootWorkSpace", "RecoveryRebootWorkSpace", "StartWorkSpace"] },
    operator: { title: "Operator: all actions, 20 destructive ones in an hour, and the audit", scopes: ["read", "act", "audit"], perHour: 20 },
    auditor: { title: "Auditor: the audit and the holds", scopes: ["audit"] },
    agent: { title: "Agent: posts telemetry", scopes: ["ingest"] },
    collector: { title: "Collector: reads, for Prometheus, Grafana and reports", scopes: ["read"] },
    provider: { title: "Provider: imports, and carries out actions", scopes: ["admin"] },
    own: { title: "Something else", scopes: ["read"] },
};
