//! Settings that are declared once. The macro [`settings!`](crate::settings!) makes a struct of them, with their texts, defaults and
//! bounds; a host reads and sets each one by its name, from a file, a command line or an object of JavaScript.
//!
//! ```
//! use deskfleet::Config;
//! use deskfleet::settings::{self, Value};
//!
//! let mut config = Config::default();
//! settings::set(&mut config, "actions.durations.reboot", &Value::Text("1m30s".into())).unwrap();
//! assert_eq!(config.actions.durations.reboot.as_secs(), 90);
//!
//! let wrong = settings::set(&mut config, "limits.queue_record", &Value::Number(1)).unwrap_err();
//! assert_eq!(wrong, settings::Wrong::Name { nearest: Some("limits.queue_records".into()) });
//! ```

mod amount;
#[cfg(test)]
mod tests;
mod types;
mod value;

pub use types::SettingType;
pub use value::{Form, Value};

use crate::nearest::nearest;

/// The text of a setting. In WebAssembly it is empty: no host there shows it, and all of them make the module larger.
#[doc(hidden)]
#[must_use]
pub const fn text(text: &'static str) -> &'static str {
    if cfg!(all(target_arch = "wasm32", target_os = "unknown")) {
        ""
    } else {
        text
    }
}

/// Declares a struct of settings: each field with its text, type and default, and where its type says too little with its
/// [`Form`]. The struct implements `Default` and [`Settings`].
///
/// A setting has the name of its field, after the name of the group that it is in (`limits.queue_records`); `as "…"` gives it
/// another whole name, and `as ""` puts the settings of a group beside the group. Fields in a block `in code` are no settings.
///
/// An enumeration is declared with the text of each of its values, and implements [`SettingType`].
///
/// ```
/// deskfleet::settings! {
///     /// How to log.
///     #[derive(Debug)]
///     pub struct Log {
///         /// Lines a second.
///         pub rate: u32 = 100, deskfleet::settings::Form::Count(1, 1000);
///         /// Colours.
///         pub colours: Colours = Colours::Never;
///     }
/// }
/// deskfleet::settings! {
///     /// When lines have colours.
///     #[derive(Debug, PartialEq)]
///     pub enum Colours {
///         /// On a terminal.
///         Terminal = "terminal",
///         /// Never.
///         Never = "never",
///     }
/// }
/// let mut log = Log::default();
/// deskfleet::settings::set(&mut log, "colours", &deskfleet::settings::Value::Text("terminal".into())).unwrap();
/// assert_eq!(log.colours, Colours::Terminal);
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field_vis:vis $field:ident: $type:ty $(as $key:literal)? = $default:expr $(, $form:expr)?;
            )*
            $(
                in code {
                    $(
                        $(#[doc = $code_doc:literal])+
                        $code_vis:vis $code_field:ident: $code_type:ty = $code_default:expr;
                    )*
                }
            )?
        }
    ) => {
        $(#[$attribute])*
        $vis struct $name {
            $(
                $(#[doc = $doc])+
                #[doc = ""]
                #[doc = concat!("Default: `", stringify!($default), "`.")]
                $field_vis $field: $type,
            )*
            $($(
                $(#[doc = $code_doc])+
                #[doc = ""]
                #[doc = concat!("Default: `", stringify!($code_default), "`.")]
                $code_vis $code_field: $code_type,
            )*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $($field: $default,)*
                    $($($code_field: $code_default,)*)?
                }
            }
        }

        impl $crate::settings::Settings for $name {
            fn visit(
                &mut self,
                name: &str,
                _: $crate::settings::Form,
                _: &'static str,
                visitor: &mut $crate::settings::Visitor<'_>,
            ) {
                $(
                    $crate::settings::Settings::visit(
                        &mut self.$field,
                        $crate::settings!(@name name $field $($key)?),
                        $crate::settings!(@form $($form)?),
                        $crate::settings::text(concat!($($doc, "\n"),+)),
                        visitor,
                    );
                )*
            }
        }
    };
    (
        $(#[$attribute:meta])*
        $vis:vis enum $name:ident {
            $($(#[$variant_attribute:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$attribute])*
        $vis enum $name {
            $($(#[$variant_attribute])* $variant,)+
        }

        impl $crate::settings::SettingType for $name {
            fn set(&mut self, value: &$crate::settings::Value, _: $crate::settings::Form) -> bool {
                let $crate::settings::Value::Text(text) = value else {
                    return false;
                };
                *self = match text.as_str() {
                    $($text => Self::$variant,)+
                    _ => return false,
                };
                true
            }

            fn get(&self, _: $crate::settings::Form) -> $crate::settings::Value {
                let text = match self {
                    $(Self::$variant => $text,)+
                };
                $crate::settings::Value::Text(text.to_owned())
            }

            fn expected(&self, _: $crate::settings::Form) -> String {
                [$(concat!("\"", $text, "\"")),+].join(" or ")
            }
        }
    };
    (@name $group:ident $field:ident) => {
        &$crate::settings::name_in($group, stringify!($field))
    };
    (@name $group:ident $field:ident $key:literal) => {
        $key
    };
    (@form) => {
        $crate::settings::Form::Any
    };
    (@form $form:expr) => {
        $form
    };
}

/// The milliseconds of a sum of times such as `1h30m`; `None` for anything else.
pub(crate) fn milliseconds(text: &str) -> Option<u64> {
    amount::parse(text, amount::TIMES)
}

/// Milliseconds as a sum of times such as `1h30m`.
pub(crate) fn duration_text(milliseconds: u64) -> String {
    amount::sum(milliseconds, amount::TIMES).unwrap_or_default()
}

/// One setting, while it is visited.
#[derive(Debug)]
pub struct Setting<'a> {
    /// Its whole name, such as `limits.queue_records`.
    pub name: &'a str,
    /// What it means, for people: a line ends where that of its declaration does.
    pub text: &'static str,
    /// What it takes, where its type says too little.
    pub form: Form,
    /// Its value.
    pub value: &'a mut dyn SettingType,
}

impl Setting<'_> {
    /// Sets it; `false` if it does not take that value.
    pub fn set(&mut self, value: &Value) -> bool {
        self.value.set(value, self.form)
    }

    /// Its value. Unless that is out of bounds, [`Self::set`] takes it.
    #[must_use]
    pub fn get(&self) -> Value {
        self.value.get(self.form)
    }

    /// The values it takes, for people: `a whole number from 1 to 65535`.
    #[must_use]
    pub fn expected(&self) -> String {
        self.value.expected(self.form)
    }
}

/// A function that is called for each setting.
pub type Visitor<'v> = dyn FnMut(Setting<'_>) + 'v;

/// A group of settings, or one setting. [`settings!`](crate::settings!) implements it.
pub trait Settings {
    /// Calls `visitor` for each setting, in the order of their declaration. `name` is the name of the group or setting; `form` and
    /// `text` are those of a single setting.
    fn visit(&mut self, name: &str, form: Form, text: &'static str, visitor: &mut Visitor<'_>);
}

/// Groups of one kind, counted from 1: the settings of the first in `webhooks` are `webhooks.1.url` and the others of its kind. Setting a
/// name adds no group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups<T>(pub Vec<T>);

impl<T: Settings> Settings for Groups<T> {
    fn visit(&mut self, name: &str, form: Form, text: &'static str, visitor: &mut Visitor<'_>) {
        for (number, group) in (1..).zip(&mut self.0) {
            group.visit(&name_in(name, &number.to_string()), form, text, visitor);
        }
    }
}

impl<T: SettingType> Settings for T {
    fn visit(&mut self, name: &str, form: Form, text: &'static str, visitor: &mut Visitor<'_>) {
        visitor(Setting {
            name,
            text,
            form,
            value: self,
        });
    }
}

/// Why a setting was not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// There is no setting of that name.
    Name {
        /// The nearest known name.
        nearest: Option<String>,
    },
    /// The setting does not take that value.
    Value {
        /// The values it takes, for people.
        expected: String,
    },
}

/// Calls `visitor` for each setting, in the order of their declaration.
pub fn each(settings: &mut dyn Settings, visitor: &mut Visitor<'_>) {
    settings.visit("", Form::Any, "", visitor);
}

/// Sets the setting of that name. [`Value::Group`] sets nothing; it is taken where `name` is the name of a group.
///
/// # Errors
/// [`Wrong`], for an unknown name or a value that the setting does not take.
pub fn set(settings: &mut dyn Settings, name: &str, value: &Value) -> Result<(), Wrong> {
    let mut expected = None;
    let mut done = false;
    let group = name_in(name, "");
    each(settings, &mut |mut setting| {
        if setting.name == name {
            done = setting.set(value);
            let hint = setting.form.hint(value).unwrap_or_default();
            expected = Some(setting.expected() + &hint);
        } else if !group.is_empty() && setting.name.starts_with(&group) {
            done = *value == Value::Group;
            expected = Some("a group of settings".to_owned());
        }
    });
    match expected {
        _ if done => Ok(()),
        Some(expected) => Err(Wrong::Value { expected }),
        None => {
            let mut known = names(settings);
            if *value == Value::Group {
                known = known.iter().flat_map(|name| groups(name)).collect();
            }
            let nearest = likeliest(name, &known).map(str::to_owned);
            Err(Wrong::Name { nearest })
        }
    }
}

/// The name of `known` that `name` most likely means: one that is misspelled, has a forgotten or a wrong group, or is cut short.
///
/// ```
/// let known = ["limits.queue_records", "server.listen"].map(str::to_owned);
/// let likeliest = |name| deskfleet::settings::likeliest(name, &known);
/// assert_eq!(likeliest("listen"), Some("server.listen"));
/// assert_eq!(likeliest("limits.queue"), Some("limits.queue_records"));
/// assert_eq!(likeliest("server.colour"), None);
/// ```
#[must_use]
pub fn likeliest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let (group, own) = name.rsplit_once('.').unwrap_or(("", name));
    let words: &str = &name.replace('.', "_");
    let known = known.iter().map(|known| {
        let (group, own) = known.rsplit_once('.').unwrap_or(("", known));
        (known.as_str(), group, own)
    });
    // Names of one group look alike by the group alone, so the end must be alike too.
    let alike = known.clone().filter(|(_, _, known)| {
        let end = words.rmatch_indices('_').nth(known.matches('_').count());
        let end = end.and_then(|(at, _)| words.get(at + 1..));
        nearest(own, [*known]).is_some() || nearest(end.unwrap_or(words), [*known]).is_some()
    });
    let misspelled = nearest(name, alike.map(|(known, ..)| known));
    let misplaced = || {
        let whole = known.clone().find(|(known, ..)| {
            let before = words.strip_suffix(&known.replace('.', "_"));
            before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
        });
        let own = nearest(own, known.clone().map(|(_, _, own)| own));
        let found = whole.or_else(|| known.clone().find(|known| Some(known.2) == own));
        found.map(|(known, ..)| known)
    };
    let cut_short = || {
        let mut beside = known.clone().filter(|known| known.1 == group);
        let found = beside.find(|(_, _, known)| {
            let end = known.match_indices('_').nth(own.matches('_').count());
            end.and_then(|(at, _)| known.get(..at))
                .is_some_and(|start| nearest(own, [start]).is_some())
        });
        found.map(|(known, ..)| known)
    };
    misspelled.or_else(misplaced).or_else(cut_short)
}

/// The groups of a setting.
fn groups(name: &str) -> impl Iterator<Item = String> {
    let ends = name.match_indices('.');
    ends.filter_map(|(end, _)| name.get(..end).map(str::to_owned))
}

/// The names of all settings, in the order of their declaration.
pub fn names(settings: &mut dyn Settings) -> Vec<String> {
    let mut names = Vec::new();
    each(settings, &mut |setting| {
        names.push(setting.name.to_owned());
    });
    names
}

/// The names and values of all settings, in the order of their declaration.
pub fn values(settings: &mut dyn Settings) -> Vec<(String, Value)> {
    let mut values = Vec::new();
    each(settings, &mut |setting| {
        values.push((setting.name.to_owned(), setting.get()));
    });
    values
}

/// The whole name of `setting` in `group`.
#[must_use]
pub fn name_in(group: &str, setting: &str) -> String {
    if group.is_empty() {
        return setting.to_owned();
    }
    format!("{group}.{setting}")
}
