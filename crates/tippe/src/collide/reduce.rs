//! Which of many contact points of one pair stay: those that hold the pair as all would.
//!
//! Reads: contact points.  Writes: shortens the list.
//! Called by: `collide::pair_mesh`, `collide::pair_mesh_mesh`, `collide::pair_half_space_mesh`.
//! Source: farthest points first, after the deepest one: of places, and of normals where they differ.

use super::contact::ContactPoint;

/// Keeps at most `most` of the points from `first` on: the deepest, then always the one that differs most from those kept. Two points
/// differ by their distance over `size` [m] and by their normals; one that is near its `margin` [m] counts half of one that touches.
pub(super) fn reduce(
    first: usize,
    most: usize,
    size: f64,
    margin: f64,
    out: &mut Vec<ContactPoint>,
) {
    let points = &mut out[first..];
    if points.len() <= most {
        return;
    }
    let mut deepest = 0;
    for k in 1..points.len() {
        if points[k].gap < points[deepest].gap {
            deepest = k;
        }
    }
    points.swap(0, deepest);
    let (size, margin) = (size.max(f64::MIN_POSITIVE), margin.max(f64::MIN_POSITIVE));
    let differ = |p: &ContactPoint, q: &ContactPoint| {
        let place = (p.point_b - q.point_b).length_squared() / (size * size);
        let weight = 1.0 - 0.5 * (p.gap / margin).clamp(0.0, 1.0);
        weight * (place + (p.normal - q.normal).length_squared())
    };
    // Difference of each from those kept, renewed by the last of them.
    let mut least = vec![f64::INFINITY; points.len()];
    for chosen in 1..most {
        let mut best = (f64::NEG_INFINITY, chosen);
        for k in chosen..points.len() {
            least[k] = least[k].min(differ(&points[k], &points[chosen - 1]));
            if least[k] > best.0 {
                best = (least[k], k);
            }
        }
        points.swap(chosen, best.1);
        least.swap(chosen, best.1);
    }
    out.truncate(first + most);
}
