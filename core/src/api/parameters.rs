//! The query parameters of the endpoints, for the table in `routes.rs`.

use crate::limits::{PAGE_COLUMNS_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX};

use super::endpoint::{Param, ParamKind};

pub(super) const fn text(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Text,
        required: false,
    }
}

const fn time(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Time,
        required: false,
    }
}

const fn moment(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Moment,
        required: false,
    }
}

const fn duration(name: &'static str) -> Param {
    Param {
        name,
        kind: ParamKind::Duration,
        required: false,
    }
}

pub(super) const REMOVAL_PARAMS: &[Param] = &[text("instance"), text("stream"), moment("before")];

pub(super) const FORCE: Param = Param {
    name: "force",
    kind: ParamKind::Flag,
    required: false,
};

pub(super) const OVERRIDE: Param = Param {
    name: "override",
    ..FORCE
};

/// Of a list: whether it is read for an export, which the audit has a row of.
pub(super) const EXPORT: Param = Param {
    name: "export",
    ..FORCE
};

/// Where a page of a list begins.
pub(super) const NEXT_TOKEN: Param = text("nextToken");

const LIMIT: Param = Param {
    name: "limit",
    kind: ParamKind::Int32 {
        min: 1,
        max: PAGE_ITEMS_MAX,
        default: PAGE_ITEMS_DEFAULT,
    },
    required: false,
};

/// More rows fit a page of columns.
const LIMIT_OF_COLUMNS: Param = Param {
    kind: ParamKind::Int32 {
        min: 1,
        max: PAGE_COLUMNS_MAX,
        default: PAGE_ITEMS_DEFAULT,
    },
    ..LIMIT
};

/// In which form rows are written.
pub(super) const FORMAT: Param = text("format");

pub(super) const PREVIEW_PARAMS: &[Param] = &[text("fields"), FORMAT];

pub(super) const PAGING: &[Param] = &[LIMIT, NEXT_TOKEN];

pub(super) const NUMBER_OF_ACTIVITIES: Param = Param {
    name: "numberOfActivities",
    kind: ParamKind::Int32 {
        min: i32::MIN,
        max: i32::MAX,
        default: crate::limits::ADMIN_ACTIVITIES_DEFAULT,
    },
    required: false,
};

pub(super) const ACTION_PARAMS: &[Param] =
    &[text("samAccount"), text("workSpaceId"), text("requester")];
pub(super) const CHANGE_PARAMS: &[Param] =
    &[text("workSpaceId"), text("requester"), text("computeType")];

pub(super) const WORKSPACE_FILTERS: &[Param] = &[
    text("state"),
    text("username"),
    text("region"),
    text("directoryId"),
    text("runningMode"),
    text("computeTypeName"),
    text("q"),
    LIMIT,
    NEXT_TOKEN,
    EXPORT,
];

pub(super) const EXPORT_PARAMS: &[Param] = &[
    Param {
        required: true,
        ..text("stream")
    },
    moment("from"),
    moment("to"),
    text("instanceId"),
    FORMAT,
];

/// The filters of workspaces, and the parameters of a page of rows.
pub(super) const HOLDS: &[Param] = &[
    text("workSpId"),
    text("state"),
    text("username"),
    text("region"),
    text("directoryId"),
    text("runningMode"),
    text("computeTypeName"),
    text("q"),
    text("sort"),
    text("fields"),
    FORMAT,
    LIMIT,
    NEXT_TOKEN,
    EXPORT,
];

/// The same with a window, and with more rows on a page of columns.
pub(super) const WORKSPACE_ROWS: &[Param] = &[
    text("workSpId"),
    text("state"),
    text("username"),
    text("region"),
    text("directoryId"),
    text("runningMode"),
    text("computeTypeName"),
    text("q"),
    duration("window"),
    text("sort"),
    text("fields"),
    FORMAT,
    LIMIT_OF_COLUMNS,
    NEXT_TOKEN,
    EXPORT,
];

pub(super) const ADVICE_PARAMS: &[Param] = &[
    moment("from"),
    moment("to"),
    text("workSpId"),
    text("state"),
    text("username"),
    text("region"),
    text("directoryId"),
    text("runningMode"),
    text("computeTypeName"),
    text("q"),
    text("fields"),
    FORMAT,
    LIMIT,
    NEXT_TOKEN,
];

pub(super) const PROCESSES_PARAMS: &[Param] = &[
    text("instanceId"),
    moment("from"),
    moment("to"),
    text("sort"),
    text("fields"),
    FORMAT,
    LIMIT,
    NEXT_TOKEN,
];

pub(super) const TIMELINE_PARAMS: &[Param] = &[
    Param {
        required: true,
        ..text("workSpaceId")
    },
    moment("from"),
    moment("to"),
    text("fields"),
    FORMAT,
    LIMIT,
    NEXT_TOKEN,
];

pub(super) const TOP_PARAMS: &[Param] = &[
    Param {
        required: true,
        ..text("metric")
    },
    text("statistic"),
    moment("from"),
    moment("to"),
    text("fields"),
    FORMAT,
    LIMIT,
    NEXT_TOKEN,
];

pub(super) const SERIES: &[Param] = &[
    text("instanceId"),
    text("metrics"),
    moment("from"),
    moment("to"),
    duration("step"),
    text("region"),
    text("runningMode"),
    text("computeTypeName"),
    text("fields"),
    FORMAT,
];

pub(super) const STARTUPS: &[Param] = &[
    moment("from"),
    moment("to"),
    duration("step"),
    text("region"),
    text("runningMode"),
    text("computeTypeName"),
    text("fields"),
    FORMAT,
];

pub(super) const HEATMAP: &[Param] = &[
    text("of"),
    moment("from"),
    moment("to"),
    text("offset"),
    text("fields"),
    FORMAT,
];

pub(super) const HISTORY_PARAMS: &[Param] = &[
    Param {
        name: "instanceId",
        kind: ParamKind::Text,
        required: true,
    },
    time("from"),
    time("to"),
    LIMIT,
    NEXT_TOKEN,
];

pub(super) const ACTION_FILTERS: &[Param] =
    &[text("state"), text("workSpaceId"), LIMIT, NEXT_TOKEN];

pub(super) const AUDIT_FILTERS: &[Param] = &[
    time("from"),
    time("to"),
    text("workSpaceId"),
    text("requester"),
    text("action"),
    text("result"),
    LIMIT,
    NEXT_TOKEN,
    EXPORT,
];

pub(super) const EVENT_PARAMS: &[Param] = &[
    Param {
        name: "after",
        kind: ParamKind::Number,
        required: false,
    },
    LIMIT,
    NEXT_TOKEN,
];
