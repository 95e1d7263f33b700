//! Marks over the picture: arrows of contact forces, contact points, edges of what is drawn as glass.
//!
//! Reads: the eye, contacts.  Writes: light of samples.
//! Called by: `stage`.
//! Source: flat shapes in the picture, as on the page: a disc sticks, a hollow diamond slips.

use tippe::{ContactForce, Vec3};

use super::eye::{Eye, Seen};
use super::raster::{Colour, SAMPLES, cover, linear, mix};

/// Light of all samples, to draw over.
pub struct Sheet<'a> {
    /// By rows.
    pub light: &'a mut [Colour],
    /// Samples of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

impl Sheet<'_> {
    /// A convex polygon.
    fn polygon(&mut self, points: &[(f64, f64)], colour: Colour, alpha: f32) {
        let at = |p: &(f64, f64)| Seen {
            x: p.0,
            y: p.1,
            depth: 1.0,
        };
        for pair in points.windows(2).skip(1) {
            let (width, light) = (self.width, &mut *self.light);
            let t = [at(&points[0]), at(&pair[0]), at(&pair[1])];
            cover(&t, (width, self.height), false, |x, y, _| {
                let s = &mut light[y * width + x];
                *s = mix(*s, colour, alpha);
            });
        }
    }

    /// A straight stroke.
    pub fn stroke(&mut self, a: (f64, f64), b: (f64, f64), width: f64, colour: Colour, alpha: f32) {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length = libm::hypot(dx, dy);
        if !(length > 1e-6 && length < 1e6) {
            return;
        }
        let (nx, ny) = (-dy / length * width / 2.0, dx / length * width / 2.0);
        self.polygon(
            &[
                (a.0 + nx, a.1 + ny),
                (b.0 + nx, b.1 + ny),
                (b.0 - nx, b.1 - ny),
                (a.0 - nx, a.1 - ny),
            ],
            colour,
            alpha,
        );
    }

    fn arrow(&mut self, a: (f64, f64), b: (f64, f64), width: f64, colour: Colour, grow: f64) {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length = libm::hypot(dx, dy);
        if !(length > 1e-6 && length < 1e6) {
            return;
        }
        let (tx, ty) = (dx / length, dy / length);
        let head = (4.2 * width).min(0.8 * length + 1.0);
        let neck = (b.0 - tx * head, b.1 - ty * head);
        let tail = (a.0 - tx * grow, a.1 - ty * grow);
        self.stroke(tail, neck, width + 2.0 * grow, colour, 1.0);
        let side = 0.42 * head + 1.6 * grow;
        let base = (neck.0 - tx * grow, neck.1 - ty * grow);
        self.polygon(
            &[
                (base.0 - ty * side, base.1 + tx * side),
                (b.0 + tx * 2.0 * grow, b.1 + ty * 2.0 * grow),
                (base.0 + ty * side, base.1 - tx * side),
            ],
            colour,
            1.0,
        );
    }

    fn disc(&mut self, p: (f64, f64), radius: f64, colour: Colour, corners: u32) {
        let rim = |k: u32| {
            let (s, c) = libm::sincos(f64::from(k) * std::f64::consts::TAU / f64::from(corners));
            (p.0 + radius * c, p.1 + radius * s)
        };
        self.polygon(&(0..corners).map(rim).collect::<Vec<_>>(), colour, 1.0);
    }

    /// Arrows and marks of contacts. `reach` is the length of the arrow of `force` [m, N].
    pub fn contacts(
        &mut self,
        contacts: &[ContactForce],
        eye: &Eye,
        reach: f64,
        force: f64,
        dark: bool,
    ) {
        let halo = if dark {
            [0.002, 0.003, 0.005]
        } else {
            [1.0; 3]
        };
        let stick = linear([0.13, 0.62, 0.42]);
        let slip = linear([0.93, 0.42, 0.13]);
        let unit = SAMPLES as f64;
        let flat = |p: Vec3| {
            let s = eye.see(p);
            (s.depth > eye.near).then_some((s.x, s.y))
        };
        for pass in [true, false] {
            for c in contacts {
                let along = (c.force() * (reach / force)).clamp_length_max(8.0 * reach);
                let (Some(a), Some(b)) = (flat(c.point), flat(c.point + along)) else {
                    continue;
                };
                let colour = if c.sliding { slip } else { stick };
                if along.length() > 1e-3 * reach {
                    if pass {
                        self.arrow(a, b, 2.6 * unit, halo, 1.4 * unit);
                    } else {
                        self.arrow(a, b, 2.6 * unit, colour, 0.0);
                    }
                }
                if !pass {
                    let size = (0.08 * reach / eye.pixel(eye.see(c.point).depth))
                        .clamp(1.5 * unit, 4.5 * unit);
                    let corners = if c.sliding { 4 } else { 20 };
                    let grown = if c.sliding { 1.5 } else { 1.0 };
                    self.disc(a, size * grown * 1.35, halo, corners);
                    self.disc(a, size * grown, colour, corners);
                    if c.sliding {
                        self.disc(a, size * grown * 0.5, halo, corners);
                    }
                }
            }
        }
    }
}
