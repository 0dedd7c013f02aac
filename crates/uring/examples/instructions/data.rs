//! What writes hold, made and written nowhere.

use std::hint::black_box;
use std::io;
use std::time::Instant;

use assay_core::contract::{Bytes, Nanos};
use assay_uring::generator::Generator;
use assay_uring::written::time_to_fill;

use crate::Outcome;
use crate::request::{Made, Request};

/// As many buffers as a worker at queue depth 32 has, one after the other.
const SLOTS: usize = 32;

pub(crate) fn run(request: &Request) -> io::Result<Outcome> {
    let elapsed = match &request.data {
        Made::Kind(kind) => time_to_fill(kind, Bytes(request.bytes), request.count)?,
        Made::Fresh(width) => {
            let generator =
                Generator::with_width(1, *width).ok_or_else(|| io::Error::other("this CPU has not got it"))?;
            generate(&generator, request)
        }
    };
    Ok(Outcome { io_count: request.count, elapsed, latency_ns_mean: 0.0, effective_depth: 0.0 })
}

fn generate(generator: &Generator, request: &Request) -> Nanos {
    let mut memory = vec![0; SLOTS * request.bytes as usize];
    let mut turn = |from: u64| {
        for (number, buffer) in (from..request.count).zip(memory.chunks_mut(request.bytes as usize)) {
            generator.fill(number, black_box(buffer));
        }
    };
    turn(0);
    let begun = Instant::now();
    (0..request.count).step_by(SLOTS).for_each(&mut turn);
    Nanos(begun.elapsed().as_nanos() as u64)
}
