//! `ChangeComputeType`: which types are known, and which change into which.

use super::audit::{Row, newest};
use super::case::{Call, Case, call};
use super::fixtures::desk;
use super::lifecycle::is;

/// Every type of the contract, and some sizes of its families.
const KNOWN: [&str; 20] = [
    "VALUE",
    "STANDARD",
    "PERFORMANCE",
    "POWER",
    "POWERPRO",
    "GRAPHICS",
    "GRAPHICSPRO",
    "GRAPHICS_G4DN",
    "GRAPHICSPRO_G4DN",
    "GENERALPURPOSE_4XLARGE",
    "GENERALPURPOSE_8XLARGE",
    "GRAPHICS_G6",
    "GRAPHICS_GR6",
    "GRAPHICS_G6F",
    "GRAPHICS_GR6F",
    "GRAPHICS_G7",
    "GRAPHICS_G6_4XLARGE",
    "GRAPHICS_GR6_8XLARGE",
    "GRAPHICS_G6F_XLARGE",
    "GRAPHICS_G7_2XLARGE",
];

/// Types that change only to those of the second list.
const BOUND: [(&str, &[&str]); 4] = [
    ("GRAPHICS", &["GRAPHICS"]),
    ("GRAPHICSPRO", &["GRAPHICSPRO"]),
    ("GRAPHICS_G4DN", &["GRAPHICS_G4DN", "GRAPHICSPRO_G4DN"]),
    ("GRAPHICSPRO_G4DN", &["GRAPHICS_G4DN", "GRAPHICSPRO_G4DN"]),
];

/// Every case of this area.
pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![unknown(), letter_case(), order_of_checks()];
    for from in KNOWN.into_iter().chain(["Huge", ""]) {
        cases.push(every_change(from));
    }
    cases
}

fn change(to: &str) -> Call {
    call(&format!(
        "POST act /api/Actions/ChangeComputeType?workSpaceId=ws-1&computeType={to}"
    ))
}

fn of_type(state: &str, compute_type: &str) -> deskfleet::Workspace {
    let mut workspace = desk("ws-1", state, "jdoe");
    workspace.compute_type_name = Some(compute_type)
        .filter(|text| !text.is_empty())
        .map(Into::into);
    workspace
}

/// From one type to every other; an unknown or absent type changes freely.
fn every_change(from: &'static str) -> Case {
    let bound = BOUND
        .iter()
        .find(|(bound, _)| *bound == from)
        .map(|(_, to)| *to);
    let mut case = Case::new("4 computeType", format!("from {from:?}"));
    for to in KNOWN {
        case = case.reset(&of_type("STOPPED", from));
        case = match bound {
            _ if from == to => {
                let row = Row::new("ChangeComputeType", "NoChange").states("STOPPED", "STOPPED");
                let row = Row {
                    time: "«_»", ..row
                }
                .completed("«_»");
                case.call(change(to))
                    .call(is("STOPPED", from))
                    .call(newest(&[row]))
            }
            Some(allowed) if !allowed.contains(&to) => case
                .call(change(to).refused("UnsupportedConfiguration"))
                .call(is("STOPPED", from)),
            _ => case.call(change(to)).clock(1200).call(is("AVAILABLE", to)),
        };
    }
    case
}

fn unknown() -> Case {
    let case =
        Case::new("4 computeType", "unknown or missing").put(of_type("AVAILABLE", "STANDARD"));
    let case = [
        "HUGE",
        "",
        "GRAPHICS_G8",
        "GRAPHICS_G6X",
        "STANDARD/",
        "POWER,VALUE",
        "5",
    ]
    .into_iter()
    .fold(case, |case, bad| {
        let call = change(&bad.replace(' ', "+")).refused("InvalidParameter");
        case.call(call.error("computeType", format!("The value '{bad}' is not valid.")))
    });
    let bare = call("POST act /api/Actions/ChangeComputeType?workSpaceId=ws-1")
        .refused("InvalidParameter");
    let nowhere = call("POST act /api/Actions/ChangeComputeType?workSpaceId=ws-9&computeType=HUGE")
        .refused("InvalidParameter");
    case.call(bare.error_holding("computeType", &[]))
        .call(nowhere.error("computeType", "The value 'HUGE' is not valid."))
        .call(is("AVAILABLE", "STANDARD"))
}

fn letter_case() -> Case {
    Case::new(
        "4 computeType",
        "in any spelling, kept in the canonical one",
    )
    .put(of_type("AVAILABLE", "STANDARD"))
    .call(change("standard"))
    .call(is("AVAILABLE", "STANDARD"))
    .call(change("Graphics_g6_4xlarge"))
    .call(is("UPDATING", "STANDARD"))
    .clock(1200)
    .call(is("AVAILABLE", "GRAPHICS_G6_4XLARGE"))
    .call(change("Graphics.g6.4xlarge"))
    .call(is("AVAILABLE", "GRAPHICS_G6_4XLARGE"))
    .reset(&of_type("AVAILABLE", "Graphics.g4dn"))
    .call(is("AVAILABLE", "GRAPHICS_G4DN"))
    .call(change("Power+Pro").refused("UnsupportedConfiguration"))
    .call(change("GraphicsPro.g4dn"))
    .call(is("UPDATING", "GRAPHICS_G4DN"))
}

/// Type unknown, workspace unknown, running transition, state, same type, unsupported: the first that holds decides.
fn order_of_checks() -> Case {
    Case::new("2 order of checks", "ChangeComputeType")
        .put(of_type("ERROR", "GRAPHICS"))
        .call(change("GRAPHICS").refused("InvalidResourceState"))
        .call(change("VALUE").refused("InvalidResourceState"))
        .call(change("HUGE").refused("InvalidParameter"))
        .put(of_type("STOPPED", "GRAPHICS"))
        .call(call(
            "POST act /api/Actions/StartWorkSpace?workSpaceId=ws-1",
        ))
        .call(change("GRAPHICS").refused("OperationInProgress"))
        .call(change("VALUE").refused("OperationInProgress"))
        .call(change("HUGE").refused("InvalidParameter"))
}
