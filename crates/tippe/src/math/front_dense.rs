//! Dense work on the fronts of a sparse Cholesky factorisation: elimination of the pivots, what they leave, adding rows of one front to another.
//!
//! Reads: fronts, as `front_cholesky` lays them out: panels of eight rows, eight numbers for each column.  Writes: the same.
//! Called by: `math::front_cholesky`.
//! Source: [Golub13] §4.2 (Cholesky by blocks); [Duff83] for the fronts. Only tiles up to the diagonal are used. Fixed order of all sums.

use super::lanes::{Eight, F8, LANES, Lanes};

/// Zeros in the tiles of a front that are used: those up to the diagonal. `p` columns lie in each panel.
pub(super) fn clear_lower(front: &mut [F8], p: usize) {
    for (i, panel) in front.chunks_exact_mut(p.max(1)).enumerate() {
        panel[..p.min(LANES * (i + 1))].fill(F8::ZERO);
    }
}

/// Adds rows side by side of some columns to another front: `lanes` are the first lane here and there, and how many; `columns` the places
/// of the columns there, counted from `base`.
pub(super) fn add_run(
    from: &[F8],
    lanes: (usize, usize, usize),
    to: &mut [F8],
    columns: &[u32],
    base: usize,
) {
    let (l, m, count) = lanes;
    match count {
        1 => add_some::<1>(from, l, to, m, columns, base),
        2 => add_some::<2>(from, l, to, m, columns, base),
        3 => add_some::<3>(from, l, to, m, columns, base),
        4 => add_some::<4>(from, l, to, m, columns, base),
        5 => add_some::<5>(from, l, to, m, columns, base),
        6 => add_some::<6>(from, l, to, m, columns, base),
        7 => add_some::<7>(from, l, to, m, columns, base),
        _ => add_some::<LANES>(from, l, to, m, columns, base),
    }
}

fn add_some<const N: usize>(
    from: &[F8],
    l: usize,
    to: &mut [F8],
    m: usize,
    columns: &[u32],
    base: usize,
) {
    for (x, &c) in from.iter().zip(columns) {
        let to = &mut to[c as usize - base].0[m..m + N];
        for (to, x) in to.iter_mut().zip(&x.0[l..l + N]) {
            *to += x;
        }
    }
}

/// `C ← C − A Bᵀ` for one or two panels A of eight rows and one panel B: C is eight columns of each panel of A.
#[inline(always)]
fn subtract<S: Lanes, const N: usize>(s: S, a: [&[F8]; N], b: &[F8], c: [&mut [F8]; N]) {
    let count = b.len();
    let a = a.map(|a| &a[..count]);
    let mut sums = [[Eight::splat(s, 0.0); LANES]; N];
    for k in 0..count {
        let b = b[k].0;
        for n in 0..N {
            let x = Eight::new(s, a[n][k]);
            for j in 0..LANES {
                sums[n][j] = sums[n][j] + x * Eight::splat(s, b[j]);
            }
        }
    }
    for (c, sums) in c.into_iter().zip(sums) {
        for (c, sum) in c.iter_mut().zip(sums) {
            *c = (Eight::new(s, *c) - sum).get();
        }
    }
}

/// Eliminates the pivots of a front, eight at a time: `L Lᵀ = A`, and the rows below.
#[inline(always)]
pub(super) fn eliminate<S: Lanes>(s: S, factor: &mut [F8], p: usize, u: usize) -> bool {
    let panels = (p + u) / LANES;
    for j in 0..p / LANES {
        let at = LANES * j;
        let (above, below) = factor.split_at_mut((j + 1) * p);
        let own = &mut above[j * p..];
        let (done, tile) = own.split_at_mut(at);
        subtract(s, [&*done], done, [&mut tile[..LANES]]);
        let Some(l) = cholesky(&mut tile[..LANES]) else {
            return false;
        };
        let mut rest = below.chunks_exact_mut(p);
        let mut left = panels - j - 1;
        while left > 0 {
            let first = rest.next();
            let second = if left > 1 { rest.next() } else { None };
            match (first, second) {
                (Some(x), Some(y)) => {
                    let (xa, xt) = x.split_at_mut(at);
                    let (ya, yt) = y.split_at_mut(at);
                    subtract(s, [&*xa, &*ya], done, [&mut xt[..LANES], &mut yt[..LANES]]);
                    divide(s, &mut xt[..LANES], &l);
                    divide(s, &mut yt[..LANES], &l);
                    left -= 2;
                }
                (Some(x), None) => {
                    let (xa, xt) = x.split_at_mut(at);
                    subtract(s, [&*xa], done, [&mut xt[..LANES]]);
                    divide(s, &mut xt[..LANES], &l);
                    left -= 1;
                }
                _ => break,
            }
        }
    }
    true
}

/// What the pivots leave of the later rows.
#[inline(always)]
pub(super) fn reduce<S: Lanes>(s: S, factor: &[F8], remainder: &mut [F8], p: usize, u: usize) {
    let rows = &factor[p / LANES * p..];
    let panels = u / LANES;
    let panel = |i: usize| &rows[i * p..(i + 1) * p];
    let mut i = 0;
    while i + 1 < panels {
        let (x, y) = remainder[i * u..(i + 2) * u].split_at_mut(u);
        for j in 0..=i {
            let (c, d) = (&mut x[LANES * j..][..LANES], &mut y[LANES * j..][..LANES]);
            subtract(s, [panel(i), panel(i + 1)], panel(j), [c, d]);
        }
        let last = &mut y[LANES * (i + 1)..][..LANES];
        subtract(s, [panel(i + 1)], panel(i + 1), [last]);
        i += 2;
    }
    if i < panels {
        for j in 0..=i {
            let c = &mut remainder[i * u + LANES * j..][..LANES];
            subtract(s, [panel(i)], panel(j), [c]);
        }
    }
}

/// Lower factor of a tile of eight columns, in place, its diagonal as reciprocals; returned too. None if it is not positive.
fn cholesky(tile: &mut [F8]) -> Option<[[f64; LANES]; LANES]> {
    let mut l = [[0.0; LANES]; LANES];
    for j in 0..LANES {
        for i in j..LANES {
            let mut x = tile[j].0[i];
            for k in 0..j {
                x -= l[i][k] * l[j][k];
            }
            if i == j {
                if x.is_nan() || x <= 0.0 {
                    return None;
                }
                l[j][j] = 1.0 / x.sqrt();
            } else {
                l[i][j] = x * l[j][j];
            }
            tile[j].0[i] = l[i][j];
        }
    }
    Some(l)
}

/// `X ← X L⁻ᵀ` for eight rows.
#[inline(always)]
fn divide<S: Lanes>(s: S, tile: &mut [F8], l: &[[f64; LANES]; LANES]) {
    let mut x = [Eight::splat(s, 0.0); LANES];
    for j in 0..LANES {
        let mut sum = Eight::new(s, tile[j]);
        for k in 0..j {
            sum = sum - x[k] * Eight::splat(s, l[j][k]);
        }
        x[j] = sum * Eight::splat(s, l[j][j]);
        tile[j] = x[j].get();
    }
}
