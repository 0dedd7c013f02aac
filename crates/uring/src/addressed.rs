//! Data that say where they belong: every 512 bytes hold a tag and bytes that follow from it.
//!
//! ```text
//! bytes 0..16     tag: address (40 bits), write number (36), worker (12), run (20), zeros (20), mixed
//! bytes 16..512   fresh bytes that the tag alone determines
//! ```
//!
//! - The mix is a permutation of 128 bits (four Feistel rounds), the same in all runs: two tags differ wherever two writes do, look
//!   random, and can be read by any later run.
//! - 16 bytes of any other origin pass as a tag with a chance of 2^-20, the zeros. A sector counts as written by us only where
//!   the other 496 bytes are those of its tag as well: chance 2^-3,988.
//! - No 512 bytes come twice: worker, number and address name each of them. Address and number wrap at 512 TiB and at 6.9e10
//!   writes of a worker (19 hours at a million per second).

use crate::generator::Generator;

/// Bytes that hold a tag of their own.
pub const SECTOR_BYTES: usize = 512;
const TAG_BYTES: usize = 16;
const ADDRESS_BITS: u32 = 40;
const NUMBER_BITS: u32 = 36;
const WORKER_BITS: u32 = 12;
const RUN_BITS: u32 = 20;
/// What is left of 128 bits is zero.
const KNOWN_BITS: u32 = ADDRESS_BITS + NUMBER_BITS + WORKER_BITS + RUN_BITS;
/// Of the worker in the origin of its data.
const WORKER_SHIFT: u32 = 48;
/// Of the fractional part of pi, as others use them: they have no structure.
const ROUND_KEYS: [u64; 4] =
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];
/// Of the bytes behind a tag, in all runs.
const BODY_ORIGIN: u64 = 0xc0ac_29b7_c97c_50dd;

/// What the first 16 bytes of a sector say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Place in units of 512 bytes, below 2^40.
    pub sector: u64,
    /// Write of its worker, from 0, below 2^36.
    pub number: u64,
    /// Worker, mixed with the run: see [`Origin::worker`].
    pub worker: u16,
    /// Of the run, below 2^20.
    pub run: u32,
}

/// Where the data of a worker come from, as its tags say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    worker: u16,
    run: u32,
}

impl Origin {
    /// `origin` : of the data of a worker: the run's with the worker's index in the highest 16 bits.
    #[must_use]
    pub fn new(origin: u64) -> Self {
        let run = origin & ((1 << WORKER_SHIFT) - 1);
        let worker = (origin >> WORKER_SHIFT) as u16 & ((1 << WORKER_BITS) - 1);
        Self { worker, run: mixed(run) as u32 & ((1 << RUN_BITS) - 1) }
    }

    /// The tag of a sector that is written.
    #[inline]
    #[must_use]
    pub fn tag(self, sector: u64, number: u64) -> Tag {
        let (sector, number) = (sector & low_bits(ADDRESS_BITS), number & low_bits(NUMBER_BITS));
        Tag { sector, number, worker: self.worker, run: self.run }
    }

    /// The index of the worker that wrote a tag, counted from this one; `None` for another run's.
    #[must_use]
    pub fn worker(self, tag: &Tag) -> Option<usize> {
        (tag.run == self.run).then(|| usize::from(tag.worker ^ self.worker))
    }
}

impl Tag {
    /// The same as it is written.
    #[inline]
    #[must_use]
    pub fn bytes(self) -> [u8; TAG_BYTES] {
        let all = u128::from(self.sector)
            | u128::from(self.number) << ADDRESS_BITS
            | u128::from(self.worker) << (ADDRESS_BITS + NUMBER_BITS)
            | u128::from(self.run) << (KNOWN_BITS - RUN_BITS);
        let (mut left, mut right) = (all as u64, (all >> 64) as u64);
        for key in ROUND_KEYS {
            (left, right) = (right, left ^ mixed(right ^ key));
        }
        (u128::from(left) | u128::from(right) << 64).to_le_bytes()
    }

    /// What 16 bytes say; `None` where they are no tag.
    #[inline]
    #[must_use]
    pub fn read(bytes: [u8; TAG_BYTES]) -> Option<Self> {
        let all = u128::from_le_bytes(bytes);
        let (mut left, mut right) = (all as u64, (all >> 64) as u64);
        for key in ROUND_KEYS.into_iter().rev() {
            (left, right) = (right ^ mixed(left ^ key), left);
        }
        let all = u128::from(left) | u128::from(right) << 64;
        let field = |shift: u32, bits: u32| (all >> shift) as u64 & low_bits(bits);
        (all >> KNOWN_BITS == 0).then(|| Self {
            sector: field(0, ADDRESS_BITS),
            number: field(ADDRESS_BITS, NUMBER_BITS),
            worker: field(ADDRESS_BITS + NUMBER_BITS, WORKER_BITS) as u16,
            run: field(KNOWN_BITS - RUN_BITS, RUN_BITS) as u32,
        })
    }
}

/// Makes what the writes of one worker hold.
#[derive(Clone)]
pub struct Writes {
    /// Of the worker's data.
    pub origin: Origin,
    /// Makes their sectors.
    pub sectors: Sectors,
}

impl Writes {
    /// Those of a worker, whose data are of `origin`.
    #[must_use]
    pub fn new(origin: u64) -> Self {
        Self { origin: Origin::new(origin), sectors: Sectors::default() }
    }

    /// Make what write number `number` to the byte `place` holds. Kept apart, so that other kinds of data cost nothing more.
    #[inline(never)]
    pub fn fill(&self, number: u64, place: u64, buffer: &mut [u8]) {
        self.sectors.fill(self.origin, number, place, buffer);
    }
}

/// Makes sectors.
#[derive(Clone)]
pub struct Sectors {
    body: Generator,
}

impl Default for Sectors {
    fn default() -> Self {
        Self { body: Generator::new(BODY_ORIGIN) }
    }
}

impl Sectors {
    /// Make what a write holds that begins at a byte of the drive; what is no multiple of 512 ends in part of a sector.
    #[inline]
    pub fn fill(&self, origin: Origin, number: u64, place: u64, buffer: &mut [u8]) {
        for (sector, content) in (place / SECTOR_BYTES as u64..).zip(buffer.chunks_mut(SECTOR_BYTES)) {
            self.make(origin.tag(sector, number).bytes(), content);
        }
    }

    /// What stands in a sector; `None` unless all of it is as a tag says.
    #[must_use]
    pub fn read(&self, content: &[u8]) -> Option<Tag> {
        let (tag, _) = content.split_first_chunk()?;
        let known = Tag::read(*tag)?;
        let mut expected = [0; SECTOR_BYTES];
        self.make(*tag, &mut expected);
        (content == expected).then_some(known)
    }

    #[inline]
    fn make(&self, tag: [u8; TAG_BYTES], content: &mut [u8]) {
        let word = |half: usize| u64::from_le_bytes(std::array::from_fn(|place| tag[half * 8 + place]));
        self.body.fill_keyed(word(0) ^ word(1).rotate_left(32), content);
        let length = content.len().min(TAG_BYTES);
        content[..length].copy_from_slice(&tag[..length]);
    }
}

/// One to one, and every bit of the result depends on every bit.
#[inline]
fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let word = (word ^ (word >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    word ^ (word >> 32)
}

const fn low_bits(bits: u32) -> u64 {
    (1 << bits) - 1
}

#[cfg(test)]
#[path = "addressed_tests.rs"]
mod tests;
