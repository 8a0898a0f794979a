//! How does a made-up town get its chance, the same on every machine for ever? Whole-number arithmetic only (SplitMix64).

/// A stream of numbers that depends on its seed and on nothing else.
#[derive(Clone, Debug)]
pub(super) struct Chance {
    state: u64,
}

impl Chance {
    /// A stream for a purpose; streams of one seed and different purposes have nothing in common, so that a change in one
    /// part of a town leaves the others as they were.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        let mut chance = Chance { state: seed ^ purpose.wrapping_mul(0xA24B_AED4_963E_E407) };
        chance.next();
        chance
    }

    /// The next 64 bits.
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A whole number from 0 to below `end`; 0 where `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// A number from 0 to below 1, with 53 bits.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from `low` to below `high`.
    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// True so many times in a thousand.
    pub(super) fn per_mille(&mut self, times: usize) -> bool {
        self.below(1000) < times
    }

    /// One of several.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T], otherwise: T) -> T {
        of.get(self.below(of.len())).copied().unwrap_or(otherwise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_never_changes() {
        let mut chance = Chance::new(1, 2);
        let first: Vec<usize> = (0..6).map(|_| chance.below(1000)).collect();
        let mut again = Chance::new(1, 2);
        assert_eq!(first, (0..6).map(|_| again.below(1000)).collect::<Vec<_>>());
        let mut other = Chance::new(2, 2);
        assert_ne!(first, (0..6).map(|_| other.below(1000)).collect::<Vec<_>>());
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let mut chance = Chance::new(7, 0);
        for _ in 0..10_000 {
            assert!(chance.below(3) < 3);
            assert!((2.0..5.0).contains(&chance.between(2.0, 5.0)));
        }
        assert_eq!(chance.below(0), 0);
    }
}
