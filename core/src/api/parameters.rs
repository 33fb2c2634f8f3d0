//! Query parameters, in groups from which the rows of `routes.rs` are made.

use crate::limits::{
    ADMIN_ACTIVITIES_DEFAULT, PAGE_COLUMNS_MAX, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX,
};

/// A query parameter. Every one is optional unless `required`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Name, as documented.
    pub name: &'static str,
    /// Its type and bounds.
    pub kind: ParamKind,
    /// Whether the call is refused without it.
    pub required: bool,
}

/// The type of a query parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// A string.
    Text,
    /// A date-time.
    Time,
    /// A date-time, or a time before now such as `-24h`.
    Moment,
    /// A duration, such as `5m`.
    Duration,
    /// A whole number, not negative.
    Number,
    /// `true` or `false`, which is the default.
    Flag,
    /// An int32 with inclusive bounds and a default.
    Int32 {
        /// Least accepted value.
        min: i32,
        /// Greatest accepted value.
        max: i32,
        /// Value when absent.
        default: i32,
    },
}

/// A group of parameters that is one row's own, or a part of several.
type Group = &'static [Param];

const fn param(name: &'static str, kind: ParamKind) -> Param {
    Param {
        name,
        kind,
        required: false,
    }
}

pub(super) const fn text(name: &'static str) -> Param {
    param(name, ParamKind::Text)
}

pub(super) const fn required(name: &'static str) -> Param {
    Param {
        required: true,
        ..text(name)
    }
}

pub(super) const fn flag(name: &'static str) -> Param {
    param(name, ParamKind::Flag)
}

pub(super) const fn number(name: &'static str) -> Param {
    param(name, ParamKind::Number)
}

pub(super) const fn moment(name: &'static str) -> Param {
    param(name, ParamKind::Moment)
}

pub(super) const fn duration(name: &'static str) -> Param {
    param(name, ParamKind::Duration)
}

const fn int32(name: &'static str, min: i32, max: i32, default: i32) -> Param {
    param(name, ParamKind::Int32 { min, max, default })
}

/// Whether a list is read for an export, which has an audit row.
pub(super) const EXPORT: Param = flag("export");
/// Where a page of a list begins.
pub(super) const NEXT_TOKEN: Param = text("nextToken");
/// In which form rows are written.
pub(super) const FORMAT: Param = text("format");
pub(super) const SORT: Param = text("sort");

const LIMIT: Param = int32("limit", 1, PAGE_ITEMS_MAX, PAGE_ITEMS_DEFAULT);
/// More rows fit a page of columns.
const LIMIT_OF_COLUMNS: Param = int32("limit", 1, PAGE_COLUMNS_MAX, PAGE_ITEMS_DEFAULT);

pub(super) const NUMBER_OF_ACTIVITIES: Param = int32(
    "numberOfActivities",
    i32::MIN,
    i32::MAX,
    ADMIN_ACTIVITIES_DEFAULT,
);

pub(super) const PAGING: Group = &[LIMIT, NEXT_TOKEN];
pub(super) const PAGING_OF_COLUMNS: Group = &[LIMIT_OF_COLUMNS, NEXT_TOKEN];

/// How rows are written.
pub(super) const SHAPE: Group = &[text("fields"), FORMAT];

/// A range of time.
pub(super) const RANGE: Group = &[moment("from"), moment("to")];
/// A range of date-times alone.
pub(super) const TIMES: Group = &[param("from", ParamKind::Time), param("to", ParamKind::Time)];

/// The filters of workspaces.
pub(super) const WORKSPACES: Group = &[
    text("state"),
    text("username"),
    text("region"),
    text("directoryId"),
    text("runningMode"),
    text("computeTypeName"),
    text("q"),
];

/// The figures of workspaces, each compared with bounds.
pub(super) const FIGURES: Group = &[
    text("lastSeen"),
    text("cpu"),
    text("memory"),
    text("rootVolume"),
    text("userVolume"),
    text("uptimeSeconds"),
    text("cpuAvg"),
    text("cpuP95"),
    text("memoryP95"),
    text("healthScore"),
    text("clockAheadSeconds"),
    text("asOf"),
];

/// The filters of questions about groups of desktops.
pub(super) const GROUPS: Group = &[text("region"), text("runningMode"), text("computeTypeName")];

pub(super) const ACTION: Group = &[text("samAccount"), text("workSpaceId"), text("requester")];
