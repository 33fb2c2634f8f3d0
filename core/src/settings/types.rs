//! The types that a setting may have.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::value::{Form, Value};

/// A type that a setting may have. [`settings!`](crate::settings!) implements it for an enumeration.
pub trait SettingType: fmt::Debug {
    /// Sets `value`; returns false and changes nothing if that is not of the form.
    fn set(&mut self, value: &Value, form: Form) -> bool;

    /// The value, as [`Self::set`] takes it.
    fn get(&self, form: Form) -> Value;

    /// The values that [`Self::set`] takes, for people.
    fn expected(&self, form: Form) -> String;
}

/// Sets `slot` if there is a value for it.
fn put<T>(slot: &mut T, value: Option<T>) -> bool {
    value.map(|value| *slot = value).is_some()
}

macro_rules! numbers {
    ($($type:ty),+) => {
        $(impl SettingType for $type {
            fn set(&mut self, value: &Value, form: Form) -> bool {
                let number = form.number(value);
                put(self, number.and_then(|number| Self::try_from(number).ok()))
            }

            fn get(&self, form: Form) -> Value {
                form.value(u64::try_from(*self).unwrap_or(u64::MAX))
            }

            fn expected(&self, form: Form) -> String {
                form.numbers()
            }
        })+
    };
}

numbers!(u16, u32, u64, usize);

/// In whole milliseconds, with a [`Form::Time`].
impl SettingType for Duration {
    fn set(&mut self, value: &Value, form: Form) -> bool {
        put(self, form.number(value).map(Self::from_millis))
    }

    fn get(&self, form: Form) -> Value {
        form.value(u64::try_from(self.as_millis()).unwrap_or(u64::MAX))
    }

    fn expected(&self, form: Form) -> String {
        form.numbers()
    }
}

impl SettingType for bool {
    fn set(&mut self, value: &Value, _: Form) -> bool {
        let Value::Boolean(value) = value else {
            return false;
        };
        put(self, Some(*value))
    }

    fn get(&self, _: Form) -> Value {
        Value::Boolean(*self)
    }

    fn expected(&self, _: Form) -> String {
        "true or false".to_owned()
    }
}

impl SettingType for String {
    fn set(&mut self, value: &Value, form: Form) -> bool {
        put(self, text(value, form).cloned())
    }

    fn get(&self, _: Form) -> Value {
        Value::Text(self.clone())
    }

    fn expected(&self, form: Form) -> String {
        form.texts("text")
    }
}

/// In UTF-8, and not empty.
impl SettingType for PathBuf {
    fn set(&mut self, value: &Value, form: Form) -> bool {
        let path = text(value, form).filter(|path| !path.is_empty());
        put(self, path.map(Self::from))
    }

    fn get(&self, _: Form) -> Value {
        Value::Text(self.to_string_lossy().into_owned())
    }

    fn expected(&self, form: Form) -> String {
        form.texts("a path")
    }
}

fn text(value: &Value, form: Form) -> Option<&String> {
    let Value::Text(text) = value else {
        return None;
    };
    form.takes(text).then_some(text)
}

impl SettingType for Vec<String> {
    fn set(&mut self, value: &Value, form: Form) -> bool {
        let Value::List(texts) = value else {
            return false;
        };
        let taken = texts.iter().all(|text| form.takes(text));
        put(self, taken.then(|| texts.clone()))
    }

    fn get(&self, _: Form) -> Value {
        Value::List(self.clone())
    }

    fn expected(&self, form: Form) -> String {
        format!("a list, of {}", form.texts("texts"))
    }
}

/// The text `none` is `None`.
impl<T: SettingType + Default> SettingType for Option<T> {
    fn set(&mut self, value: &Value, form: Form) -> bool {
        if matches!(value, Value::Text(text) if text == "none") {
            *self = None;
            return true;
        }
        let mut inner = T::default();
        inner.set(value, form) && put(self, Some(Some(inner)))
    }

    fn get(&self, form: Form) -> Value {
        match self {
            Some(value) => value.get(form),
            None => Value::Text("none".to_owned()),
        }
    }

    fn expected(&self, form: Form) -> String {
        format!("{}, or \"none\"", T::default().expected(form))
    }
}
