//! Runs every example to its end.

use std::error::Error;

#[cfg(feature = "tower")]
#[path = "../examples/axum_nested.rs"]
mod axum_nested;
#[path = "../examples/custom_backend.rs"]
mod custom_backend;
#[path = "../examples/in_process.rs"]
mod in_process;
#[path = "../examples/test_double.rs"]
mod test_double;

#[cfg(feature = "tower")]
#[test]
fn axum_nested_runs() -> Result<(), Box<dyn Error>> {
    axum_nested::main()
}

#[test]
fn custom_backend_runs() -> Result<(), Box<dyn Error>> {
    custom_backend::main()
}

#[test]
fn in_process_runs() -> Result<(), Box<dyn Error>> {
    in_process::main()
}

#[test]
fn test_double_runs() -> Result<(), Box<dyn Error>> {
    test_double::main()
}
