//! Operations on an engine and on the reference of the model suite.

use arbitrary::{Arbitrary, Unstructured};

use crate::model::op::Op;
use crate::model::run;

/// Most operations of a run; longer runs find nothing new and take long.
const OPS_MAX: usize = 48;

/// The input is a list of operations; engine and reference must agree throughout.
///
/// # Panics
/// When they do not.
pub fn operations(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let mut ops = Vec::new();
    while !input.is_empty() && ops.len() < OPS_MAX {
        let Ok(op) = Op::arbitrary(&mut input) else {
            break;
        };
        ops.push(op);
    }
    run(&ops);
}
