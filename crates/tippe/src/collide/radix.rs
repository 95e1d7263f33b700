//! Sorting of integer keys: deterministic, stable, linear.
//!
//! Reads: nothing.  Writes: the arrays it is given.
//! Called by: `collide::grid`, `collide::tree`, `collide::broad`.
//! Source: standard (least significant digit first).

/// Sorts by key, stable; `other` is scratch.
pub(super) fn sort_by_key(keys: &mut Vec<(u64, u32)>, other: &mut Vec<(u64, u32)>) {
    other.clear();
    other.resize(keys.len(), (0, 0));
    // Digits in which all keys agree need no pass.
    let (all, any) = keys
        .iter()
        .fold((u64::MAX, 0), |(all, any), k| (all & k.0, any | k.0));
    let differing = all ^ any;
    for pass in 0..8 {
        if (differing >> (8 * pass)) & 0xff == 0 {
            continue;
        }
        let digit = |key: &(u64, u32)| ((key.0 >> (8 * pass)) & 0xff) as usize;
        let mut starts = [0_u32; 256];
        for key in keys.iter() {
            starts[digit(key)] += 1;
        }
        running_sum(&mut starts);
        for key in keys.iter() {
            let place = &mut starts[digit(key)];
            other[*place as usize] = *key;
            *place += 1;
        }
        std::mem::swap(keys, other);
    }
}

/// Sorts pairs of indices below `count`, by the first and then by the second; `other` and `starts` are scratch.
pub(super) fn sort_pairs(
    pairs: &mut Vec<(u32, u32)>,
    other: &mut Vec<(u32, u32)>,
    starts: &mut Vec<u32>,
    count: usize,
) {
    for by_first in [false, true] {
        let index = |p: &(u32, u32)| if by_first { p.0 } else { p.1 } as usize;
        starts.clear();
        starts.resize(count, 0);
        for p in pairs.iter() {
            starts[index(p)] += 1;
        }
        running_sum(starts);
        other.clear();
        other.resize(pairs.len(), (0, 0));
        for p in pairs.iter() {
            let place = &mut starts[index(p)];
            other[*place as usize] = *p;
            *place += 1;
        }
        std::mem::swap(pairs, other);
    }
}

/// Replaces counts by the sum of those before.
fn running_sum(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        let own = *count;
        *count = sum;
        sum += own;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_like_the_standard_library() {
        let random = |i: u32| u64::from(i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut keys: Vec<(u64, u32)> = (0..1000).map(|i| (random(i), i)).collect();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        sort_by_key(&mut keys, &mut Vec::new());
        assert_eq!(keys, sorted);
        let mut pairs: Vec<(u32, u32)> = (0..1000)
            .map(|i| ((random(i) % 97) as u32, (random(i) >> 50) as u32 % 100))
            .collect();
        let mut sorted = pairs.clone();
        sorted.sort_unstable();
        sort_pairs(&mut pairs, &mut Vec::new(), &mut Vec::new(), 100);
        assert_eq!(pairs, sorted);
    }
}
