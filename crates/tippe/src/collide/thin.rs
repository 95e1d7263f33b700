//! Naming and thinning out of the points of a clipped face patch.
//!
//! Reads: a polygon.  Writes: the polygon, the chosen points.
//! Called by: `collide::clip`.
//! Source: [Lecture] "Near Phase with SAT" (deepest, farthest, largest area); the names are ours.

use super::clip::{PatchPoint, Polygon};

/// Distance, relative to the smallest half edge of the two faces, within which a clipped point inherits the name of a vertex [1].
const NAME_NEAR: f64 = 0.02;
/// A candidate must be better by this factor to displace an earlier one, so that rounding does not choose [1].
const BETTER: f64 = 1.0 + 1e-6;
/// Names below this are vertices of the incident face; from here on, crossings of an incident edge and a side plane.
pub(super) const NAME_CUT: u32 = 0x100;
/// From here on, corners of the reference face.
const NAME_CORNER: u32 = 0x200;

/// The corner of the reference face where two side planes meet.
pub(super) fn corner_name(side_1: u32, side_2: u32) -> u32 {
    NAME_CORNER | (side_1.min(side_2) << 2) | side_1.max(side_2)
}

/// Drops points that are nearly in line with their neighbours, the straightest first, down to four.
///
/// Where edges of both faces nearly coincide, their crossing wanders along the edge with the slightest turn.
pub(super) fn straighten(polygon: &mut Polygon, tolerance: f64) {
    while polygon.count > 4 {
        let n = polygon.count;
        let mut straightest: Option<(f64, usize)> = None;
        for k in 0..n {
            let (before, after) = (
                if k == 0 { n - 1 } else { k - 1 },
                if k + 1 == n { 0 } else { k + 1 },
            );
            let (o, p, q) = (
                &polygon.points[before],
                &polygon.points[k],
                &polygon.points[after],
            );
            let (u, v) = (q.u - o.u, q.v - o.v);
            let area = u * (p.v - o.v) - v * (p.u - o.u);
            let chord_2 = u * u + v * v;
            // The distance from the line is area / chord.
            if area * area <= tolerance * tolerance * chord_2 {
                let bulge_2 = if chord_2 > 0.0 {
                    area * area / chord_2
                } else {
                    0.0
                };
                if straightest.is_none_or(|s| bulge_2 < s.0) {
                    straightest = Some((bulge_2, k));
                }
            }
        }
        let Some((_, k)) = straightest else { return };
        polygon.points.copy_within(k + 1..n, k);
        polygon.count -= 1;
    }
}

/// Chooses four of more points: the deepest, the farthest from it, and on either side of their line the one that adds most area.
pub(super) fn thin_out(polygon: &Polygon, same_depth: f64, out: &mut [PatchPoint; 4]) -> usize {
    let points = &polygon.points[..polygon.count];
    let lowest = points.iter().fold(f64::INFINITY, |w, p| w.min(p.w));
    // Of points equally deep, the one farthest in a fixed direction of the reference face.
    let ahead = |p: &PatchPoint| 0.8 * p.u + 0.6 * p.v;
    let deep = |p: &&PatchPoint| p.w <= lowest + same_depth;
    let Some(mut first) = points.iter().find(deep) else {
        return 0;
    };
    for p in points.iter().filter(deep) {
        if ahead(p) > ahead(first) + same_depth {
            first = p;
        }
    }
    let distance =
        |p: &PatchPoint| (p.u - first.u) * (p.u - first.u) + (p.v - first.v) * (p.v - first.v);
    let mut second = first;
    for p in points {
        if distance(p) > distance(second) * BETTER {
            second = p;
        }
    }
    let area = |p: &PatchPoint| {
        (second.u - first.u) * (p.v - first.v) - (second.v - first.v) * (p.u - first.u)
    };
    let (mut left, mut right): (Option<&PatchPoint>, Option<&PatchPoint>) = (None, None);
    for p in points {
        let a = area(p);
        if a > left.map_or(0.0, area) * BETTER {
            left = Some(p);
        }
        if -a > right.map_or(0.0, |q| -area(q)) * BETTER {
            right = Some(p);
        }
    }
    let mut count = 0;
    for p in [Some(first), Some(second), left, right]
        .into_iter()
        .flatten()
    {
        out[count] = *p;
        count += 1;
    }
    count
}

/// Gives clipped points near an incident vertex, or else near a corner of the reference face, the name of that vertex.
///
/// Equal boxes on top of each other move by tiny amounts: whether a vertex lies inside the face, on its rim or is clipped away
/// changes from step to step, but the point stays where it is and must keep its name for the warm start.
pub(super) fn rename(
    points: &mut [PatchPoint],
    vertices: &[PatchPoint; 4],
    h: [f64; 2],
    smallest: f64,
) {
    if points.iter().all(|p| p.name < NAME_CUT) {
        return;
    }
    let near = NAME_NEAR * smallest;
    let mut taken = 0_u32;
    for p in points.iter().filter(|p| p.name < NAME_CUT) {
        taken |= 1 << p.name;
    }
    for p in points.iter_mut().filter(|p| p.name >= NAME_CUT) {
        for v in vertices {
            let close = (p.u - v.u).abs() <= near && (p.v - v.v).abs() <= near;
            if close && taken & (1 << v.name) == 0 {
                taken |= 1 << v.name;
                p.name = v.name;
                break;
            }
        }
    }
    let mut corners = 0_u32;
    for p in points.iter().filter(|p| p.name >= NAME_CORNER) {
        corners |= 1 << (p.name & 0xf);
    }
    for p in points
        .iter_mut()
        .filter(|p| p.name >= NAME_CUT && p.name < NAME_CORNER)
    {
        if (p.u.abs() - h[0]).abs() <= near && (p.v.abs() - h[1]).abs() <= near {
            let corner = corner_name(u32::from(p.u < 0.0), 2 + u32::from(p.v < 0.0));
            if corners & (1 << (corner & 0xf)) == 0 {
                corners |= 1 << (corner & 0xf);
                p.name = corner;
            }
        }
    }
}
