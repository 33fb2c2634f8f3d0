//! Removing selected telemetry, with the steps of retention.

use crate::error::{EngineError, ErrorKind, Result};
use crate::model::{AuditAction, AuditResult, RemovedTelemetry, TelemetrySelection, WriteClass};
use crate::store::fleet::{audit, held};
use crate::store::telemetry::accepted::forget_kept;

use super::retention::{Derived, Removing, Span};
use super::{Caller, Context, Mutation, Outcome};

/// A step of a removal.
#[derive(Debug, Clone)]
pub(crate) enum RemoveTelemetry {
    /// Writes the audit row; refused where the named instance is on hold.
    Begin(TelemetrySelection, Caller),
    /// Removes what is derived from selected telemetry and has these keys.
    Take(TelemetrySelection, Derived, Span),
    /// Completes the audit row of that number.
    End(u64, RemovedTelemetry),
}

/// The result of a step of a removal.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RemovalStep {
    /// The number of the audit row, of the first step.
    pub(crate) row: u64,
    pub(crate) removed: RemovedTelemetry,
}

impl Mutation for RemoveTelemetry {
    type Output = RemovalStep;

    fn class(&self) -> WriteClass {
        WriteClass::Essential
    }

    fn apply(self, context: &mut Context<'_, '_>) -> Result<Outcome<RemovalStep>> {
        let mut step = RemovalStep::default();
        match self {
            Self::Begin(selection, by) => {
                let mut row = context.row(AuditAction::RemoveTelemetry, &by, None);
                if let Some(instance) = &selection.instance_id
                    && held::names(context.tables)?.has_instance(instance)
                {
                    row.set_id(selection.instance_id);
                    let message = "The WorkSpace is on litigation hold.";
                    let error = EngineError::new(ErrorKind::LitigationHold, message);
                    return context.refused(row, error);
                }
                row.set_detail(&selection.described());
                step.row = context.write_row(row, AuditResult::Accepted)?;
            }
            Self::Take(selection, of, span) => {
                // What was filed while the removal waited for its turn is kept.
                forget_kept(context.tables)?;
                step.removed = context.drop_derived(of, Removing::Selected(&selection), span)?;
            }
            Self::End(row, RemovedTelemetry { removed, kept }) => {
                if let Some(mut entry) = audit::get(context.tables, row)? {
                    let selected = entry.detail.unwrap_or_default();
                    entry.detail = Some(format!("{selected}: {removed} removed, {kept} kept"));
                    entry.result = AuditResult::Completed;
                    entry.completed_time = Some(context.now);
                    audit::put(context.tables, &entry)?;
                }
            }
        }
        Ok(Ok(step))
    }
}
