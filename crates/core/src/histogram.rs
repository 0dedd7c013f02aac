//! Exact counts of response times in log-linear buckets.

/// Buckets per octave: a bucket's width is at most 1/512 of the values in it.
const SUB_BUCKET_COUNT: u64 = 512;
const SUB_BUCKET_BITS: u32 = 9;
/// Values from 2^40 ns (18 minutes) on share the last bucket.
const SATURATION: u64 = 1 << 40;
/// 31 octaves above the linear part, and the saturation bucket.
const BUCKET_COUNT: usize = 32 * SUB_BUCKET_COUNT as usize + 1;

/// Counts of latencies, 512 buckets per octave, exact below 1,024 ns, saturating at 2^40 ns.
///
/// The middle of a bucket differs from every value in it by at most 0.1 % of the value. Histograms merge
/// without loss.
///
/// ```
/// use assay_core::histogram::Histogram;
/// let mut histogram = Histogram::new();
/// histogram.record(1_500_000);
/// assert_eq!(histogram.sparse(), vec![(6364, 1)]);
/// assert_eq!(Histogram::bucket_lower(6364), 1_499_136);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// An empty histogram (128 KiB).
    #[must_use]
    pub fn new() -> Self {
        Self { counts: vec![0; BUCKET_COUNT] }
    }

    /// Count one latency in nanoseconds.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.counts[Self::bucket(latency_ns)] += 1;
    }

    /// Add the counts of another.
    pub fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    /// The bucket of a latency in nanoseconds.
    #[inline]
    #[must_use]
    pub fn bucket(latency_ns: u64) -> usize {
        let value = latency_ns.min(SATURATION);
        let octave = (value | 1).ilog2().max(SUB_BUCKET_BITS) - SUB_BUCKET_BITS;
        (u64::from(octave) * SUB_BUCKET_COUNT + (value >> octave)) as usize
    }

    /// The lowest latency in nanoseconds that falls into a bucket.
    #[must_use]
    pub fn bucket_lower(bucket: usize) -> u64 {
        let octave = (bucket as u64 / SUB_BUCKET_COUNT).saturating_sub(1);
        (bucket as u64 - octave * SUB_BUCKET_COUNT) << octave
    }

    /// The non-empty buckets as (bucket, count), ascending.
    #[must_use]
    pub fn sparse(&self) -> Vec<(u32, u64)> {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(bucket, count)| (bucket as u32, *count)).collect()
    }

    /// Forget all counts, keep the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }
}

/// Add sparse histogram `from` to `into`, both ascending, without loss.
pub fn merge_sparse(into: &mut Vec<(u32, u64)>, from: &[(u32, u64)]) {
    for &(bucket, count) in from {
        match into.binary_search_by_key(&bucket, |entry| entry.0) {
            Ok(place) => into[place].1 += count,
            Err(place) => into.insert(place, (bucket, count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_values_are_exact_and_large_ones_saturate() {
        assert_eq!(Histogram::bucket(0), 0);
        assert_eq!(Histogram::bucket_lower(Histogram::bucket(1023)), 1023);
        assert_eq!(Histogram::bucket(u64::MAX), BUCKET_COUNT - 1);
        assert_eq!(Histogram::bucket(SATURATION), BUCKET_COUNT - 1);
        assert_eq!(Histogram::bucket(SATURATION - 1), BUCKET_COUNT - 2);
    }

    proptest! {
        #[test]
        fn a_bucket_holds_its_value_within_a_thousandth(value in 0..SATURATION) {
            let bucket = Histogram::bucket(value);
            let (lower, upper) = (Histogram::bucket_lower(bucket), Histogram::bucket_lower(bucket + 1));
            prop_assert!(lower <= value && value < upper);
            let middle = (lower + upper - 1) as f64 / 2.0;
            prop_assert!((middle - value as f64).abs() <= 0.001 * value as f64);
        }

        #[test]
        fn merging_equals_recording_together(left in prop::collection::vec(0..SATURATION, 0..200),
                                             right in prop::collection::vec(0..SATURATION, 0..200)) {
            let count = |values: &[u64]| {
                let mut histogram = Histogram::new();
                for value in values {
                    histogram.record(*value);
                }
                histogram.sparse()
            };
            let mut merged = count(&left);
            merge_sparse(&mut merged, &count(&right));
            prop_assert_eq!(merged, count(&[left, right].concat()));
        }
    }
}
