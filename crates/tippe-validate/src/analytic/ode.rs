//! A high-order integrator for ordinary differential equations: the oracle where no closed form is at hand.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `analytic::spinning`.
//! Source: the method of Gragg, Bulirsch and Stoer: modified midpoint rule, extrapolated to step zero. Order 16.

/// Columns of the extrapolation: the order is twice as much.
const COLUMNS: usize = 8;

/// The solution at time `t` of `y' = f(y)` from `y0`, in `steps` extrapolated steps.
#[must_use]
pub fn integrate<const N: usize>(
    f: impl Fn(&[f64; N]) -> [f64; N],
    y0: [f64; N],
    t: f64,
    steps: usize,
) -> [f64; N] {
    let h = t / steps as f64;
    (0..steps).fold(y0, |y, _| extrapolated(&f, &y, h))
}

fn extrapolated<const N: usize>(
    f: &impl Fn(&[f64; N]) -> [f64; N],
    y: &[f64; N],
    h: f64,
) -> [f64; N] {
    // Aitken–Neville in (h/n)², n = 2, 4, 6, …: T_{j,k} = T_{j,k-1} + (T_{j,k-1} − T_{j-1,k-1}) / ((n_j/n_{j-k})² − 1)
    let mut table = [[0.0; N]; COLUMNS];
    for j in 0..COLUMNS {
        let mut value = midpoint(f, y, h, 2 * (j + 1));
        for k in 1..=j {
            let ratio = (j + 1) as f64 / (j + 1 - k) as f64;
            let previous = table[k - 1];
            let weight = 1.0 / (ratio * ratio - 1.0);
            table[k - 1] = value;
            for i in 0..N {
                value[i] += (value[i] - previous[i]) * weight;
            }
        }
        table[j] = value;
    }
    table[COLUMNS - 1]
}

/// The modified midpoint rule with `n` (even) sub-steps; its error has even powers of h/n only.
fn midpoint<const N: usize>(
    f: &impl Fn(&[f64; N]) -> [f64; N],
    y: &[f64; N],
    h: f64,
    n: usize,
) -> [f64; N] {
    let k = h / n as f64;
    let mut before = *y;
    let mut now = add(y, &f(y), k);
    for _ in 1..n {
        let next = add(&before, &f(&now), 2.0 * k);
        before = now;
        now = next;
    }
    let mut end = add(&before, &f(&now), k);
    for i in 0..N {
        end[i] = 0.5 * (now[i] + end[i]);
    }
    end
}

fn add<const N: usize>(y: &[f64; N], d: &[f64; N], k: f64) -> [f64; N] {
    std::array::from_fn(|i| y[i] + k * d[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oscillator_comes_back() {
        let f = |y: &[f64; 2]| [y[1], -y[0]];
        let end = integrate(f, [1.0, 0.0], 2.0 * std::f64::consts::PI, 10);
        assert!(
            (end[0] - 1.0).abs() < 1e-13 && end[1].abs() < 1e-13,
            "{end:?}"
        );
    }

    #[test]
    fn order_is_high() {
        let f = |y: &[f64; 1]| [y[0]];
        let error = |n| (integrate(f, [1.0], 8.0, n)[0] / libm::exp(8.0) - 1.0).abs();
        // Order 16: two steps instead of one win more than 2¹⁰ even far from the limit.
        assert!(error(4) < error(2) / 1000.0, "{} {}", error(2), error(4));
    }
}
