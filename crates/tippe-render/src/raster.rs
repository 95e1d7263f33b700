//! Triangles to samples with a depth for each, samples to pixels; and a map of the lamp's shadow.
//!
//! Reads: triangles in the world.  Writes: a picture.
//! Called by: `stage`.
//! Source: edge functions and perspective-correct interpolation; colours are linear inside.

use tippe::{Pose, Vec3};

use super::eye::{Eye, Seen};
use super::mesh::{Pattern, Triangle};

/// Samples along each side of a pixel.
pub const SAMPLES: usize = 2;

/// A finished picture: red, green, blue of every pixel, by rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Three for each pixel.
    pub bytes: Vec<u8>,
}

/// A colour, linear.
pub type Colour = [f32; 3];

/// Display values (0 to 1) to linear ones.
pub fn linear(display: [f64; 3]) -> Colour {
    display.map(|c| libm::pow(c, 2.2) as f32)
}

/// Between two colours.
pub fn mix(a: Colour, b: Colour, t: f32) -> Colour {
    [0, 1, 2].map(|k| a[k] + (b[k] - a[k]) * t)
}

/// Something drawn: a mesh, where it is and how it is painted.
#[derive(Clone, Copy)]
pub struct Item<'a> {
    /// Its surface in the shape frame.
    pub mesh: &'a [Triangle],
    /// Where it is.
    pub pose: Pose,
    /// Its two tones.
    pub tones: [Colour; 2],
    /// How they are used.
    pub pattern: Pattern,
    /// Half sizes of its box in the shape frame [m].
    pub half: Vec3,
}

/// What is seen at a sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Distance along the line of sight [m]; infinite for nothing.
    pub depth: f32,
    /// Unit normal.
    pub normal: [f32; 3],
    /// Colour of the surface.
    pub colour: Colour,
}

const NOTHING: Sample = Sample {
    depth: f32::INFINITY,
    normal: [0.0; 3],
    colour: [0.0; 3],
};

/// Samples of a picture.
pub struct Samples {
    /// Samples of a row.
    pub width: usize,
    /// Rows of samples.
    pub height: usize,
    /// All of them.
    pub all: Vec<Sample>,
}

impl Samples {
    /// Nothing yet.
    pub fn new((width, height): (usize, usize)) -> Self {
        let (width, height) = (width * SAMPLES, height * SAMPLES);
        Self {
            width,
            height,
            all: vec![NOTHING; width * height],
        }
    }

    /// Depth at a place of the picture; `None` outside.
    pub fn depth_at(&self, x: f64, y: f64) -> Option<f32> {
        let inside = x >= 0.0 && y >= 0.0 && x < self.width as f64 && y < self.height as f64;
        inside.then(|| self.all[y as usize * self.width + x as usize].depth)
    }

    /// Draws an item: the nearest surface stays.
    pub fn draw(&mut self, item: &Item, eye: &Eye) {
        for t in item.mesh {
            let world = t.corners.map(|c| item.pose.point(c));
            let seen = world.map(|p| eye.see(p));
            if seen.iter().any(|s| s.depth < eye.near) {
                continue;
            }
            let normals = t.normals.map(|n| item.pose.vector(n));
            let (width, all) = (self.width, &mut self.all);
            cover(&seen, (width, self.height), true, |x, y, b| {
                let inverse = [0, 1, 2].map(|k| b[k] / seen[k].depth);
                let depth = 1.0 / (inverse[0] + inverse[1] + inverse[2]);
                let sample = &mut all[y * width + x];
                if depth as f32 >= sample.depth {
                    return;
                }
                let blend = |v: &[Vec3; 3]| {
                    (v[0] * inverse[0] + v[1] * inverse[1] + v[2] * inverse[2]) * depth
                };
                let normal = blend(&normals).normalize_or(Vec3::Z);
                *sample = Sample {
                    depth: depth as f32,
                    normal: normal.to_array().map(|x| x as f32),
                    colour: paint(item, blend(&t.corners), eye.pixel(depth)),
                };
            });
        }
    }
}

