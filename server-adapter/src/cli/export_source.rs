//! The source of an export: a store, or a running server.

use deskfleet::{
    Engine, Stream,
    query::{ExportFormat, ExportQuery},
};

use super::client::Client;
use super::configuration::Configuration;
use super::export_args::ListedRows;
use super::export_rows::{self, Chunks, Rows, Span};
use super::failure::Failure;
use super::server_args::ServerArgs;
use super::server_url::target;
use super::store::open_read_only;

const WHEN_LOCKED: &str =
    "If that is a running server, export through it: --url http://HOST:PORT --key-file FILE";

/// The source of the rows.
pub(super) enum Source {
    Store(Engine),
    Server(Box<Client>),
}

pub(super) fn telemetry_query(
    stream: Stream,
    (from, to): Span,
    instance_id: Option<String>,
) -> ExportQuery {
    ExportQuery {
        from,
        to,
        instance_id,
        ..ExportQuery::new(stream)
    }
}

impl Source {
    pub(super) fn open(
        server: &ServerArgs,
        configuration: &Configuration,
    ) -> Result<Self, Failure> {
        Ok(match server.client()? {
            Some(client) => Self::Server(client.into()),
            None => Self::Store(open_read_only(configuration, WHEN_LOCKED)?),
        })
    }

    /// The bytes of `/query/export`.
    pub(super) fn telemetry(
        &self,
        query: &ExportQuery,
        format: ExportFormat,
    ) -> Result<Chunks<'_>, Failure> {
        let client = match self {
            Self::Store(engine) => {
                let mut body = engine.export_body(query.clone(), format)?;
                return Ok(Box::new(std::iter::from_fn(move || {
                    body.next_chunk().map_err(Failure::from).transpose()
                })));
            }
            Self::Server(client) => client,
        };
        let parameters = [
            ("stream", Some(query.stream.name().to_owned())),
            ("format", Some(format.as_str().to_owned())),
            ("from", query.from.map(|from| from.to_string())),
            ("to", query.to.map(|to| to.to_string())),
            ("instanceId", query.instance_id.clone()),
        ];
        Ok(Box::new(
            client.download(&target("/query/export", &parameters))?,
        ))
    }

    /// Workspaces or the audit, within the span.
    pub(super) fn rows(&self, rows: ListedRows, span: Span) -> Rows<'_> {
        match self {
            Self::Store(engine) => export_rows::of_store(engine, rows, span),
            Self::Server(client) => export_rows::of_server(client, rows, span),
        }
    }
}
