//! Edges and corners of a profile: directions, distances, where two edges meet.
//!
//! Reads: nothing.  Writes: nothing (pure functions).
//! Called by: `shape::profile`, `shape::profile_check`, `collide::pair_profile`.
//! Source: plane geometry. The solid lies to the left of an edge: an arc that turns left bulges outwards.

use crate::math::Vec2;

/// Sine of the turn up to which two edges follow each other smoothly [1].
const CORNER_SMOOTH: f64 = 1e-9;
/// Part of a radius or length by which places count as on an edge beyond its end [1].
const EDGE_END: f64 = 1e-12;
/// Turn beyond which a corner over a face is no longer looked at [rad]: the corner behind the one that stands there is, as for boxes.
const CORNER_WIDE: f64 = 0.25;

/// The circle of an arc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ArcOf {
    pub center: Vec2,
    pub radius: f64,
    /// Signed angle from the first end to the last [rad]: above zero it turns left and bulges outwards.
    pub sweep: f64,
    /// Unit vector from the centre to the middle of the arc, and the cosine of half the sweep.
    pub middle: Vec2,
    pub cos_half: f64,
}

impl ArcOf {
    /// The arc from `a` to `b` through `m`; none if they lie on a line.
    pub fn through(a: Vec2, m: Vec2, b: Vec2) -> Option<Self> {
        let (u, v) = (m - a, b - a);
        let cross = u.perp_dot(v);
        let scale = u.length().max(v.length());
        if cross.abs() <= 1e-9 * scale * scale {
            return None;
        }
        let k = (v * u.length_squared() - u * v.length_squared()) / (2.0 * cross);
        // Perpendicular to both chords' mid-normals: the centre relative to a.
        let to_center = Vec2::new(k.y, -k.x);
        let center = a + to_center;
        let (p, q) = (a - center, b - center);
        let mut sweep = libm::atan2(p.perp_dot(q), p.dot(q));
        // The turn a → m → b is that of the arc.
        let left = (m - a).perp_dot(b - m) > 0.0;
        if left && sweep <= 0.0 {
            sweep += std::f64::consts::TAU;
        } else if !left && sweep >= 0.0 {
            sweep -= std::f64::consts::TAU;
        }
        let (s, c) = libm::sincos(0.5 * sweep);
        let radius = to_center.length();
        Some(Self {
            center,
            radius,
            sweep,
            middle: Vec2::new(c, s).rotate(p / radius),
            cos_half: c,
        })
    }

    /// Whether it bulges out of the solid.
    pub fn is_convex(&self) -> bool {
        self.sweep > 0.0
    }

    /// Whether a unit direction from the centre meets the arc.
    pub fn has(&self, d: Vec2) -> bool {
        d.dot(self.middle) >= self.cos_half - EDGE_END
    }

    /// Unit directions from the centre to both ends.
    pub fn ends(&self) -> [Vec2; 2] {
        let (sin, cos) = libm::sincos(0.5 * self.sweep);
        [-sin, sin].map(|s| Vec2::new(cos, s).rotate(self.middle))
    }
}

/// One edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curve {
    pub from: Vec2,
    pub to: Vec2,
    /// Unit outward normal of a segment; of an arc, that of its chord.
    pub normal: Vec2,
    pub arc: Option<ArcOf>,
}

impl Curve {
    pub fn new(from: Vec2, to: Vec2, arc: Option<ArcOf>) -> Self {
        let d = (to - from).normalize_or_zero();
        Self {
            from,
            to,
            normal: Vec2::new(d.y, -d.x),
            arc,
        }
    }

    /// The same edge the other way round: the solid is on its other side.
    pub fn reversed(&self) -> Self {
        Self {
            from: self.to,
            to: self.from,
            normal: -self.normal,
            arc: self.arc.map(|a| ArcOf {
                sweep: -a.sweep,
                ..a
            }),
        }
    }

    pub fn length(&self) -> f64 {
        match self.arc {
            Some(arc) => arc.radius * arc.sweep.abs(),
            None => (self.to - self.from).length(),
        }
    }

    pub fn bounds(&self) -> (Vec2, Vec2) {
        let (mut min, mut max) = (self.from.min(self.to), self.from.max(self.to));
        if let Some(arc) = self.arc {
            for d in [Vec2::X, -Vec2::X, Vec2::Y, -Vec2::Y] {
                if arc.has(d) {
                    let p = arc.center + d * arc.radius;
                    min = min.min(p);
                    max = max.max(p);
                }
            }
        }
        (min, max)
    }

    /// Unit direction of the way at its first end, or at its last.
    pub fn tangent(&self, last: bool) -> Vec2 {
        match self.arc {
            None => (self.to - self.from).normalize_or_zero(),
            Some(arc) => {
                let end = if last { self.to } else { self.from };
                let d = (end - arc.center) / arc.radius;
                if arc.sweep > 0.0 { d.perp() } else { -d.perp() }
            }
        }
    }

