use std::collections::HashSet;

use super::*;

const RUN: u64 = 0x0123_4567_89ab_cdef;

fn written(origin: u64, number: u64, place: u64, length: usize) -> Vec<u8> {
    let mut content = vec![0; length];
    Sectors::default().fill(Origin::new(origin), number, place, &mut content);
    content
}

#[test]
fn a_sector_says_where_it_belongs_and_which_write_of_which_worker_it_is() {
    let (own, worker) = (Origin::new(RUN), 3);
    let content = written(RUN ^ (worker << 48), 70_000, 1 << 41, 4096);
    for (nth, sector) in (0..).zip(content.chunks(SECTOR_BYTES)) {
        let tag = Sectors::default().read(sector).expect("ours");
        assert_eq!((tag.sector, tag.number), ((1 << 32) + nth, 70_000));
        assert_eq!(own.worker(&tag), Some(3));
        assert_eq!(Origin::new(RUN + 1).worker(&tag), None);
    }
}

#[test]
fn a_tag_is_read_as_it_was_written_up_to_the_largest_of_every_field() {
    for tag in [
        Tag { sector: 0, number: 0, worker: 0, run: 0 },
        Tag { sector: (1 << 40) - 1, number: (1 << 36) - 1, worker: (1 << 12) - 1, run: (1 << 20) - 1 },
        Tag { sector: 5, number: 1 << 35, worker: 9, run: 77 },
    ] {
        assert_eq!(Tag::read(tag.bytes()), Some(tag));
    }
}

#[test]
fn any_flipped_bit_of_a_sector_is_seen() {
    let content = written(RUN, 1, 512, SECTOR_BYTES);
    for bit in 0..SECTOR_BYTES * 8 {
        let mut damaged = content.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(Sectors::default().read(&damaged), None, "{bit}");
    }
    assert!(Sectors::default().read(&[0; SECTOR_BYTES]).is_none());
    assert!(Sectors::default().read(&content[..8]).is_none());
}

#[test]
fn random_bytes_pass_as_a_tag_as_often_as_20_bits_of_zeros_come_by_chance() {
    let (stream, mut content) = (Generator::new(9), vec![0; 1 << 20]);
    let mut passed = 0;
    for number in 0..160 {
        stream.fill(number, &mut content);
        passed += content.as_chunks().0.iter().filter(|bytes| Tag::read(**bytes).is_some()).count();
    }
    // 10 of 10,485,760 expected; more than 30 or none come with a chance below 1e-4.
    assert!((1..30).contains(&passed), "{passed}");
}

#[test]
fn neighbours_have_nothing_in_common() {
    let all: Vec<Vec<u8>> =
        (0..64).flat_map(|number| (0..64).map(move |place| written(RUN, number, place * 512, SECTOR_BYTES))).collect();
    let words = |content: &[u8]| -> Vec<[u8; 8]> { content.as_chunks().0.to_vec() };
    let seen: HashSet<[u8; 8]> = all.iter().flat_map(|content| words(content)).collect();
    assert_eq!(seen.len(), all.len() * 64);
    for place in 0..SECTOR_BYTES {
        let alike = all.windows(2).filter(|pair| pair[0][place] == pair[1][place]).count();
        // 16 of 4,095 expected.
        assert!(alike < 50, "{place}: {alike}");
    }
}
