//! The surface of a profile as triangles, to draw: arcs as chords, both faces and the walls between them.
//!
//! Reads: a profile.  Writes: nothing (pure functions).
//! Called by: drawings.
//! Source: ear clipping; holes are joined to the outline from the right, each by a bridge from its rightmost point to what a ray to the
//! right from there meets [Eberly02].

use super::profile::Profile;
use super::profile_curve::Curve;
use crate::math::{Vec2, Vec3};
use std::f64::consts::TAU;

/// Chords that a full circle is drawn with, and the least of them where there are many edges.
const DRAWN_CHORDS: f64 = 64.0;
const DRAWN_CHORDS_MIN: f64 = 8.0;
/// Points of one face beyond which arcs are drawn with fewer chords.
const DRAWN_POINTS_MAX: f64 = 8192.0;
/// Times that all corners are looked at again when no ear is known.
const DRAWN_LOOKS_MAX: u32 = 32;

impl Profile {
    /// Corners and triangles of its surface, seen counter-clockwise from outside; arcs are chords.
    #[must_use]
    pub fn drawn(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let mut flat: Vec<Vec2> = Vec::new();
        let mut loops: Vec<Vec<u32>> = Vec::new();
        let full = self.chords_of_a_circle();
        for pair in self.starts().windows(2) {
            let first = flat.len() as u32;
            for c in &self.curves()[pair[0]..pair[1]] {
                chords(c, full, &mut flat);
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

    /// As many as the number of points allows.
    fn chords_of_a_circle(&self) -> f64 {
        let mut full = DRAWN_CHORDS;
        let count = |full: f64| self.curves().iter().map(|c| pieces(c, full)).sum::<f64>();
        while full > DRAWN_CHORDS_MIN && count(full) > DRAWN_POINTS_MAX {
            full *= 0.5;
        }
        full
    }
}

/// Chords of an edge, if a full circle has so many.
fn pieces(c: &Curve, full: f64) -> f64 {
    c.arc
        .map_or(1.0, |a| (a.sweep.abs() / TAU * full).ceil().max(1.0))
}

/// The points of an edge but its last.
fn chords(c: &Curve, full: f64, out: &mut Vec<Vec2>) {
    out.push(c.from);
    let Some(arc) = c.arc else { return };
    let count = pieces(c, full);
    for k in 1..count as u32 {
        let (sin, cos) = libm::sincos(arc.sweep * f64::from(k) / count);
        out.push(arc.center + Vec2::new(cos, sin).rotate(c.from - arc.center));
    }
}

/// Triangles of the area inside the first loop and outside the others.
fn faces(points: &[Vec2], mut loops: Vec<Vec<u32>>) -> Vec<[u32; 3]> {
    let mut outline = loops.remove(0);
    let at = |i: u32| points[i as usize];
    // By its rightmost point: what a ray to the right from there meets belongs to the outline by then.
    let rightmost = |hole: Vec<u32>| {
        let k = (0..hole.len()).max_by(|&i, &k| at(hole[i]).x.total_cmp(&at(hole[k]).x))?;
        Some((k, hole))
    };
    let mut holes: Vec<(usize, Vec<u32>)> = loops.into_iter().filter_map(rightmost).collect();
    holes.sort_by(|(i, a), (k, b)| at(b[*k]).x.total_cmp(&at(a[*i]).x));
    for (k, hole) in holes {
        // A hole that rounding has put outside is left out.
        let Some(i) = bridge_end(points, &outline, at(hole[k])) else {
            continue;
        };
        let around = hole[k..].iter().chain(&hole[..=k]).copied();
        let bridge: Vec<u32> = around.chain([outline[i]]).collect();
        outline.splice(i + 1..i + 1, bridge);
    }
    clip(points, outline)
}

/// The place on a loop that can be seen from a point inside it, near its right.
fn bridge_end(points: &[Vec2], path: &[u32], from: Vec2) -> Option<usize> {
    let at = |k: usize| points[path[k % path.len()] as usize];
    // The solid is to the left of an edge: a ray to the right leaves it where an edge goes up.
    let met = (0..path.len()).filter_map(|k| {
        let (a, b) = (at(k), at(k + 1));
        let x = a.x + (b.x - a.x) * ((from.y - a.y) / (b.y - a.y));
        (a.y <= from.y && from.y < b.y && x >= from.x).then_some((x, k))
    });
    let (x, k) = met.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let seen = |k: usize| is_within(at(k + path.len() - 1), at(k), at(k + 1), from);
    if at(k).y == from.y {
        // The ray meets a corner, which bridges may have made several of.
        let same = (0..path.len()).find(|&i| at(i) == at(k) && seen(i));
        return Some(same.unwrap_or(k));
    }
    let first = if at(k).x > at(k + 1).x {
        k
    } else {
        (k + 1) % path.len()
    };
    let (met, end) = (Vec2::new(x, from.y), at(first));
    // Corners between the ray and the way to that end hide it: of them the one nearest to the ray, and then to the point.
    let turn = (end.y - from.y).signum();
    let hides = |p: Vec2| {
        let left = |a: Vec2, b: Vec2| turn * (b - a).perp_dot(p - a) >= 0.0;
        p != end && p.x > from.x && left(from, met) && left(met, end) && left(end, from)
    };
    let slope = |p: Vec2| ((p.y - from.y).abs() / (p.x - from.x), p.x);
    let nearer = |i: &usize, k: &usize| {
        let (a, b) = (slope(at(*i)), slope(at(*k)));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    let hidden = (0..path.len())
        .filter(|&k| hides(at(k)) && seen(k))
        .min_by(nearer);
    Some(hidden.unwrap_or(first))
}

/// Whether a point is seen from a corner to the inside of its two edges.
fn is_within(before: Vec2, corner: Vec2, after: Vec2, p: Vec2) -> bool {
    let left = |a: Vec2, b: Vec2| (b - a).perp_dot(p - a) >= 0.0;
    if (corner - before).perp_dot(after - corner) > 0.0 {
        left(before, corner) && left(corner, after)
    } else {
        left(before, corner) || left(corner, after)
    }
}

/// Whether a corner of a loop sticks out and no other point lies in its triangle.
fn is_ear(points: &[Vec2], path: &[u32], k: usize) -> bool {
    let [a, b, c] = corner(path, k).map(|i| points[i as usize]);
    (b - a).perp_dot(c - b) > 0.0
        && path.iter().all(|&i| {
            let p = points[i as usize];
            let outside = (b - a).perp_dot(p - a) < 0.0
                || (c - b).perp_dot(p - b) < 0.0
                || (a - c).perp_dot(p - c) < 0.0;
            outside || p == a || p == b || p == c
        })
}

fn corner(path: &[u32], k: usize) -> [u32; 3] {
    let n = path.len();
    [path[(k + n - 1) % n], path[k], path[(k + 1) % n]]
}

/// Ears of a loop, one after another: with each only the corners beside it can change.
fn clip(points: &[Vec2], mut path: Vec<u32>) -> Vec<[u32; 3]> {
    let mut out = Vec::with_capacity(path.len());
    let look =
        |path: &[u32]| -> Vec<bool> { (0..path.len()).map(|k| is_ear(points, path, k)).collect() };
    let mut ears = look(&path);
    let mut looks = 0;
    while path.len() > 3 {
        let mut ear = ears.iter().position(|e| *e);
        if ear.is_none() && looks < DRAWN_LOOKS_MAX {
            looks += 1;
            ears = look(&path);
            ear = ears.iter().position(|e| *e);
        }
        let turn = |k: usize| {
            let [a, b, c] = corner(&path, k).map(|i| points[i as usize]);
            (b - a).perp_dot(c - b)
        };
        // Of loops that rounding has crossed the most convex corner goes: this is a drawing.
        let most = || (0..path.len()).max_by(|&i, &k| turn(i).total_cmp(&turn(k)));
        let Some(ear) = ear.or_else(most) else { break };
        out.push(corner(&path, ear));
        path.remove(ear);
        ears.remove(ear);
        let n = path.len();
        for k in [(ear + n - 1) % n, ear % n] {
            ears[k] = is_ear(points, &path, k);
        }
    }
    if let [a, b, c] = path[..] {
        out.push([a, b, c]);
    }
    out
}
