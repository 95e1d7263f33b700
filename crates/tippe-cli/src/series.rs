//! Series over time in bounded memory: long ones keep the least and the greatest value of each stretch.
//!
//! Reads: one value a step.  Writes: at most 600 points.
//! Called by: `statistics`.
//! Source: min/max thinning; when all stretches are used, neighbours join and stretches double.

/// Stretches kept; each gives up to two points.
const STRETCHES: usize = 300;

#[derive(Clone, Copy, Debug)]
struct Stretch {
    count: u64,
    low: (f64, f64),
    high: (f64, f64),
}

impl Stretch {
    fn join(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            low: if other.low.1 < self.low.1 {
                other.low
            } else {
                self.low
            },
            high: if other.high.1 > self.high.1 {
                other.high
            } else {
                self.high
            },
        }
    }
}

/// A thinned series.
#[derive(Clone, Debug)]
pub struct Series {
    stretches: Vec<Stretch>,
    /// Values in a full stretch.
    width: u64,
}

impl Default for Series {
    fn default() -> Self {
        Self {
            stretches: Vec::new(),
            width: 1,
        }
    }
}

impl Series {
    /// Adds a value at a time later than all before.
    pub fn push(&mut self, time: f64, value: f64) {
        let one = Stretch {
            count: 1,
            low: (time, value),
            high: (time, value),
        };
        match self.stretches.last_mut() {
            Some(last) if last.count < self.width => *last = last.join(one),
            _ => {
                if self.stretches.len() == STRETCHES {
                    self.halve();
                }
                self.stretches.push(one);
            }
        }
    }

    fn halve(&mut self) {
        self.stretches = self
            .stretches
            .chunks(2)
            .map(|pair| {
                pair.iter()
                    .copied()
                    .reduce(Stretch::join)
                    .unwrap_or(pair[0])
            })
            .collect();
        self.width *= 2;
    }

    /// The points that remain, in order of time.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let mut points = Vec::with_capacity(2 * self.stretches.len());
        for s in &self.stretches {
            let (first, second) = if s.low.0 <= s.high.0 {
                (s.low, s.high)
            } else {
                (s.high, s.low)
            };
            points.push(first);
            if second.0 > first.0 {
                points.push(second);
            }
        }
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_series_are_kept_whole() {
        let mut s = Series::default();
        (0..300).for_each(|i| s.push(f64::from(i), f64::from(i * i)));
        assert_eq!(
            s.points(),
            (0..300)
                .map(|i| (f64::from(i), f64::from(i * i)))
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn long_series_keep_their_extremes_in_few_points() {
        let mut s = Series::default();
        for i in 0..100_003 {
            let spike = if i == 77_777 { 9.0 } else { 0.0 };
            s.push(f64::from(i), spike - f64::from(i == 5));
        }
        let p = s.points();
        assert!(p.len() <= 600 && p.len() > 150, "{}", p.len());
        assert!(p.contains(&(77_777.0, 9.0)) && p.contains(&(5.0, -1.0)));
        assert!(p.windows(2).all(|w| w[0].0 < w[1].0));
    }
}
