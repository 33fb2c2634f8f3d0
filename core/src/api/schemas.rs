//! The JSON Schema of every body.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::model::{
    ActionBatch, ActivityRecord, AuditEntry, Condition, FleetEvent, ImportReport, IssuedKey,
    NewKey, PendingAction, ProcessReport, Question, RemovedTelemetry, RequestKey, StartupRecord,
    StatsRecord, StoreStatus, Stream, Workspace, WorkspaceView,
};
use crate::view::query::advice::{AdviceRow, AdviceTotalRow};
use crate::view::query::fleet::FleetSummary;
use crate::view::query::heatmap::HeatmapCell;
use crate::view::query::holds::HoldRow;
use crate::view::query::preview::PreviewRow;
use crate::view::query::processes::ProcessRow;
use crate::view::query::timeline::TimelineRow;
use crate::view::query::top::TopRow;
use crate::view::query::workspaces::WorkspaceRow;
use crate::wire::shapes::{
    ActionBatchList, ActionDispatch, ActionFailure, ActionNote, AuditPage, BatchResult,
    ExportedRecord, HistoryPage, KeyList, NewActionBatch, NewHold, NewPreview, PendingActionList,
    ProblemDetails, RemovedWorkSpace, RowPage, SeriesPage, StartupPage, UserActivity,
    UserInformation, ValidationProblemDetails, WorkSpaceApiResponse,
};

use super::endpoint::{Answer, RequestBody};

/// Collects the JSON Schemas (2020-12) of bodies. Types with a name are referred to by `$ref`, below `#/components/schemas`.
///
/// A description is the documentation of the Rust type, a Markdown text with the line breaks of its source.
#[derive(Debug)]
pub struct Schemas {
    answers: SchemaGenerator,
    bodies: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        Self {
            answers: settings.clone().for_serialize().into_generator(),
            bodies: settings.for_deserialize().into_generator(),
        }
    }
}

impl Schemas {
    /// The schema of a success body; `None` for an empty one.
    pub fn answer(&mut self, answer: Answer) -> Option<Schema> {
        let all = &mut self.answers;
        Some(match answer {
            Answer::Empty => return None,
            Answer::NegotiatedPage | Answer::Page => all.subschema_for::<WorkSpaceApiResponse>(),
            Answer::User => all.subschema_for::<UserInformation>(),
            Answer::Activities => all.subschema_for::<Vec<UserActivity>>(),
            Answer::AuditRows => all.subschema_for::<Vec<AuditEntry>>(),
            Answer::Removed => all.subschema_for::<RemovedWorkSpace>(),
            Answer::Count => all.subschema_for::<u64>(),
            Answer::Imported => all.subschema_for::<ImportReport>(),
            Answer::Accepted => all.subschema_for::<BatchResult>(),
            Answer::RemovedTelemetry => all.subschema_for::<RemovedTelemetry>(),
            Answer::History(Stream::Stats) => all.subschema_for::<HistoryPage<StatsRecord>>(),
            Answer::History(Stream::Activity) => all.subschema_for::<HistoryPage<ActivityRecord>>(),
            Answer::History(Stream::Startup) => all.subschema_for::<HistoryPage<StartupRecord>>(),
            Answer::History(Stream::Processes) => all.subschema_for::<HistoryPage<ProcessReport>>(),
            Answer::WorkspaceView => all.subschema_for::<WorkspaceView>(),
            Answer::Action => all.subschema_for::<PendingAction>(),
            Answer::Actions => all.subschema_for::<PendingActionList>(),
            Answer::ActionBatch => all.subschema_for::<ActionBatch>(),
            Answer::ActionBatches => all.subschema_for::<ActionBatchList>(),
            Answer::Audit => all.subschema_for::<AuditPage>(),
            Answer::Store => all.subschema_for::<StoreStatus>(),
            Answer::Keys => all.subschema_for::<KeyList>(),
            Answer::Key => all.subschema_for::<RequestKey<'static>>(),
            Answer::Events => all.subschema_for::<RowPage<FleetEvent>>(),
            Answer::IssuedKey => all.subschema_for::<IssuedKey>(),
            Answer::Rows(Question::Preview) => all.subschema_for::<RowPage<PreviewRow>>(),
            Answer::Export => all.subschema_for::<ExportedRecord>(),
            Answer::Rows(Question::Workspaces) => all.subschema_for::<RowPage<WorkspaceRow>>(),
            Answer::Rows(Question::Conditions) => all.subschema_for::<RowPage<Condition>>(),
            Answer::Rows(Question::Holds) => all.subschema_for::<RowPage<HoldRow>>(),
            Answer::Rows(Question::Top) => all.subschema_for::<RowPage<TopRow>>(),
            Answer::Rows(Question::Advice) => all.subschema_for::<RowPage<AdviceRow>>(),
            Answer::Rows(Question::AdviceTotals) => all.subschema_for::<RowPage<AdviceTotalRow>>(),
            Answer::Rows(Question::Processes) => all.subschema_for::<RowPage<ProcessRow>>(),
            Answer::Rows(Question::Metrics) => all.subschema_for::<String>(),
            Answer::Rows(Question::Timeline) => all.subschema_for::<RowPage<TimelineRow>>(),
            Answer::Rows(Question::Fleet) => all.subschema_for::<FleetSummary>(),
            Answer::Rows(Question::Series) => all.subschema_for::<SeriesPage>(),
            Answer::Rows(Question::Startup) => all.subschema_for::<StartupPage>(),
            Answer::Rows(Question::Heatmap) => all.subschema_for::<RowPage<HeatmapCell>>(),
        })
    }

