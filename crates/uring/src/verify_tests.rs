use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::time::Duration;

use super::*;

const ORIGIN: u64 = 0x5555_0000_0000_0007;
const LENGTH: u64 = 3 * CHUNK_BYTES + 8192;

struct Trial {
    file: File,
}

impl Trial {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("assay-verify-{}-{name}", std::process::id()));
        let file = OpenOptions::new().create_new(true).read(true).write(true).open(&path).expect("new");
        std::fs::remove_file(&path).expect("ours");
        let trial = Self { file };
        trial.write(0, 0, LENGTH, 10);
        trial
    }

    /// A write of a worker with a number.
    fn write(&self, worker: u64, place: u64, length: u64, number: u64) {
        self.file.write_all_at(&written(ORIGIN ^ (worker << 48), place, length, number), place).expect("room");
    }

    fn checked(&self, parts: &[(u64, u64)]) -> Sums {
        let parts = parts.iter().map(|(from, length)| (Bytes(*from), Bytes(*length))).collect();
        let expected = Expected { data_origin: ORIGIN, since: vec![10, 5], until: vec![20, 6] };
        let descriptor = OwnedFd::from(self.file.try_clone().expect("open"));
        let check = Verification::start(descriptor, Bytes(4096), parts, expected, 3).expect("threads");
        while !check.is_over() {
            thread::sleep(Duration::from_millis(1));
        }
        check.sums()
    }

    fn wrong(&self) -> Vec<(u64, u64, &'static str, i64)> {
        self.checked(&[(0, LENGTH)])
            .ranges()
            .map(|one| (one.sector, one.count, one.kind.name(), one.distance))
            .collect()
    }
}

fn written(origin: u64, place: u64, length: u64, number: u64) -> Vec<u8> {
    let mut content = vec![0; length as usize];
    Sectors::default().fill(Origin::new(origin), number, place, &mut content);
    content
}

#[test]
fn what_was_written_last_by_any_worker_is_right() {
    let trial = Trial::new("right");
    trial.write(1, 4096, 8192, 5);
    let sums = trial.checked(&[(0, LENGTH)]);
    assert_eq!((sums.checked(), sums.counts().count(), sums.unlisted()), (LENGTH / 512, 0, 0));
    assert_eq!(trial.checked(&[(512, 1024), (8192, CHUNK_BYTES + 512)]).checked(), 3 + CHUNK_BYTES / 512);
}

#[test]
fn each_kind_of_wrong_sector_is_named_with_its_place() {
    let trial = Trial::new("kinds");
    let put = |content: &[u8], place: u64| trial.file.write_all_at(content, place).expect("room");
    put(&[0; 4096], 4096);
    trial.write(0, 16_384, 512, 9);
    trial.write(1, 16_896, 512, 4);
    trial.write(1, 20_480, 512, 6);
    put(&written(ORIGIN + 1, 24_576, 1024, 12), 24_576);
    put(&written(ORIGIN, 1 << 20, 2048, 12), 32_768);
    let mut damaged = written(ORIGIN, 65_536, 512, 10);
    damaged[300] ^= 4;
    put(&damaged, 65_536);
    assert_eq!(
        trial.wrong(),
        [
            (8, 8, "zeros", 0),
            (32, 2, "stale", 0),
            (40, 1, "other-run", 0),
            (48, 2, "other-run", 0),
            (64, 4, "misdirected", 2048 - 64),
            (128, 1, "corrupt", 0),
        ]
    );
}

#[test]
fn what_is_wrong_over_several_reads_is_one_range() {
    let trial = Trial::new("merged");
    trial.file.write_all_at(&vec![0; 2 * CHUNK_BYTES as usize], 512 * 1024).expect("room");
    assert_eq!(trial.wrong(), [(1024, 2 * CHUNK_BYTES / 512, "zeros", 0)]);
}

#[test]
fn what_cannot_be_read_is_wrong() {
    let trial = Trial::new("short");
    trial.file.set_len(LENGTH - 8192).expect("room");
    assert_eq!(trial.wrong(), [(LENGTH / 512 - 16, 16, "unread", 0)]);
}

#[test]
fn ranges_beyond_those_kept_are_counted() {
    let mut sums = Sums::default();
    for nth in (0..5000).rev() {
        sums.add(2, &[Found { sector: nth * 2, kind: Kind::Corrupt, distance: 0 }]);
    }
    assert_eq!((sums.ranges().count(), sums.unlisted()), (4096, 904));
    assert_eq!(sums.counts().collect::<Vec<_>>(), [("corrupt", 5000)]);
    assert_eq!(sums.ranges().last().expect("many").sector, 2 * 4095);
}
