//! The bytes of the fields of mutations. An entry holds the fields of a mutation in the order in which [`fields!`] lists them.

use std::borrow::Cow;

use crate::error::Result;
use crate::model::{
    Action, ActionBatchRequest, ActionRequest, Attempt, AuditAction, AuditResult, FailedState,
    FieldValue, Fields, KeyFilter, KeyLimits, NewKey, RemovedTelemetry, Scopes, Stream,
    TelemetrySelection, Workspace, WorkspacePatch,
};
use crate::mutation::{Caller, Derived, ImportCounts, RemoveTelemetry, Span};
use crate::store::codec::{Decoder, Encoder, damaged};
use crate::store::telemetry::arrivals::Arrivals;
use crate::timestamp::Timestamp;

/// A value in an entry.
pub(crate) trait LogField: Sized {
    /// Appends its bytes.
    fn write(&self, to: &mut Encoder);

    /// Reads what [`Self::write`] appended.
    fn read(from: &mut Decoder<'_>) -> Result<Self>;
}

/// Declares the fields of a type in an entry, in order: of a struct, or of an enum after the number of the variant.
macro_rules! fields {
    ($name:ident { $($field:tt),+ }) => {
        impl $crate::mutation::logged::fields::LogField for $name {
            fn write(&self, to: &mut Encoder) {
                $(self.$field.write(to);)+
            }

            fn read(from: &mut Decoder<'_>) -> Result<Self> {
                Ok(Self { $($field: $crate::mutation::logged::fields::LogField::read(from)?),+ })
            }
        }

        #[cfg(test)]
        impl $crate::mutation::logged::tests::samples::Sampled for $name {
            fn sampled(random: &mut proptest::test_runner::TestRunner) -> Self {
                use $crate::mutation::logged::tests::samples::Sampled;

                Self { $($field: Sampled::sampled(random)),+ }
            }
        }
    };
    (enum $name:ident { $($number:literal $variant:ident($($field:ident),+)),+ }) => {
        impl LogField for $name {
            fn write(&self, to: &mut Encoder) {
                match self {
                    $(Self::$variant($($field),+) => {
                        to.u8($number);
                        $($field.write(to);)+
                    })+
                }
            }

            fn read(from: &mut Decoder<'_>) -> Result<Self> {
                Ok(match from.u8()? {
                    $($number => {
                        $(let $field = LogField::read(from)?;)+
                        Self::$variant($($field),+)
                    })+
                    _ => return Err(damaged()),
                })
            }
        }

        #[cfg(test)]
        impl super::tests::samples::Sampled for $name {
            fn sampled(random: &mut proptest::test_runner::TestRunner) -> Self {
                use super::tests::samples::{Sampled, one_of};
                match one_of(&[$($number),+], random) {
                    $($number => {
                        $(let $field = Sampled::sampled(random);)+
                        Self::$variant($($field),+)
                    })+
                    number => unreachable!("{number}"),
                }
            }
        }
    };
}
pub(super) use fields;

fields! { ActionBatchRequest { action, workspace_ids, compute_type, requester, at_once, stop_after_failures } }
fields! { ActionRequest { action, workspace_id, sam_account, requester, compute_type } }
fields! { Attempt { number, provider, instance } }
fields! { Caller { key } }
fields! { KeyFilter { region, directory_id } }
fields! { KeyLimits { actions, filter, destructive_per_hour } }
fields! { NewKey { scopes, name, expires, limits } }
fields! { RemovedTelemetry { removed, kept } }
fields! { Span { from, before } }
fields! { TelemetrySelection { instance_id, stream, before } }
fields! { enum RemoveTelemetry { 0 Begin(selection, by), 1 Take(selection, of, span), 2 End(row, removed) } }

/// Declares enums that an entry stores as the index in a list.
macro_rules! variants {
    ($($name:ty: $all:expr,)+) => {
        $(impl LogField for $name {
            fn write(&self, to: &mut Encoder) {
                to.variant(&$all, self);
            }

            fn read(from: &mut Decoder<'_>) -> Result<Self> {
                from.variant(&$all)
            }
        }

        #[cfg(test)]
        impl super::tests::samples::Sampled for $name {
            fn sampled(random: &mut proptest::test_runner::TestRunner) -> Self {
                super::tests::samples::one_of(&$all, random)
            }
        })+
    };
}

variants! {
    Action: *Action::ALL,
    AuditAction: AuditAction::ALL,
    AuditResult: AuditResult::ALL,
    Derived: Derived::ALL,
    FailedState: [FailedState::Error, FailedState::Unhealthy],
    Stream: Stream::ALL,
}

impl LogField for bool {
    fn write(&self, to: &mut Encoder) {
        to.u8(u8::from(*self));
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        match from.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(damaged()),
        }
    }
}