/// The colour of an item at a point of its own frame; `pixel` is what a sample covers [m].
fn paint(item: &Item, p: Vec3, pixel: f64) -> Colour {
    let [main, light] = item.tones;
    match item.pattern {
        Pattern::Plain => main,
        Pattern::Octants => {
            if p.x * p.y * p.z > 0.0 {
                light
            } else {
                main
            }
        }
        Pattern::Stripes => {
            let turn = libm::atan2(p.y, p.x) / std::f64::consts::TAU * 4.0;
            if turn - turn.floor() < 0.5 {
                light
            } else {
                main
            }
        }
        Pattern::Edges => {
            let a = item.half - p.abs();
            let to_edge = a.x + a.y + a.z - a.min_element() - a.max_element();
            let bevel = (0.03 * item.half.min_element()).max(0.8 * pixel);
            if to_edge < bevel {
                main.map(|c| 0.62 * c)
            } else {
                main
            }
        }
    }
}

/// Visits all samples that a triangle covers, with their barycentric weights in the picture. `cull` leaves out what faces away.
pub fn cover(
    seen: &[Seen; 3],
    (width, height): (usize, usize),
    cull: bool,
    mut visit: impl FnMut(usize, usize, [f64; 3]),
) {
    let [a, b, c] = seen;
    // Rows go down: what faces the eye has a negative area.
    let area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
    if !area.is_finite() || area == 0.0 || (cull && area > 0.0) {
        return;
    }
    let least = |f: fn(&Seen) -> f64| seen.iter().map(f).fold(f64::INFINITY, f64::min);
    let most = |f: fn(&Seen) -> f64| seen.iter().map(f).fold(f64::NEG_INFINITY, f64::max);
    let start = |v: f64| (v - 0.5).ceil().max(0.0) as usize;
    let end = |v: f64, n: usize| ((v - 0.5).floor() + 1.0).clamp(0.0, n as f64) as usize;
    let (x0, x1) = (start(least(|s| s.x)), end(most(|s| s.x), width));
    let (y0, y1) = (start(least(|s| s.y)), end(most(|s| s.y), height));
    for y in y0..y1 {
        for x in x0..x1 {
            let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
            let u = ((b.x - px) * (c.y - py) - (c.x - px) * (b.y - py)) / area;
            let v = ((c.x - px) * (a.y - py) - (a.x - px) * (c.y - py)) / area;
            let w = 1.0 - u - v;
            if u >= 0.0 && v >= 0.0 && w >= 0.0 {
                visit(x, y, [u, v, w]);
            }
        }
    }
}

/// What the lamp sees: the height of the first surface over a grid across its light.
pub struct Shadow {
    size: usize,
    heights: Vec<f32>,
    center: Vec3,
    u: Vec3,
    v: Vec3,
    lamp: Vec3,
    scale: f64,
}

impl Shadow {
    /// An empty map about a ball.
    pub fn new(lamp: Vec3, center: Vec3, radius: f64, size: usize) -> Self {
        let u = Vec3::Y.cross(lamp).normalize();
        Self {
            size,
            heights: vec![f32::NEG_INFINITY; size * size],
            center,
            u,
            v: lamp.cross(u),
            lamp,
            scale: size as f64 / (2.5 * radius),
        }
    }

    fn place(&self, p: Vec3) -> Seen {
        let d = p - self.center;
        let middle = 0.5 * self.size as f64;
        Seen {
            x: middle + d.dot(self.u) * self.scale,
            y: middle + d.dot(self.v) * self.scale,
            depth: d.dot(self.lamp),
        }
    }