    /// The unit outward normal at one of its ends.
    pub fn normal_at(&self, last: bool) -> Vec2 {
        let t = self.tangent(last);
        Vec2::new(t.y, -t.x)
    }

    /// How far along a segment a point is, from 0 to 1 where its foot is on it.
    pub fn along(&self, p: Vec2) -> f64 {
        let d = self.to - self.from;
        (p - self.from).dot(d) / d.length_squared()
    }

    /// Whether the foot of a point is on the segment.
    pub fn is_over(&self, p: Vec2) -> bool {
        let s = self.along(p);
        (-EDGE_END..=1.0 + EDGE_END).contains(&s)
    }

    /// Distance of a point [m], and whether it is on the outer side as seen from the inside of the edge.
    pub fn distance(&self, p: Vec2) -> (f64, bool) {
        let ends = (p - self.from).length().min((p - self.to).length());
        match self.arc {
            None => {
                let height = (p - self.from).dot(self.normal);
                let s = self.along(p);
                let over = (0.0..=1.0).contains(&s);
                (if over { height.abs() } else { ends }, height > 0.0)
            }
            Some(arc) => {
                let v = p - arc.center;
                let r = v.length();
                let beyond = (r > arc.radius) == arc.is_convex();
                if r > 0.0 && !arc.has(v / r) {
                    return (ends, beyond);
                }
                ((r - arc.radius).abs(), beyond)
            }
        }
    }

    /// Points that two edges have in common, where they cross or touch; not where they run along each other.
    pub fn meets(&self, other: &Self, out: &mut Vec<Vec2>) {
        match (self.arc, other.arc) {
            (None, None) => {
                let (d, e) = (self.to - self.from, other.to - other.from);
                let cross = d.perp_dot(e);
                if cross == 0.0 {
                    return;
                }
                let p = self.from + d * ((other.from - self.from).perp_dot(e) / cross);
                if self.is_over(p) && other.is_over(p) {
                    out.push(p);
                }
            }
            (None, Some(arc)) => {
                let d = (self.to - self.from).normalize_or_zero();
                let foot = self.from + d * (arc.center - self.from).dot(d);
                let left = arc.radius * arc.radius - (foot - arc.center).length_squared();
                if left < 0.0 {
                    return;
                }
                for p in [foot - d * left.sqrt(), foot + d * left.sqrt()] {
                    if self.is_over(p) && arc.has((p - arc.center) / arc.radius) {
                        out.push(p);
                    }
                }
            }
            (Some(_), None) => other.meets(self, out),
            (Some(a), Some(b)) => {
                let v = b.center - a.center;
                let d = v.length();
                if d == 0.0 {
                    return;
                }
                let x = 0.5 * (d + (a.radius - b.radius) * (a.radius + b.radius) / d);
                let left = a.radius * a.radius - x * x;
                if left < 0.0 {
                    return;
                }
                let (e, y) = (v / d, left.sqrt());
                for p in [e * x - e.perp() * y, e * x + e.perp() * y] {
                    let p = a.center + p;
                    if a.has((p - a.center) / a.radius) && b.has((p - b.center) / b.radius) {
                        out.push(p);
                    }
                }
            }
        }
    }
}

/// Where one edge follows another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Corner {
    pub point: Vec2,
    /// Sine of the turn: above zero the corner sticks out.
    pub turn: f64,
    /// Unit vector in the middle of its normals, and cosines of the angle from there to them and beyond.
    pub middle: Vec2,
    pub cos_half: f64,
    pub cos_wide: f64,
}

impl Corner {
    pub fn between(before: &Curve, after: &Curve) -> Self {
        let (t, u) = (before.tangent(true), after.tangent(false));
        let normals = [before.normal_at(true), after.normal_at(false)];
        // Of a sharp tip both normals point nearly against each other: the directions of the way tell the middle.
        let sum = if normals[0].dot(normals[1]) > 0.0 {
            normals[0] + normals[1]
        } else {
            t - u
        };
        let middle = sum.normalize_or_zero();
        let cos_half = middle.dot(normals[0]).clamp(-1.0, 1.0);
        let wide = (libm::acos(cos_half) + CORNER_WIDE).min(std::f64::consts::PI);
        Self {
            point: after.from,
            turn: t.perp_dot(u),
            middle,
            cos_half,
            cos_wide: libm::cos(wide),
        }
    }

    /// Whether it sticks out of the solid.
    pub fn is_convex(&self) -> bool {
        self.turn > CORNER_SMOOTH
    }

    /// Whether a unit direction lies between its normals.
    pub fn has(&self, d: Vec2) -> bool {
        d.dot(self.middle) >= self.cos_half - EDGE_END
    }

    /// Whether it nearly does.
    pub fn has_wide(&self, d: Vec2) -> bool {
        d.dot(self.middle) >= self.cos_wide
    }

    /// Whether what is nearest to the corner lies outside; none where the edges follow each other smoothly, and tell.
    pub fn is_outside(&self) -> Option<bool> {
        (self.turn.abs() > CORNER_SMOOTH).then_some(self.turn > 0.0)
    }
}
