//! `GET /query/series`

use crate::api::{Call, Completion, Handled};
use crate::error::{EngineError, Result};
use crate::model::{Metric, Stream};
use crate::nearest::nearest;
use crate::store::telemetry::queue::Wanted;
use crate::view::query::groups::GroupFilter;
use crate::view::query::series::{self, SeriesPoint, SeriesQuery};
use crate::wire::query::Query;
use crate::wire::rows::Shape;

pub(super) fn answer(call: &Call<'_>) -> Handled {
    let query = call.query;
    let instance_id = query.text("instanceId").filter(|text| !text.is_empty());
    let reader = match &instance_id {
        Some(instance) => {
            let wanted = Wanted::Instance(Stream::Stats, instance);
            call.core.telemetry_reader(wanted)?
        }
        None => call.core.rollup_reader()?,
    };
    let range = query.range(series::RANGE_DEFAULT, reader.now)?;
    let mut asked = SeriesQuery {
        instance_id,
        from: Some(range.from),
        to: Some(range.to),
        step: query.step()?,
        filter: group_filter(query)?,
        ..SeriesQuery::default()
    };
    if let Some(metrics) = query.get("metrics").filter(|text| !text.is_empty()) {
        asked.metrics = metrics_of(&metrics)?;
    }
    let with_quantiles = asked.instance_id.is_none();
    let columns = SeriesPoint::columns_of(&asked.metrics, with_quantiles);
    let shape = Shape::of_some(call.headers, query, SeriesPoint::COLUMNS, columns)?;
    let series = series::series(&reader, &asked)?;
    let response = shape.response_with(&series.points, |body| {
        body.value("stepSeconds", &series.step_seconds);
    });
    Ok(Completion::Response(response))
}

/// The filters of questions about groups.
pub(super) fn group_filter(query: Query<'_>) -> Result<GroupFilter> {
    Ok(GroupFilter {
        region: query.term("region")?,
        running_mode: query.term("runningMode")?,
        compute_type_name: query.term("computeTypeName")?,
    })
}

/// The metrics of a list, each once.
fn metrics_of(list: &str) -> Result<Vec<Metric>> {
    let mut metrics = Vec::new();
    for name in list.split(',') {
        let mut known = Metric::OF_STATS.into_iter();
        let metric = known.find(|metric| metric.as_str().eq_ignore_ascii_case(name));
        let metric = metric.ok_or_else(|| unknown(name))?;
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

fn unknown(name: &str) -> EngineError {
    let names = Metric::OF_STATS.map(Metric::as_str);
    let hint = nearest(name, names).map_or_else(
        || format!("Send a list of {}, such as cpu,memory.", names.join(", ")),
        |nearest| format!("Did you mean '{nearest}'?"),
    );
    EngineError::invalid("metrics", format!("There is no metric '{name}'. {hint}"))
}
