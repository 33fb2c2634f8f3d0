import type { AdviceRows, FleetSummary, PreviewRequest, PreviewRows, ProcessRows, TimelineRows, TopRows, WorkspaceRows } from "./types.js";

/** What a filter asks of a field, without case: a value, any of several values, or another value than this. */
export type Filter = string | readonly string[] | { not: string };

/** The filters of workspaces. */
export interface WorkspaceFilters {
    state?: Filter;
    /** A domain is ignored. */
    username?: Filter;
    region?: Filter;
    directoryId?: Filter;
    runningMode?: Filter;
    computeTypeName?: Filter;
    /** A part of the id, the computer name or the username. */
    q?: string;
}

/** A page of rows. */
export interface RowPaging {
    /** Up to three columns, each with `-` before it for the greatest first. */
    sort?: string | readonly string[];
    /** The columns of the rows; the others are left out. */
    fields?: string | readonly string[];
    /** From 1 to 500; default 50. */
    limit?: number;
    /** The token of the page before. */
    nextToken?: string | null;
}

/** A range of time: a moment, or a time before now such as `"-24h"`. */
export interface TimeRange {
    /** The begin. */
    from?: Date | string;
    /** The end, excluded; default now. */
    to?: Date | string;
}

/** What is measured of a desktop. */
export type Metric = "cpu" | "memory" | "rootVolume" | "userVolume" | "diskReads" | "diskWrites" | "networkReceived" | "networkSent" | "uptime" | "startupTotal" | "healthScore";

/** What is made of the samples of a metric. */
export type Statistic = "p95" | "p50" | "avg" | "max" | "min" | "last";

/** The questions about the fleet, as the endpoints of the same names below `/query/` answer them. They reject with a `DeskfleetError`. */
export interface Questions {
    /** The fleet in numbers. */
    fleet(): Promise<FleetSummary>;
    /** One page of the workspaces as rows; with a `window` such as `"24h"` also what the days in it say. */
    workspaces(parameters?: WorkspaceFilters & RowPaging & { window?: string }): Promise<WorkspaceRows>;
    /** One page of the desktops with the worst values of a metric. */
    top(parameters: { metric: Metric; statistic?: Statistic } & TimeRange & Omit<RowPaging, "sort">): Promise<TopRows>;
    /** What runs on the desktops, by the name of the process. */
    processes(parameters?: { instanceId?: string } & TimeRange & RowPaging): Promise<ProcessRows>;
    /** The story of one desktop, newest first. */
    timeline(parameters: { workSpaceId: string } & TimeRange & Omit<RowPaging, "sort">): Promise<TimelineRows>;
    /** What to do about each desktop. */
    advice(parameters?: WorkspaceFilters & TimeRange & Omit<RowPaging, "sort">): Promise<AdviceRows>;
    /** What an action would do now to each workspace; nothing is written. */
    preview(request: PreviewRequest): Promise<PreviewRows>;
}
