//! A file whose service times are known: what tests and benchmarks of the tool hold its figures against.
//!
//! `assay-timed-file FOLDER --size-bytes N --service-ns N --log FILE [--servers N] [--slow-ns N --slow-share F --seed N]
//! [--stall-every-ns N --stall-ns N] [--keep 1 [--lie LIE --lie-share F --wrap-bytes N]]`
//!
//! Mounts over FOLDER a file system (FUSE) of one file, `drive`, and prints `ready` when it can be opened. A read or write
//! is served by the first of `--servers` servers to be free, in order of arrival, and takes `--service-ns` there, or
//! `--slow-ns` with the probability `--slow-share`, drawn from `--seed`. While the monotonic clock modulo
//! `--stall-every-ns` is below `--stall-ns`, nothing is served and nothing is answered. Data is not kept: reads give
//! zeros. With `--keep 1` it is, and takes memory; a share of the writes is then lied about as `--lie` says: `drop`, `wrap`,
//! `misdirect`, `age` or `flip` (see [`store::Lie`]), drawn from `--seed`. Each request is in the log before it is answered (see [`log`]). Ends when it is unmounted, or by SIGTERM or
//! SIGINT. Needs root and /dev/fuse.
//!
//! What a client sees beyond these times is the kernel's transport. Seen on Linux 6.18: direct I/Os over a ring are
//! submitted by the submitting thread itself, no worker of the ring takes part, and 256 of them arrive within 0.3 ms, writes
//! too; where a kernel hands them to workers instead, arrivals are later, which the log shows.

mod answer;
mod clock;
mod log;
mod mount;
mod options;
mod protocol;
mod serve;
mod store;
mod timetable;

use std::io::{self, Write};
use std::process::ExitCode;

use crate::log::Log;
use crate::mount::Mount;
use crate::options::Options;
use crate::serve::Session;
use crate::store::Store;
use crate::timetable::Timetable;

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            let _ = writeln!(io::stderr(), "assay-timed-file: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let log = Log::create(&options.log)
        .map_err(|error| format!("{}: cannot be written: {error}; name a new file", options.log.display()))?;
    clock::be_prompt();
    let mount = Mount::over(&options.folder)
        .map_err(|error| format!("{}: cannot be mounted over: {error}; run as root", options.folder.display()))?;
    let store = Store::new(options.keeping.clone(), options.size_bytes);
    let session = Session::new(&mount, options.size_bytes, Timetable::new(options.service.clone()), store, log);
    announce().and_then(|()| session.run()).map_err(|error| format!("/dev/fuse: {error}; see the kernel log"))
}

fn announce() -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(b"ready\n")?;
    out.flush()
}
