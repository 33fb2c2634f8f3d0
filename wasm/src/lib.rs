//! The engine for JavaScript: one class over storage in memory.
//!
//! The types of JavaScript end in this file; [`Fleet`] and [`exchange`] know none, so they are tested natively. What this
//! crate is now, and what it is not yet, is in `wasm/README.md`.

pub mod exchange;
mod fleet;

pub use fleet::{Fleet, IssuedKey};

use js_sys::{Array, Date, Error, Function, JsString, Reflect, Uint8Array};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues, catch)]
    fn get_random_values(buffer: &mut [u8]) -> Result<JsValue, JsValue>;
}

#[wasm_bindgen(typescript_custom_section)]
const OPTIONS: &str = r"
export interface EngineOptions {
    /** Makes keys and trace ids repeatable; for tests only. Without it they come from `crypto.getRandomValues`. */
    seed?: number;
    /** The time in milliseconds since 1970, asked once for each call; `Date.now` when absent. */
    now?: () => number;
}
";

/// A fleet engine whose data lives in the memory of this instance and ends with it.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Engine {
    fleet: Fleet,
    now: Option<Function>,
}

#[wasm_bindgen]
impl Engine {
    /// Opens an empty engine.
    ///
    /// # Errors
    /// When an option is not what it should be, or the storage cannot be set up.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_optional_param_type = "EngineOptions")] options: &JsValue,
    ) -> Result<Self, JsValue> {
        let now = option(options, "now")?
            .map(|now| {
                now.dyn_into()
                    .map_err(|_| error("options.now is not a function"))
            })
            .transpose()?;
        let seed = option(options, "seed")?
            .map(|seed| {
                seed.as_f64()
                    .ok_or_else(|| error("options.seed is not a number"))
            })
            .transpose()?;
        let fleet =
            Fleet::open(seed, |buffer| get_random_values(buffer).map(drop)).map_err(error)?;
        Ok(Self { fleet, now })
    }

    /// Answers one request: `[status, headers, body]`, headers as lines `name: value`.
    ///
    /// # Errors
    /// What cannot be an HTTP request at all is thrown, as `new Request` would. Every other failure is an answer.
    #[wasm_bindgen(unchecked_return_type = "[status: number, headers: string, body: Uint8Array]")]
    pub fn handle(
        &self,
        method: &str,
        url: &str,
        headers: &str,
        body: Vec<u8>,
    ) -> Result<Array, JsValue> {
        self.set_time()?;
        let answer = self
            .fleet
            .handle(method, url, headers, body)
            .map_err(error)?;
        Ok(Array::of3(
            &JsValue::from(answer.status),
            &JsString::from(answer.headers),
            &Uint8Array::from(answer.body.as_ref()),
        ))
    }

    /// Creates or replaces workspaces, from a JSON array of them; answers how many.
    ///
    /// # Errors
    /// When the text is no such array or a workspace breaks a rule.
    #[wasm_bindgen(js_name = putWorkspaces)]
    pub fn put_workspaces(&self, json: &str) -> Result<f64, JsValue> {
        self.set_time()?;
        self.fleet
            .put_workspaces(json)
            .map(f64::from)
            .map_err(error)
    }

    /// Issues an API key and answers its secret, which is shown only here. Scopes: `read`, `act`, `admin`, `ingest`.
    ///
    /// # Errors
    /// When a scope is unknown, there is none, or the name breaks a rule.
    #[wasm_bindgen(js_name = issueKey)]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "arrays of strings arrive by value"
    )]
    pub fn issue_key(&self, name: &str, scopes: Vec<String>) -> Result<String, JsValue> {
        self.set_time()?;
        let issued = self.fleet.issue_key(name, &scopes).map_err(error)?;
        Ok(issued.secret)
    }

    /// Files the queued telemetry into history; answers how many records.
    ///
    /// # Errors
    /// When the storage fails.
    #[wasm_bindgen(js_name = filePending)]
    pub fn file_pending(&self) -> Result<f64, JsValue> {
        self.set_time()?;
        self.fleet.file_pending().map(f64::from).map_err(error)
    }

    /// Does everything that is due: ends actions, files, applies retention. Call it once a second or so.
    ///
    /// # Errors
    /// When the storage fails.
    pub fn maintain(&self) -> Result<(), JsValue> {
        self.set_time()?;
        self.fleet.maintain().map_err(error)
    }
}

impl Engine {
    fn set_time(&self) -> Result<(), JsValue> {
        let milliseconds = match &self.now {
            Some(now) => now
                .call0(&JsValue::NULL)?
                .as_f64()
                .ok_or_else(|| error("options.now did not answer a number"))?,
            None => Date::now(),
        };
        self.fleet.set_time(milliseconds).map_err(error)
    }
}

/// The member of the options object; `None` when there is no object or no such member.
fn option(options: &JsValue, name: &str) -> Result<Option<JsValue>, JsValue> {
    if options.is_undefined() || options.is_null() {
        return Ok(None);
    }
    let value = Reflect::get(options, &JsString::from(name))?;
    Ok((!value.is_undefined()).then_some(value))
}

fn error(sentence: impl AsRef<str>) -> JsValue {
    Error::new(sentence.as_ref()).into()
}
