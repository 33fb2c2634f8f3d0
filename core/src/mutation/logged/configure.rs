//! The bytes of the settings that nodes share.

use crate::error::Result;
use crate::mutation::configure::Configure;
use crate::store::codec::{Decoder, Encoder};

use super::fields::{decode_bool, encode_bool};
use super::{Logged, Tag};

impl Logged for Configure {
    fn tag(&self) -> Option<Tag> {
        Some(Tag::Configure)
    }

    fn encode(&self, to: &mut Encoder) {
        to.text(&self.settings);
        to.option(self.founds, |to, founds| encode_bool(founds, to));
    }

    fn decode(_: Tag, from: &mut Decoder<'_>) -> Result<Self> {
        Ok(Self {
            settings: from.text()?.to_owned(),
            founds: from.option(decode_bool)?,
        })
    }
}
