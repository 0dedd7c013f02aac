//! Which known word an unknown one was meant to be.

/// The known word that the fewest changes of a letter lead to, where half of its letters at most change.
pub(crate) fn nearest<'n>(word: &str, known: &[&'n str]) -> Option<&'n str> {
    let changes = known.iter().map(|name| (distance(word, name), *name));
    let (count, name) = changes.min_by_key(|(count, _)| *count)?;
    (count * 2 <= name.chars().count()).then_some(name)
}

/// Letters to be added, left out or replaced to come from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    // No word here is long; of one that is, the beginning tells enough.
    for (done, letter) in from.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = done + 1;
        for (place, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[place + 1];
            row[place + 1] = replaced.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn a_distance_counts_added_lost_and_replaced_letters() {
        for (from, to, expected) in
            [("", "", 0), ("fifo", "fifo", 0), ("gredy", "greedy", 1), ("per-thread", "per_thread", 1), ("", "abc", 3)]
        {
            assert_eq!(distance(from, to), expected, "{from} {to}");
            assert_eq!(distance(to, from), expected, "{to} {from}");
        }
    }

    #[test]
    fn the_nearest_word_is_named_unless_none_is_near() {
        let known = ["random", "compressible", "stamped", "repeating", "file"];
        assert_eq!(nearest("compressable", &known), Some("compressible"));
        assert_eq!(nearest("Random", &known), Some("random"));
        assert_eq!(nearest("zzzzzz", &known), None);
        assert_eq!(nearest("", &known), None);
    }
}
