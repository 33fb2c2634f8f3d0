// The kinds of advice.

/** What each kind means, and where its rule comes from. `act`: the action that follows it; `mode`: the running mode to set in AWS. @type {Record<string, { title: string, rule: string, how?: string, act?: string, mode?: string }>} */
export const KINDS = {
    idle: { title: "Unused", rule: "No telemetry, or no logon in this period." },
    autoStopCheaper: {
        title: "AUTO_STOP is cheaper",
        mode: "AUTO_STOP",
        rule: "It is ALWAYS_ON, and in a month would be used for no more hours than the limit of its compute type, as Amazon's Cost Optimizer compares them: each session rounded up to hours, with the time until it stops. The limits are the server's configuration (cost). The interface cannot change the running mode.",
    },
    alwaysOnCheaper: {
        title: "ALWAYS_ON is cheaper",
        mode: "ALWAYS_ON",
        rule: "It is AUTO_STOP, and in a month would be used for more hours than the limit of its compute type, as Amazon's Cost Optimizer compares them. The interface cannot change the running mode.",
    },
    overloaded: {
        title: "Overloaded",
        rule: "Health below 75: CPU or memory above 80 % for 5 min too often.",
        how: "The score is the share of the time in use without overload, as in SysTrack; overload is CPU or memory above 80 % for five minutes, as in Citrix Director; 75 is where ServiceNow ends the band of good.",
        act: "ChangeComputeType",
    },
    oversized: {
        title: "Larger than needed",
        rule: "On every day the 95th percentile of the processor is at most 20 % and of memory at most 40 %, so that half the size stays within the 40 % of processor of Azure Advisor and the 80 % of overload.",
        act: "ChangeComputeType",
    },
};
