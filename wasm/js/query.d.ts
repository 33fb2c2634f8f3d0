import type { AdviceRows, AdviceTotalRows, FleetSummary, HeatmapCells, HoldRows, PreviewRequest, PreviewRows, ProcessRows, Series, StartupReport, TimelineRows, TopRows, WorkspaceRows } from "./types.js";

/** What a filter asks of a field, without case: a value, any of several values, or another value than this. */
export type Filter = string | readonly string[] | { not: string };

/** The filters of workspaces. */
export interface WorkspaceFilters {
    /** Compared exactly; up to 500 are looked up without reading the fleet. */
    workSpId?: Filter;
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

/** The metrics of a Stats record. */
export type StatsMetric = Exclude<Metric, "startupTotal" | "healthScore">;

/** The desktops that are counted in a question about groups, by what their workspace was when their records were filed. */
export interface GroupFilters {
    region?: Filter;
    runningMode?: Filter;
    computeTypeName?: Filter;
}

/** Steps of a range of time. */
export interface Steps extends TimeRange {
    /** The length of a step, such as `"5m"` or `"1h"`; raised until there are at most 500. */
    step?: string;
    /** The columns of the rows; the others are left out. */
    fields?: string | readonly string[];
}

/** What figures must be: comparisons separated by commas, which must all hold, such as `"gt.80"`, `"ge.20,lt.40"`, `"lt.-1h"` of a time, `"null"`, `"ne.null"`. */
export interface FigureFilters {
    lastSeen?: string;
    cpu?: string;
    memory?: string;
    rootVolume?: string;
    userVolume?: string;
    uptimeSeconds?: string;
    cpuAvg?: string;
    cpuP95?: string;
    memoryP95?: string;
    healthScore?: string;
    clockAheadSeconds?: string;
    asOf?: string;
}

/** The questions about the fleet, as the endpoints of the same names below `/query/` answer them. They reject with a `DeskfleetError`. */
export interface Questions {
    /** The fleet in numbers. */
    fleet(): Promise<FleetSummary>;
    /** One page of the workspaces as rows; with a `window` such as `"24h"` also what the days in it say. */
    workspaces(parameters?: WorkspaceFilters & FigureFilters & RowPaging & { window?: string }): Promise<WorkspaceRows>;
    /** One page of the litigation holds. */
    holds(parameters?: WorkspaceFilters & RowPaging): Promise<HoldRows>;
    /** One page of the desktops with the worst values of a metric. */
    top(parameters: { metric: Metric; statistic?: Statistic } & TimeRange & Omit<RowPaging, "sort">): Promise<TopRows>;
    /** What runs on the desktops, by the name of the process. */
    processes(parameters?: { instanceId?: string } & TimeRange & RowPaging): Promise<ProcessRows>;
    /** The story of one desktop, newest first. */
    timeline(parameters: { workSpaceId: string } & TimeRange & Omit<RowPaging, "sort">): Promise<TimelineRows>;
    /** What to do about each desktop. */
    advice(parameters?: { advice?: string } & WorkspaceFilters & TimeRange & Omit<RowPaging, "sort">): Promise<AdviceRows>;
    /** How many desktops each advice is about in the whole fleet, and what following it saves. */
    adviceTotals(parameters?: WorkspaceFilters & TimeRange): Promise<AdviceTotalRows>;
    /** Metrics over time: of one instance, or `cpu` and `memory` of the fleet. */
    series(parameters?: { instanceId?: string; metrics?: StatsMetric | readonly StatsMetric[] } & GroupFilters & Steps): Promise<Series>;
    /** How long startups took, and the slowest. */
    startup(parameters?: GroupFilters & Steps): Promise<StartupReport>;
    /** When the fleet is used: a row for each hour of the week, Monday first. `offset` is that of a time zone, such as `"+01:00"`. */
    heatmap(parameters?: { of?: "activity" | "reporting"; offset?: string; fields?: string | readonly string[] } & TimeRange): Promise<HeatmapCells>;
    /** What an action would do now to each workspace; nothing is written. */
    preview(request: PreviewRequest): Promise<PreviewRows>;
}
