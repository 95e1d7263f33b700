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

/// Adds rows side by side of some columns to as many columns of another front: `lanes` are the first lane here and there, and how many.
#[inline(always)]
pub(super) fn add_run(from: &[F8], lanes: (usize, usize, usize), to: &mut [F8]) {
    let (l, m, count) = lanes;
    match count {
        1 => add_some::<1>(from, l, to, m),
        2 => add_some::<2>(from, l, to, m),
        3 => add_some::<3>(from, l, to, m),
        4 => add_some::<4>(from, l, to, m),
        5 => add_some::<5>(from, l, to, m),
        6 => add_some::<6>(from, l, to, m),
        7 => add_some::<7>(from, l, to, m),
        _ => add_some::<LANES>(from, 0, to, 0),
    }
}

#[inline(always)]
fn add_some<const N: usize>(from: &[F8], l: usize, to: &mut [F8], m: usize) {
    for (to, x) in to.iter_mut().zip(from) {
        for (to, x) in to.0[m..m + N].iter_mut().zip(&x.0[l..l + N]) {
            *to += x;
        }
    }
}

/// `C ← C − A Bᵀ` for one or two panels A of eight rows and one panel B: C is eight columns of each panel of A; zero before if it is `fresh`.
#[inline(always)]
fn subtract<S: Lanes, const N: usize>(
    s: S,
    a: [&[F8]; N],
    b: &[F8],
    c: [&mut [F8]; N],
    fresh: bool,
) {
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
            let before = if fresh { F8::ZERO } else { *c };
            *c = (Eight::new(s, before) - sum).get();
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
        subtract(s, [&*done], done, [&mut tile[..LANES]], false);
        if !invert(s, &mut tile[..LANES]) {
            return false;
        }
        let inverse = &tile[..LANES];
        let mut rest = below.chunks_exact_mut(p);
        let mut left = panels - j - 1;
        while left > 0 {
            let first = rest.next();
            let second = if left > 1 { rest.next() } else { None };
            match (first, second) {
                (Some(x), Some(y)) => {
                    let (xa, xt) = x.split_at_mut(at);
                    let (ya, yt) = y.split_at_mut(at);
                    let to = [&mut xt[..LANES], &mut yt[..LANES]];
                    subtract(s, [&*xa, &*ya], done, to, false);
                    divide(s, &mut xt[..LANES], inverse);
                    divide(s, &mut yt[..LANES], inverse);
                    left -= 2;
                }
                (Some(x), None) => {
                    let (xa, xt) = x.split_at_mut(at);
                    subtract(s, [&*xa], done, [&mut xt[..LANES]], false);
                    divide(s, &mut xt[..LANES], inverse);
                    left -= 1;
                }
                _ => break,
            }
        }
    }
    true
}

/// What the pivots leave of the later rows; if they are `fresh`, nothing was there before, whatever the remainder holds. `pivots` of the `p` columns are
/// no padding.
#[inline(always)]
pub(super) fn reduce<S: Lanes>(
    s: S,
    factor: &[F8],
    remainder: &mut [F8],
    (pivots, p): (usize, usize),
    u: usize,
    fresh: bool,
) {
    let rows = &factor[p / LANES * p..];
    let panels = u / LANES;
    let panel = |i: usize| &rows[i * p..][..pivots];
    let mut i = 0;
    while i + 1 < panels {
        let (x, y) = remainder[i * u..(i + 2) * u].split_at_mut(u);
        for j in 0..=i {
            let (c, d) = (&mut x[LANES * j..][..LANES], &mut y[LANES * j..][..LANES]);
            subtract(s, [panel(i), panel(i + 1)], panel(j), [c, d], fresh);
        }
        let last = &mut y[LANES * (i + 1)..][..LANES];
        subtract(s, [panel(i + 1)], panel(i + 1), [last], fresh);
        i += 2;
    }
    if i < panels {
        for j in 0..=i {
            let c = &mut remainder[i * u + LANES * j..][..LANES];
            subtract(s, [panel(i)], panel(j), [c], fresh);
        }
    }
}

/// Puts `L⁻¹` in the place of a tile of eight columns, `L Lᵀ`; false if it is not positive.
///
/// It is factored as `U D Uᵀ` first, with ones on the diagonal of U: the roots of D need not wait for each other.
#[inline(always)]
fn invert<S: Lanes>(s: S, tile: &mut [F8]) -> bool {
    let mut a = [Eight::splat(s, 0.0); LANES];
    for j in 0..LANES {
        a[j] = Eight::new(s, tile[j]);
    }
    let mut d = F8::ZERO;
    let mut unit = [[0.0; LANES]; LANES];
    for j in 0..LANES {
        d.0[j] = a[j].get().0[j];
        unit[j] = (a[j] * Eight::splat(s, 1.0 / d.0[j])).get().0;
        for k in j + 1..LANES {
            a[k] = a[k] - a[j] * Eight::splat(s, unit[j][k]);
        }
    }
    // Not if one is not a number.
    if !d.0.iter().all(|&d| d > 0.0) {
        return false;
    }
    let scale = (Eight::splat(s, 1.0) / Eight::new(s, d).sqrt()).get().0;
    // U⁻¹, row by row.
    let mut rows = a;
    for i in 0..LANES {
        let mut own = [0.0; LANES];
        own[i] = 1.0;
        let mut row = Eight::new(s, F8(own));
        for k in 0..i {
            row = row - rows[k] * Eight::splat(s, unit[k][i]);
        }
        rows[i] = row;
    }
    for i in 0..LANES {
        rows[i] = rows[i] * Eight::splat(s, scale[i]);
    }
    for (tile, column) in tile.iter_mut().zip(Eight::rows(s, rows)) {
        *tile = F8(column);
    }
    true
}

/// `X ← X L⁻ᵀ` for eight rows.
#[inline(always)]
fn divide<S: Lanes>(s: S, tile: &mut [F8], inverse: &[F8]) {
    let mut x = [Eight::splat(s, 0.0); LANES];
    for k in 0..LANES {
        x[k] = Eight::new(s, tile[k]);
    }
    for j in 0..LANES {
        let mut sum = x[0] * Eight::splat(s, inverse[0].0[j]);
        for k in 1..=j {
            sum = sum + x[k] * Eight::splat(s, inverse[k].0[j]);
        }
        tile[j] = sum.get();
    }
}