    /// Lets an item throw its shadow.
    pub fn draw(&mut self, item: &Item) {
        for t in item.mesh {
            let seen = t.corners.map(|c| self.place(item.pose.point(c)));
            let (size, heights) = (self.size, &mut self.heights);
            cover(&seen, (size, size), false, |x, y, b| {
                let height = (0..3).map(|k| b[k] * seen[k].depth).sum::<f64>() as f32;
                let cell = &mut heights[y * size + x];
                *cell = cell.max(height);
            });
        }
    }

    /// How much of the lamp reaches a point of a surface, 0 to 1.
    pub fn light(&self, p: Vec3, normal: Vec3) -> f32 {
        let cell = 1.0 / self.scale;
        let s = self.place(p + normal * (1.5 * cell));
        let bias = (1.5 * cell) as f32;
        let mut lit = 0;
        for dy in -1..=1 {
            for dx in -1..=1 {
                let (x, y) = ((s.x + f64::from(dx)).floor(), (s.y + f64::from(dy)).floor());
                let inside = x >= 0.0 && y >= 0.0 && x < self.size as f64 && y < self.size as f64;
                let shaded = inside
                    && self.heights[y as usize * self.size + x as usize] > s.depth as f32 + bias;
                lit += i32::from(!shaded);
            }
        }
        lit as f32 / 9.0
    }
}

/// Light of every sample to bytes of every pixel.
pub fn develop(light: &[Colour], width: usize, height: usize) -> Picture {
    // Display values of linear ones, in fine steps.
    const STEPS: usize = 4096;
    let curve: Vec<u8> = (0..=STEPS)
        .map(|i| (255.0 * libm::pow(i as f64 / STEPS as f64, 1.0 / 2.2)).round() as u8)
        .collect();
    let (w, h) = (width / SAMPLES, height / SAMPLES);
    let mut bytes = Vec::with_capacity(3 * w * h);
    for y in 0..h {
        for x in 0..w {
            for k in 0..3 {
                let mut sum = 0.0;
                for dy in 0..SAMPLES {
                    for dx in 0..SAMPLES {
                        let s = light[(y * SAMPLES + dy) * width + x * SAMPLES + dx][k];
                        sum += s.clamp(0.0, 1.0);
                    }
                }
                let mean = sum / (SAMPLES * SAMPLES) as f32;
                bytes.push(curve[(mean * STEPS as f32).round() as usize]);
            }
        }
    }
    Picture {
        width: w,
        height: h,
        bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_triangles_cover_their_square_once() {
        let at = |x: f64, y: f64| Seen { x, y, depth: 1.0 };
        let mut count = vec![0; 100];
        let square = [at(1.2, 1.2), at(8.7, 1.2), at(8.7, 8.7), at(1.2, 8.7)];
        for t in [[0, 1, 2], [0, 2, 3]] {
            cover(&t.map(|i| square[i]), (10, 10), false, |x, y, b| {
                assert!((b[0] + b[1] + b[2] - 1.0).abs() < 1e-12);
                count[y * 10 + x] += 1;
            });
        }
        for (i, n) in count.iter().enumerate() {
            let inside = (1..=8).contains(&(i % 10)) && (1..=8).contains(&(i / 10));
            // Centres on the diagonal may belong to both.
            assert!(
                *n >= usize::from(inside) && *n <= 2 * usize::from(inside),
                "{i}: {n}"
            );
        }
    }

    #[test]
    fn nothing_infinite_is_visited() {
        let bad = Seen {
            x: f64::INFINITY,
            y: f64::NAN,
            depth: 1.0,
        };
        let good = Seen {
            x: 0.0,
            y: 0.0,
            depth: 1.0,
        };
        cover(&[bad, good, good], (10, 10), false, |_, _, _| {
            panic!("visited")
        });
        let far = Seen {
            x: 1e12,
            y: -1e12,
            depth: 1.0,
        };
        let mut n = 0;
        cover(
            &[
                good,
                far,
                Seen {
                    x: 1e12,
                    y: 1e12,
                    depth: 1.0,
                },
            ],
            (10, 10),
            false,
            |_, _, _| n += 1,
        );
        assert!(n <= 100);
    }
}
