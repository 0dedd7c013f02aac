//! The case that the command line asks for.

use std::str::FromStr;

use assay_core::contract::DataPattern;
use assay_uring::generator::Width;
use assay_uring::path::Path;

/// Which loop runs; see the top of `main.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loop {
    Engine,
    Bare,
    BareNop,
    Nop,
    NopUntimed,
    Data,
}

/// What writes hold.
#[derive(Clone, Debug)]
pub(crate) enum Made {
    /// Random data by one code.
    Fresh(Width),
    /// Another kind of data, as a worker makes it.
    Kind(DataPattern),
}

/// One case.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) device: String,
    pub(crate) kind: Loop,
    pub(crate) path: Path,
    pub(crate) depth: u32,
    pub(crate) write: bool,
    pub(crate) capture: bool,
    pub(crate) data: Made,
    pub(crate) bytes: u64,
    pub(crate) count: u64,
}

impl Request {
    /// Queue depth 32, reads of 4 KiB and 100,000 of them unless the arguments say else.
    pub(crate) fn from_arguments() -> Result<Self, String> {
        let mut arguments = std::env::args().skip(1);
        let device = arguments.next().ok_or("name a device, or none for the loops without one")?;
        let (kind, path, write, capture) = (Loop::Engine, Path::Interrupt, false, false);
        let data = Made::Fresh(Width::widest());
        let mut request = Self { device, kind, path, depth: 32, write, capture, data, bytes: 4096, count: 100_000 };
        while let Some(name) = arguments.next() {
            match name.as_str() {
                "--write" => request.write = true,
                "--capture" => request.capture = true,
                "--loop" => request.kind = parse_loop(arguments.next().as_deref())?,
                "--path" => request.path = parse_path(arguments.next().as_deref())?,
                "--data" => request.data = parse_data(arguments.next().as_deref())?,
                "--depth" => request.depth = number(&name, arguments.next())?,
                "--bytes" => request.bytes = number(&name, arguments.next())?,
                "--count" => request.count = number(&name, arguments.next())?,
                _ => return Err(format!("{name}: no such option")),
            }
        }
        Ok(request)
    }
}

fn parse_loop(value: Option<&str>) -> Result<Loop, String> {
    match value {
        Some("engine") => Ok(Loop::Engine),
        Some("bare") => Ok(Loop::Bare),
        Some("bare-nop") => Ok(Loop::BareNop),
        Some("nop") => Ok(Loop::Nop),
        Some("nop-untimed") => Ok(Loop::NopUntimed),
        Some("data") => Ok(Loop::Data),
        _ => Err("--loop: engine, bare, bare-nop, nop, nop-untimed or data".to_owned()),
    }
}

fn parse_data(value: Option<&str>) -> Result<Made, String> {
    match value {
        Some("stamped") => return Ok(Made::Kind(DataPattern::Stamped)),
        Some("addressed") => return Ok(Made::Kind(DataPattern::Addressed)),
        _ => {}
    }
    let known = Width::NAMES.into_iter().find(|(name, _)| value == Some(name));
    known.map(|(_, width)| Made::Fresh(width)).ok_or_else(|| "--data: avx2, baseline, stamped or addressed".to_owned())
}

fn parse_path(value: Option<&str>) -> Result<Path, String> {
    value.and_then(Path::from_name).ok_or_else(|| format!("--path: one of {:?}", Path::NAMES.map(|(name, _)| name)))
}

fn number<N: FromStr>(name: &str, value: Option<String>) -> Result<N, String> {
    value.and_then(|value| value.parse().ok()).ok_or_else(|| format!("{name}: give a whole number"))
}