    /// The schema of a request body, of a line of NDJSON for those that are read line by line; `None` for no body.
    pub fn body(&mut self, body: RequestBody) -> Option<Schema> {
        let all = &mut self.bodies;
        Some(match body {
            RequestBody::None => return None,
            RequestBody::Record(Stream::Stats) => all.subschema_for::<StatsRecord>(),
            RequestBody::Record(Stream::Activity) => all.subschema_for::<ActivityRecord>(),
            RequestBody::Record(Stream::Startup) => all.subschema_for::<StartupRecord>(),
            RequestBody::Record(Stream::Processes) => all.subschema_for::<ProcessReport>(),
            RequestBody::Batch => all.subschema_for::<TelemetryLine>(),
            RequestBody::Workspace => all.subschema_for::<WorkSpaceInput>(),
            RequestBody::Workspaces => all.subschema_for::<WorkSpacePatch>(),
            RequestBody::Hold => all.subschema_for::<NewHold>(),
            RequestBody::NewKey => all.subschema_for::<NewKey>(),
            RequestBody::ActionFailure => all.subschema_for::<ActionFailure>(),
            RequestBody::ActionDispatch => all.subschema_for::<ActionDispatch>(),
            RequestBody::ActionNote => all.subschema_for::<ActionNote>(),
            RequestBody::Preview => all.subschema_for::<NewPreview>(),
            RequestBody::ActionBatch => all.subschema_for::<NewActionBatch>(),
        })
    }

    /// The schema of a problem body, and the one of a problem body with wrong fields.
    pub fn problems(&mut self) -> [Schema; 2] {
        let all = &mut self.answers;
        [
            all.subschema_for::<ProblemDetails>(),
            all.subschema_for::<ValidationProblemDetails>(),
        ]
    }

    /// The state of a fleet of several nodes, which only a server returns.
    pub fn cluster_status(&mut self) -> Schema {
        self.answers.subschema_for::<crate::model::ClusterStatus>()
    }

    /// The lease of a provider, which only a server returns.
    pub fn provider_lease(&mut self) -> Schema {
        self.answers.subschema_for::<crate::model::ProviderLease>()
    }

    /// The schemas that were referred to: an object with a member for each.
    #[must_use]
    pub fn components(mut self) -> Schema {
        let mut components = self.bodies.take_definitions(true);
        components.extend(self.answers.take_definitions(true));
        components.into()
    }
}

/// A workspace as it is stored: the members of `WorkSpaceDetails`, each optional.
struct WorkSpaceInput;

impl JsonSchema for WorkSpaceInput {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WorkSpaceInput".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Workspace::json_schema(generator);
        let doc = "A workspace to create or to replace. Members that are left out are null. `workSpId` may be left out \
            where the path has it.";
        schema.insert("description".to_owned(), doc.into());
        schema.remove("required");
        schema
    }
}

/// A line of an import: the members of `WorkSpaceDetails`, each optional but the first.
struct WorkSpacePatch;

impl JsonSchema for WorkSpacePatch {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "WorkSpacePatch".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Workspace::json_schema(generator);
        let doc = "A change of a workspace, or a new one. What is left out stays as it is, and null becomes null.";
        schema.insert("description".to_owned(), doc.into());
        schema.insert("required".to_owned(), ["workSpId"].as_slice().into());
        schema
    }
}

/// A line of a telemetry batch: a record below the name of its stream. With the query parameter `stream`, a record of that stream may be the
/// line itself.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(
    dead_code,
    clippy::large_enum_variant,
    reason = "the schema is read off the type; no value is made"
)]
enum TelemetryLine {
    Named(NamedRecord),
    Stats(StatsRecord),
    Activity(ActivityRecord),
    Startup(StartupRecord),
    Processes(ProcessReport),
}

/// A telemetry record below the name of its stream.
struct NamedRecord;

impl JsonSchema for NamedRecord {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NamedRecord".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = Schema::default();
        for stream in Stream::ALL {
            let record = match stream {
                Stream::Stats => generator.subschema_for::<StatsRecord>(),
                Stream::Activity => generator.subschema_for::<ActivityRecord>(),
                Stream::Startup => generator.subschema_for::<StartupRecord>(),
                Stream::Processes => generator.subschema_for::<ProcessReport>(),
            };
            properties.insert(stream.name().to_owned(), record.to_value());
        }
        json_schema!({
            "description": "A telemetry record below the name of its stream: exactly one of these members. Others are ignored.",
            "type": "object",
            "properties": properties,
            "minProperties": 1,
        })
    }
}
