//! The surface of a profile as triangles, to draw: arcs as chords, both faces and the walls between them.
//!
//! Reads: a profile.  Writes: nothing (pure functions).
//! Called by: drawings.
//! Source: ear clipping; holes are joined to the outline by the shortest bridge that crosses nothing.

use super::profile::Profile;
use super::profile_curve::Curve;
use crate::math::{Vec2, Vec3};
use std::f64::consts::TAU;

/// Chords that a full circle is drawn with.
const DRAWN_CHORDS: f64 = 64.0;

impl Profile {
    /// Corners and triangles of its surface, seen counter-clockwise from outside; arcs are chords.
    #[must_use]
    pub fn drawn(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let mut flat: Vec<Vec2> = Vec::new();
        let mut loops: Vec<Vec<u32>> = Vec::new();
        for pair in self.starts().windows(2) {
            let first = flat.len() as u32;
            for c in &self.curves()[pair[0]..pair[1]] {
                chords(c, &mut flat);
            }
            loops.push((first..flat.len() as u32).collect());
        }
        let n = flat.len() as u32;
        let h = self.half_thickness();
        let points = flat
            .iter()
            .map(|p| p.extend(h))
            .chain(flat.iter().map(|p| p.extend(-h)))
            .collect();
        let mut triangles = Vec::new();
        for path in &loops {
            for (k, &i) in path.iter().enumerate() {
                let j = path[(k + 1) % path.len()];
                triangles.push([i, i + n, j]);
                triangles.push([j, i + n, j + n]);
            }
        }
        for [a, b, c] in faces(&flat, loops) {
            triangles.push([a, b, c]);
            triangles.push([c + n, b + n, a + n]);
        }
        (points, triangles)
    }
}

/// The points of an edge but its last.
fn chords(c: &Curve, out: &mut Vec<Vec2>) {
    out.push(c.from);
    let Some(arc) = c.arc else { return };
    let count = (arc.sweep.abs() / TAU * DRAWN_CHORDS).ceil().max(1.0);
    for k in 1..count as u32 {
        let (sin, cos) = libm::sincos(arc.sweep * f64::from(k) / count);
        out.push(arc.center + Vec2::new(cos, sin).rotate(c.from - arc.center));
    }
}

/// Triangles of the area inside the first loop and outside the others.
fn faces(points: &[Vec2], mut loops: Vec<Vec<u32>>) -> Vec<[u32; 3]> {
    let mut outline = loops.remove(0);
    while !loops.is_empty() {
        // The shortest bridge of all that cross no edge; without one a hole is left out.
        let mut best: Option<(f64, usize, usize, usize)> = None;
        for (of, hole) in loops.iter().enumerate() {
            for (i, &a) in outline.iter().enumerate() {
                for (k, &b) in hole.iter().enumerate() {
                    let d = (points[a as usize] - points[b as usize]).length_squared();
                    let shorter = best.is_none_or(|x| d < x.0);
                    if shorter && is_free(points, &outline, &loops, a, b) {
                        best = Some((d, of, i, k));
                    }
                }
            }
        }
        let Some((_, of, i, k)) = best else { break };
        let hole = loops.remove(of);
        let around = hole[k..].iter().chain(&hole[..=k]).copied();
        let bridge: Vec<u32> = around.chain([outline[i]]).collect();
        outline.splice(i + 1..i + 1, bridge);
    }
    clip(points, outline)
}

/// Whether the line between two points crosses none of the loops.
fn is_free(points: &[Vec2], outline: &[u32], loops: &[Vec<u32>], a: u32, b: u32) -> bool {
    let at = |i: u32| points[i as usize];
    let side = |p: Vec2, q: Vec2, r: Vec2| (q - p).perp_dot(r - p);
    let crosses = |path: &[u32]| {
        (0..path.len()).any(|k| {
            let (c, d) = (path[k], path[(k + 1) % path.len()]);
            if [c, d].iter().any(|x| at(*x) == at(a) || at(*x) == at(b)) {
                return false;
            }
            side(at(a), at(b), at(c)) * side(at(a), at(b), at(d)) <= 0.0
                && side(at(c), at(d), at(a)) * side(at(c), at(d), at(b)) <= 0.0
        })
    };
    !crosses(outline) && !loops.iter().any(|l| crosses(l))
}

/// Ears of a loop, one after another.
fn clip(points: &[Vec2], mut path: Vec<u32>) -> Vec<[u32; 3]> {
    let at = |i: u32| points[i as usize];
    let mut out = Vec::with_capacity(path.len());
    while path.len() > 3 {
        let n = path.len();
        let corner = |k: usize| [path[(k + n - 1) % n], path[k], path[(k + 1) % n]];
        let turn = |t: [u32; 3]| (at(t[1]) - at(t[0])).perp_dot(at(t[2]) - at(t[1]));
        let is_ear = |k: usize| {
            let t = corner(k);
            let [a, b, c] = t.map(at);
            turn(t) > 0.0
                && path.iter().all(|&i| {
                    let p = at(i);
                    let outside = (b - a).perp_dot(p - a) < 0.0
                        || (c - b).perp_dot(p - b) < 0.0
                        || (a - c).perp_dot(p - c) < 0.0;
                    outside || p == a || p == b || p == c
                })
        };
        // Of loops that rounding has crossed the most convex corner goes: this is a drawing.
        let ear = (0..n)
            .find(|&k| is_ear(k))
            .or_else(|| (0..n).max_by(|&i, &k| turn(corner(i)).total_cmp(&turn(corner(k)))));
        let Some(ear) = ear else { break };
        out.push(corner(ear));
        path.remove(ear);
    }
    if let [a, b, c] = path[..] {
        out.push([a, b, c]);
    }
    out
}
