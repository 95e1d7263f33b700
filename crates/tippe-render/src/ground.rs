//! The ground and the sky: what a line of sight meets where no body is.
//!
//! Reads: planes.  Writes: colours.
//! Called by: `stage`.
//! Source: a plane with a grid that fades into the sky, as on the page.

use tippe::Vec3;

use super::raster::{Colour, linear, mix};

/// Colours of the surroundings.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    top: Colour,
    bottom: Colour,
    floor: Colour,
    ink: Colour,
}

impl Surroundings {
    /// Light or dark.
    pub fn new(dark: bool) -> Self {
        let [top, bottom, floor, ink] = if dark {
            [
                [0.07, 0.09, 0.13],
                [0.13, 0.15, 0.2],
                [0.165, 0.185, 0.235],
                [0.62, 0.68, 0.78],
            ]
        } else {
            [
                [0.93, 0.95, 0.97],
                [0.985, 0.975, 0.955],
                [0.955, 0.945, 0.925],
                [0.36, 0.4, 0.46],
            ]
        }
        .map(linear);
        Self {
            top,
            bottom,
            floor,
            ink,
        }
    }

    /// The sky at a height of the picture, 0 above to 1 below.
    pub fn sky(&self, t: f32) -> Colour {
        let t = t.clamp(0.0, 1.0);
        mix(self.top, self.bottom, t * t * (3.0 - 2.0 * t))
    }
}

/// A plane with a grid.
#[derive(Clone, Copy, Debug)]
pub struct Ground {
    /// A point of it [m].
    pub point: Vec3,
    /// Its unit normal.
    pub normal: Vec3,
    /// Lines only: there is nothing to stand on.
    pub faint: bool,
}

impl Ground {
    /// Where a line of sight meets it, as a multiple of `along`.
    pub fn meet(&self, from: Vec3, along: Vec3) -> Option<f64> {
        let down = along.dot(self.normal);
        let t = self.normal.dot(self.point - from) / down;
        (down < 0.0 && t.is_finite() && t > 0.0).then_some(t)
    }

    /// Its colour at a point that the lamp reaches by `light`, over what lies behind. `pixel` is what a sample covers [m].
    pub fn paint(
        &self,
        around: &Surroundings,
        (p, center, radius): (Vec3, Vec3, f64),
        pixel: f64,
        light: f32,
        behind: Colour,
    ) -> Colour {
        let foot = center - self.normal * self.normal.dot(center - self.point);
        let away = ((p - foot).length() / radius) as f32;
        let fade = 1.0 - smooth(1.2, 6.0, away);
        let side = if self.normal.x.abs() < 0.9 {
            Vec3::X
        } else {
            Vec3::Y
        };
        let u = (side - self.normal * side.dot(self.normal)).normalize_or(Vec3::X);
        let v = self.normal.cross(u);
        let cell = cell(radius);
        let grid = |cell: f64| {
            let line = |x: f64| {
                let part = x / cell - (x / cell).round();
                (1.0 - (part.abs() * cell / pixel)).clamp(0.0, 1.0) as f32
            };
            let fine = 1.0 - smooth(0.15, 0.5, (pixel / cell) as f32);
            line(p.dot(u)).max(line(p.dot(v))) * fine
        };
        let lines = (0.35 * grid(cell)).max(0.6 * grid(5.0 * cell));
        let floor = around.floor.map(|c| c * (0.35 + 0.65 * light));
        let colour = mix(floor, around.ink, 0.35 * lines);
        let cover = if self.faint { 0.5 * lines } else { 1.0 };
        mix(behind, colour, fade * cover)
    }
}

fn smooth(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Width of a cell: 1, 2 or 5 times a power of ten, a few of them across the scene [m].
fn cell(radius: f64) -> f64 {
    let wanted = (radius / 4.0).max(1e-9);
    let power = libm::pow(10.0, wanted.log10().floor());
    power
        * match wanted / power {
            x if x >= 5.0 => 5.0,
            x if x >= 2.0 => 2.0,
            _ => 1.0,
        }
}
