//! Runs every example to its end.

use std::error::Error;

#[path = "../examples/analytics.rs"]
mod analytics;
#[cfg(feature = "tower")]
#[path = "../examples/axum_nested.rs"]
mod axum_nested;
#[path = "../examples/custom_backend.rs"]
mod custom_backend;
#[path = "../examples/in_process.rs"]
mod in_process;
#[path = "../examples/store_and_forward.rs"]
mod store_and_forward;
#[path = "../examples/test_double.rs"]
mod test_double;

#[test]
fn analytics_runs() -> Result<(), Box<dyn Error>> {
    analytics::main()
}

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
fn store_and_forward_runs() -> Result<(), Box<dyn Error>> {
    store_and_forward::main()
}

#[test]
fn test_double_runs() -> Result<(), Box<dyn Error>> {
    test_double::main()
}
