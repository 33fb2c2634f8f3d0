//! The conformance suite through `Engine::handle`, and whether it covers the documents and the engine's table.

use std::collections::BTreeSet;

use deskfleet::routes::{Access, Param, ROUTES, RequestBody, Route};
use deskfleet::{Code, Scope};
use deskfleet_tests::conformance::case::{Body, Call, Case, Step};
use deskfleet_tests::conformance::documents::{ENDPOINTS, PROBLEMS, ROWS, SERVER_PROBLEMS};
use deskfleet_tests::conformance::runner::run;
use deskfleet_tests::conformance::{area, cases};
use deskfleet_tests::transport::Handle;

/// Runs the cases of an area and fails with all differences.
fn conforms(name: &str) {
    let cases = area(name);
    assert!(!cases.is_empty(), "an area without cases shows nothing");
    let mut failures = Vec::new();
    for case in &cases {
        failures.extend(run(case, |engine| Handle(engine.clone())).failures);
    }
    let first: Vec<_> = failures.iter().take(20).map(String::as_str).collect();
    assert!(
        failures.is_empty(),
        "{} requests differ, the first:\n{}",
        failures.len(),
        first.join("\n")
    );
}

macro_rules! areas {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            conforms(stringify!($name));
        })*

        #[test]
        fn every_conformance_area_is_run() {
            let run = [$(stringify!($name)),*];
            let all: Vec<_> = deskfleet_tests::conformance::AREAS.iter().map(|(name, _)| *name).collect();
            assert_eq!(run.as_slice(), all);
        }
    };
}

areas! {
    action_batches audit audit_list bodies codings compute_types day dispatch endings fields holds imports key_limits key_list keys lifecycle methods negotiation operator
    paging
    problems query_advice query_columns query_events query_export query_fleet query_heatmap query_holds query_parameters query_preview query_processes query_series
    query_timeline query_top query_workspaces queue requests retention rules stops telemetry users
}

fn calls(cases: &[Case]) -> impl Iterator<Item = &Call> {
    let steps = cases.iter().flat_map(|case| &case.steps);
    steps.filter_map(|step| {
        if let Step::Call(call) = step {
            Some(&**call)
        } else {
            None
        }
    })
}

/// The engine's path with nameless parameters.
fn nameless(path: &str) -> String {
    let parts = path
        .split('/')
        .map(|part| if part.starts_with('{') { "{}" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

fn scope(route: &Route) -> &'static str {
    match route.access {
        Access::Telemetry => "",
        Access::Key(scope) => scope.as_str(),
        Access::KeyOrAudit(Scope::Read) => "read or audit",
        Access::KeyOrAudit(scope) => panic!("{scope:?} or audit"),
    }
}

#[test]
fn engine_has_exactly_the_documented_endpoints() {
    let documented: BTreeSet<_> = ENDPOINTS
        .iter()
        .map(|row| {
            let query: BTreeSet<_> = row.query.iter().copied().collect();
            (row.path.to_owned(), row.method, row.scope, query, row.body)
        })
        .collect();
    let built: BTreeSet<_> = ROUTES
        .iter()
        .map(|route| {
            let query: BTreeSet<_> = route.parameters().map(|Param { name, .. }| *name).collect();
            let body = !matches!(route.body, RequestBody::None);
            (
                nameless(route.path),
                route.method.as_str(),
                scope(route),
                query,
                body,
            )
        })
        .collect();
    assert_eq!(built, documented);
    assert_eq!(documented.len(), ROUTES.len(), "no endpoint twice");
}

#[test]
fn engine_has_exactly_the_documented_codes() {
    let codes = [
        Code::InvalidParameter,
        Code::InvalidBody,
        Code::InvalidApiKey,
        Code::InsufficientScope,
        Code::NotFound,
        Code::WorkSpaceNotFound,
        Code::UserNotFound,
        Code::MethodNotAllowed,
        Code::InvalidResourceState,
        Code::Cancelled,
        Code::OperationInProgress,
        Code::LitigationHold,
        Code::AmbiguousWorkSpace,
        Code::UnsupportedConfiguration,
        Code::DuplicateKeyName,
        Code::LastAdminKey,
        Code::PayloadTooLarge,
        Code::UriTooLong,
        Code::UnsupportedMediaType,
        Code::Throttled,
        Code::HeadersTooLarge,
        Code::Internal,
        Code::QueueFull,
        Code::StorageUnavailable,
        Code::Indeterminate,
        Code::LowDisk,
    ];
    let built = codes.map(|code| (code.as_str(), code.status()));
    assert_eq!(
        built,
        PROBLEMS.map(|problem| (problem.code, problem.status))
    );
    let codes = [
        Code::InvalidRequest,
        Code::RequestTimeout,
        Code::MisdirectedRequest,
        Code::ServerBusy,
    ];
    let built = codes.map(|code| (code.as_str(), code.status()));
    assert_eq!(
        built,
        SERVER_PROBLEMS.map(|problem| (problem.code, problem.status))
    );
}

/// Whether a call goes to this method and path; a parameter stands for any one segment.
fn goes_to(call: &Call, method: &str, path: &str) -> bool {
    let sent = call
        .target
        .split('?')
        .next()
        .unwrap_or_default()
        .trim_end_matches('/');
    let (sent, path): (Vec<_>, Vec<_>) = (sent.split('/').collect(), path.split('/').collect());
    let same = |(sent, path): (&&str, &&str)| *path == "{}" || sent.eq_ignore_ascii_case(path);
    call.method == method && sent.len() == path.len() && sent.iter().zip(&path).all(same)
}

#[test]
fn every_endpoint_has_cases_of_success_and_refusal() {
    let cases = cases();
    for endpoint in ENDPOINTS {
        let statuses: BTreeSet<u16> = calls(&cases)
            .filter(|call| goes_to(call, endpoint.method, endpoint.path))
            .map(|call| call.expect.status)
            .collect();
        let answered = statuses.iter().any(|status| *status < 300);
        assert!(
            answered,
            "{} {} is never answered",
            endpoint.method, endpoint.path
        );
        let mut refusals = vec![400];
        if !endpoint.scope.is_empty() {
            refusals.extend([401, 403]);
        }
        for status in refusals {
            assert!(
                statuses.contains(&status),
                "{} {} is never {status}",
                endpoint.method,
                endpoint.path
            );
        }
    }
}

#[test]
fn every_document_row_has_cases_and_every_case_a_row() {
    let rows: BTreeSet<_> = ROWS.iter().copied().collect();
    assert_eq!(rows.len(), ROWS.len(), "no row twice");
    let used: BTreeSet<_> = cases().iter().map(|case| case.row).collect();
    assert_eq!(used, rows);
}

/// `Internal` is a bug of the engine, so no case can provoke it.
#[test]
fn every_problem_code_has_a_case() {
    let cases = cases();
    let asked: BTreeSet<_> = calls(&cases)
        .filter_map(|call| {
            if let Body::Problem(code, _) = call.expect.body {
                Some(code)
            } else {
                None
            }
        })
        .collect();
    let mut all: BTreeSet<_> = PROBLEMS.iter().map(|problem| problem.code).collect();
    all.remove("Internal");
    assert_eq!(asked, all);
}
