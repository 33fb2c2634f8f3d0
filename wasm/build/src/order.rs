//! The order of the functions in the module. Functions that have much in common follow each other: gzip looks back 32 KiB only, and
//! the module takes 4 % less. The functions stay as the compiler made them, and so does what they do. Their names go into a section of their own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::convert::Infallible;

use wasm_encoder::reencode::{self, Error, Reencode};
use wasm_encoder::{CodeSection, FunctionSection, Module, NameMap, NameSection, Section};
use wasmparser::{
    BinaryReaderError, CodeSectionReader, CustomSectionReader, FunctionSectionReader, KnownCustom,
    Name, Naming, Parser, Payload, TypeRef,
};

use crate::Result;

/// A module and the names of its functions.
pub(crate) struct Ordered {
    pub(crate) module: Vec<u8>,
    /// A section that may be appended to the module, for stack traces and profilers.
    pub(crate) names: Vec<u8>,
}

/// The module with its functions in another order, and without their names.
pub(crate) fn by_similarity(module: &[u8]) -> Result<Ordered> {
    let invalid = |error: &dyn std::fmt::Display| format!("the module cannot be read: {error}");
    let (imported, bodies) = functions(module).map_err(|error| invalid(&error))?;
    let order = similar_together(&bodies);
    let mut indices: Vec<usize> = (0..imported + order.len()).collect();
    for (to, from) in order.iter().enumerate() {
        if let Some(index) = indices.get_mut(imported + from) {
            *index = imported + to;
        }
    }
    let mut written = Module::new();
    let mut reordered = Reordered {
        order,
        indices,
        names: BTreeMap::new(),
    };
    reordered
        .parse_core_module(&mut written, Parser::new(0), module)
        .map_err(|error| invalid(&error))?;
    Ok(Ordered {
        module: written.finish(),
        names: reordered.name_section(),
    })
}

/// The number of imported functions, and the bodies of the others.
fn functions(module: &[u8]) -> Result<(usize, Vec<&[u8]>), BinaryReaderError> {
    let (mut imported, mut bodies) = (0, Vec::new());
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if let Payload::CodeSectionEntry(body) = &payload {
            bodies.push(body.as_bytes());
        }
        if let Payload::ImportSection(imports) = payload {
            for import in imports.into_imports() {
                imported += usize::from(matches!(import?.ty, TypeRef::Func(_)));
            }
        }
    }
    Ok((imported, bodies))
}

/// The places of `bodies` in an order in which each has as much as possible in common with those before it.
#[expect(clippy::indexing_slicing, reason = "indices into lists made here")]
fn similar_together(bodies: &[&[u8]]) -> Vec<usize> {
    /// Bytes of the sequences that are compared.
    const LENGTH: usize = 6;
    /// What most functions have says nothing.
    const HOLDERS_MAX: usize = 100;
    /// How far back gzip looks.
    const WINDOW_BYTES: usize = 32 * 1024;
    let mut numbers = HashMap::new();
    // The sequences of each function, and the functions that have each sequence.
    let (mut sequences, mut holders) = (Vec::new(), Vec::new());
    for (place, body) in bodies.iter().enumerate() {
        let mut number = |bytes| {
            let next = numbers.len();
            *numbers.entry(bytes).or_insert(next)
        };
        let mut own: Vec<usize> = body.windows(LENGTH).map(&mut number).collect();
        own.sort_unstable();
        own.dedup();
        holders.resize(numbers.len(), Vec::new());
        for number in &own {
            holders[*number].push(place);
        }
        sequences.push(own);
    }
    holders
        .iter_mut()
        .filter(|holders| holders.len() >= HOLDERS_MAX)
        .for_each(Vec::clear);
    // How many functions in the window have each sequence, and how many of the sequences of each function are there.
    let (mut seen, mut common) = (vec![0; holders.len()], vec![0; bodies.len()]);
    let (mut window, mut window_bytes) = (VecDeque::new(), 0);
    let mut rest: Vec<usize> = (0..bodies.len()).collect();
    let mut order = Vec::with_capacity(bodies.len());
    let share =
        |common: &[usize], place: usize| (common[place] << 16) / (sequences[place].len() + 8);
    while let Some((at, next)) = rest
        .iter()
        .copied()
        .enumerate()
        .max_by_key(|(_, place)| (share(&common, *place), Reverse(*place)))
    {
        rest.remove(at);
        order.push(next);
        window.push_back(next);
        window_bytes += bodies[next].len();
        for number in &sequences[next] {
            seen[*number] += 1;
            if seen[*number] == 1 {
                holders[*number]
                    .iter()
                    .for_each(|place| common[*place] += 1);
            }
        }
        while window_bytes > WINDOW_BYTES
            && let Some(first) = window.pop_front()
        {
            window_bytes -= bodies[first].len();
            for number in &sequences[first] {
                seen[*number] -= 1;
                if seen[*number] == 0 {
                    holders[*number]
                        .iter()
                        .for_each(|place| common[*place] -= 1);
                }
            }
        }
    }
    order
}

/// Writes a module with its functions in `order`.
struct Reordered {
    /// The places that the functions had.
    order: Vec<usize>,
    /// The new index of each function, those that are imported included.
    indices: Vec<usize>,
    /// By the new index.
    names: BTreeMap<u32, String>,
}

impl Reordered {
    fn name_section(&self) -> Vec<u8> {
        let mut functions = NameMap::new();
        for (index, name) in &self.names {
            functions.append(*index, name);
        }
        let mut names = NameSection::new();
        names.functions(&functions);
        let mut section = Vec::new();
        names.append_to(&mut section);
        section
    }
}

impl Reencode for Reordered {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<Infallible>> {
        let index = self.indices.get(function as usize);
        Ok(index
            .and_then(|index| u32::try_from(*index).ok())
            .unwrap_or(function))
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error<Infallible>> {
        let types = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for function in self.order.iter().filter_map(|place| types.get(*place)) {
            functions.function(*function);
        }
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        module: &mut Module,
        section: CustomSectionReader<'_>,
    ) -> Result<(), Error<Infallible>> {
        let KnownCustom::Name(parts) = section.as_known() else {
            return reencode::utils::parse_custom_section(self, module, section);
        };
        for part in parts {
            let Name::Function(names) = part? else {
                continue;
            };
            for name in names {
                let Naming { index, name } = name?;
                let index = self.function_index(index)?;
                self.names.insert(index, without_hash(name).to_owned());
            }
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<Infallible>> {
        let bodies = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for place in self.order.clone() {
            if let Some(body) = bodies.get(place) {
                self.parse_function_body(code, body.clone())?;
            }
        }
        Ok(())
    }
}

/// A name without the hash by which the compiler keeps functions of one name apart: it does not compress, and nobody reads it.
fn without_hash(name: &str) -> &str {
    const HASH_DIGITS: usize = 16;
    match name.rsplit_once("::h") {
        Some((path, hash))
            if hash.len() == HASH_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) =>
        {
            path
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_loses_its_hash_and_nothing_else() {
        assert_eq!(
            without_hash("core::fmt::write::h0123456789abcdef"),
            "core::fmt::write"
        );
        for whole in [
            "core_open",
            "deskfleet::hash",
            "a::h0123456789abcdeg",
            "a::h0123",
        ] {
            assert_eq!(without_hash(whole), whole);
        }
    }

    #[test]
    fn similar_functions_stand_together() {
        let bodies: [&[u8]; 4] = [
            b"the first of two",
            b"0123456789",
            b"the first of all",
            b"012345",
        ];
        assert_eq!(similar_together(&bodies), [0, 2, 1, 3]);
    }
}
