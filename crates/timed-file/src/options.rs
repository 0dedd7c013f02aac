//! What is asked for on the command line.

use std::path::PathBuf;

use crate::store::{Keeping, Lie};
use crate::timetable::Service;

/// Requests of more bytes are split by the kernel; a size of whole blocks keeps the last one whole.
const BLOCK_BYTES: u64 = 4096;

/// Everything that the program is told.
pub(crate) struct Options {
    pub(crate) folder: PathBuf,
    pub(crate) log: PathBuf,
    pub(crate) size_bytes: u64,
    pub(crate) service: Service,
    pub(crate) keeping: Keeping,
}

impl Options {
    /// Read `FOLDER --name value ...`, in any order.
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut folder = None;
        let mut log = None;
        let mut size_bytes = 0;
        let mut service = Service::default();
        let mut keeping = Keeping::default();
        let mut arguments = arguments;
        while let Some(name) = arguments.next() {
            let Some(option) = name.strip_prefix("--") else {
                folder = Some(PathBuf::from(name));
                continue;
            };
            let value = arguments.next().ok_or_else(|| format!("{name}: needs a value"))?;
            match option {
                "log" => log = Some(PathBuf::from(value)),
                "size-bytes" => size_bytes = number(&name, &value)?,
                "keep" | "lie" | "lie-share" | "wrap-bytes" => keeping_option(&mut keeping, option, &name, &value)?,
                _ => service_option(&mut service, option, &name, &value)?,
            }
        }
        let folder = folder.ok_or("FOLDER: is missing; name an empty folder to mount over")?;
        let log = log.ok_or("--log: is missing; name a new file")?;
        check(size_bytes, &service)?;
        keeping.seed = service.seed;
        check_keeping(size_bytes, &keeping)?;
        Ok(Self { folder, log, size_bytes, service, keeping })
    }
}

fn service_option(service: &mut Service, option: &str, name: &str, value: &str) -> Result<(), String> {
    match option {
        "service-ns" => service.usual_ns = number(name, value)?,
        "servers" => service.server_count = number(name, value)?,
        "slow-ns" => service.slow_ns = number(name, value)?,
        "slow-share" => service.slow_share = number(name, value)?,
        "seed" => service.seed = number(name, value)?,
        "stall-every-ns" => service.stall_every_ns = number(name, value)?,
        "stall-ns" => service.stall_ns = number(name, value)?,
        _ => return Err(format!("{name}: is no option; the first lines of main.rs list them")),
    }
    Ok(())
}

fn keeping_option(keeping: &mut Keeping, option: &str, name: &str, value: &str) -> Result<(), String> {
    match option {
        "keep" => keeping.keep = number(name, value)?,
        "lie-share" => keeping.lie_share = number(name, value)?,
        "wrap-bytes" => keeping.wrap_bytes = number(name, value)?,
        _ => keeping.lie = Lie::named(value).ok_or_else(|| format!("{name} {value}: is no lie; see store.rs"))?,
    }
    Ok(())
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, String> {
    value.parse().map_err(|_| format!("{name} {value}: is not a number of its kind"))
}

fn check_keeping(size_bytes: u64, keeping: &Keeping) -> Result<(), String> {
    let Keeping { keep, lie, lie_share, wrap_bytes, .. } = *keeping;
    let wraps = wrap_bytes.is_multiple_of(BLOCK_BYTES) && (BLOCK_BYTES..=size_bytes).contains(&wrap_bytes);
    let faults = [
        (keep > 1, "--keep: give 0 or 1"),
        (lie != Lie::None && keep == 0, "--lie: give --keep 1 as well"),
        (!(0.0..=1.0).contains(&lie_share), "--lie-share: give a fraction from 0 to 1"),
        (lie == Lie::Wrap && !wraps, "--wrap-bytes: give a multiple of 4096, at most the size"),
    ];
    faults.iter().find(|(wrong, _)| *wrong).map_or(Ok(()), |(_, fault)| Err((*fault).to_owned()))
}

fn check(size_bytes: u64, service: &Service) -> Result<(), String> {
    let faults = [
        (size_bytes == 0 || !size_bytes.is_multiple_of(BLOCK_BYTES), "--size-bytes: give a multiple of 4096"),
        (service.usual_ns == 0, "--service-ns: give at least 1"),
        (service.server_count == 0, "--servers: give at least 1"),
        (!(0.0..=1.0).contains(&service.slow_share), "--slow-share: give a fraction from 0 to 1"),
        (service.slow_share > 0.0 && service.slow_ns == 0, "--slow-ns: give at least 1"),
        (
            service.stall_ns > 0 && service.stall_ns >= service.stall_every_ns,
            "--stall-ns: give less than --stall-every-ns",
        ),
    ];
    faults.iter().find(|(wrong, _)| *wrong).map_or(Ok(()), |(_, fault)| Err((*fault).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, String> {
        Options::parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_come_in_any_order_and_faults_name_the_option() {
        let options = parse("--size-bytes 8192 /mnt --service-ns 500 --log l --servers 3").expect("complete");
        assert_eq!((options.size_bytes, options.folder), (8192, PathBuf::from("/mnt")));
        assert_eq!((options.service.usual_ns, options.service.server_count), (500, 3));
        for (text, part) in [
            ("--size-bytes 8192 --service-ns 500 --log l", "FOLDER"),
            ("/mnt --size-bytes 8192 --service-ns 500", "--log"),
            ("/mnt --size-bytes 100 --service-ns 500 --log l", "--size-bytes"),
            ("/mnt --size-bytes 8192 --log l", "--service-ns"),
            ("/mnt --size-bytes 8192 --service-ns x --log l", "--service-ns x"),
            ("/mnt --size-bytes 8192 --service-ns 5 --log l --slow-share 2", "--slow-share"),
            ("/mnt --size-bytes 8192 --service-ns 5 --log l --stall-ns 5", "--stall-ns"),
            ("/mnt --size-bytes 8192 --service-ns 5 --log l --lie drop", "--lie"),
            ("/mnt --size-bytes 8192 --service-ns 5 --log l --keep 1 --lie fib", "--lie fib"),
            ("/mnt --size-bytes 8192 --service-ns 5 --log l --keep 1 --lie drop --lie-share 2", "--lie-share"),
            ("/mnt --size-bytes 8192 --service-ns 5 --log l --keep 1 --lie wrap", "--wrap-bytes"),
            ("/mnt --speed 5", "--speed"),
            ("/mnt --log", "--log"),
        ] {
            let fault = parse(text).err().expect("refused");
            assert!(fault.starts_with(part), "{text}: {fault}");
        }
    }
}