impl LogField for u8 {
    fn write(&self, to: &mut Encoder) {
        to.u8(*self);
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        from.u8()
    }
}

impl LogField for u32 {
    fn write(&self, to: &mut Encoder) {
        to.varint((*self).into());
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        Self::try_from(from.varint()?).map_err(|_| damaged())
    }
}

impl LogField for u64 {
    fn write(&self, to: &mut Encoder) {
        to.varint(*self);
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        from.varint()
    }
}

impl LogField for Timestamp {
    fn write(&self, to: &mut Encoder) {
        to.time(*self);
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        from.time()
    }
}

impl LogField for String {
    fn write(&self, to: &mut Encoder) {
        to.text(self);
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        from.text().map(str::to_owned)
    }
}

impl LogField for Cow<'static, str> {
    fn write(&self, to: &mut Encoder) {
        to.text(self);
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        String::read(from).map(Self::Owned)
    }
}

impl<const N: usize> LogField for [u8; N] {
    fn write(&self, to: &mut Encoder) {
        to.raw(self);
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        from.array()
    }
}

impl<A: LogField, B: LogField> LogField for (A, B) {
    fn write(&self, to: &mut Encoder) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

impl<T: LogField> LogField for Option<T> {
    fn write(&self, to: &mut Encoder) {
        to.option(self.as_ref(), |to, value| value.write(to));
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        from.option(T::read)
    }
}

/// A count, then the items. Reading reserves no memory by the count, which may be damaged.
impl<T: LogField> LogField for Vec<T> {
    fn write(&self, to: &mut Encoder) {
        to.count(self.len());
        for each in self {
            each.write(to);
        }
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        let count = from.count()?;
        (0..count).map(|_| T::read(from)).collect()
    }
}

impl LogField for Scopes {
    fn write(&self, to: &mut Encoder) {
        to.u8(self.bits());
    }

    /// An unknown scope is refused, not dropped.
    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        let bits = from.u8()?;
        let scopes = Self::from_bits(bits);
        if scopes.bits() != bits {
            return Err(damaged());
        }
        Ok(scopes)
    }
}

impl LogField for ImportCounts {
    fn write(&self, to: &mut Encoder) {
        for count in [self.created, self.updated, self.rejected] {
            to.varint(count);
        }
    }

    /// More is added to each, so each must be far below the largest number.
    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        const MAX: u64 = u64::MAX / 2;
        let mut count = || match from.varint()? {
            count @ ..=MAX => Ok(count),
            _ => Err(damaged()),
        };
        Ok(Self {
            created: count()?,
            updated: count()?,
            rejected: count()?,
        })
    }
}

impl LogField for Workspace {
    fn write(&self, to: &mut Encoder) {
        to.text(&self.id);
        for value in self.values().into_iter().skip(1) {
            to.option_text(value);
        }
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        let mut values = [None; Self::FIELDS.len()];
        for (index, value) in values.iter_mut().enumerate() {
            *value = match index {
                0 => Some(from.text()?),
                _ => from.option_text()?,
            };
        }
        Ok(Self::of_values(values))
    }
}

// What a patch does with a field.
const KEEP: u8 = 0;
const SET_NULL: u8 = 1;
const SET: u8 = 2;

impl LogField for WorkspacePatch {
    fn write(&self, to: &mut Encoder) {
        for index in 0..Workspace::FIELDS.len() {
            match self.get(index) {
                Some(FieldValue::Text(text)) => {
                    to.u8(SET);
                    to.text(&text);
                }
                Some(_) => to.u8(SET_NULL),
                None => to.u8(KEEP),
            }
        }
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        let mut patch = Self::default();
        for index in 0..Workspace::FIELDS.len() {
            let value = match from.u8()? {
                KEEP => continue,
                SET_NULL => FieldValue::Null,
                SET => FieldValue::Text(Cow::Borrowed(from.text()?)),
                _ => return Err(damaged()),
            };
            if !patch.set(index, value) {
                return Err(damaged());
            }
        }
        Ok(patch)
    }
}

/// The blocks of the queue, as they are.
impl LogField for Box<Arrivals> {
    fn write(&self, to: &mut Encoder) {
        let blocks = self.blocks();
        to.count(blocks.len());
        for block in blocks {
            to.count(block.len());
            to.raw(block);
        }
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self> {
        let count = from.count()?;
        let blocks = (0..count).map(|_| {
            let length = from.count()?;
            from.raw(length)
        });
        Arrivals::of_blocks(blocks).map(Self::new)
    }
}
