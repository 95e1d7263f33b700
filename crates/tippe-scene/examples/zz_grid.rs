fn main() {
    let n = 40u32;
    let mut e = Vec::new();
    for i in 0..n * n {
        if i % n + 1 < n {
            e.push((i, i + 1));
        }
        if i + n < n * n {
            e.push((i, i + n));
        }
    }
    let mut p = tippe::math::block_pattern::Pattern::default();
    let t = std::time::Instant::now();
    for c in [
        100_000u64, 150_000, 200_000, 300_000, 500_000, 1_000_000, 4_000_000,
    ] {
        println!(
            "{c} {} rows {} {:?}",
            p.analyse((n * n) as usize, e.iter().copied(), c),
            p.rows.len(),
            t.elapsed()
        );
    }
}
