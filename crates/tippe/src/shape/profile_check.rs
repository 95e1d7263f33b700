//! What a profile must be: closed paths that neither cross nor touch, holes inside the outline. Refusals name the place.
//!
//! Reads: paths.  Writes: edges with the solid to their left.
//! Called by: `shape::profile`.
//! Source: a simple closed curve has an inside.

use super::profile::{PROFILE_EDGES_MAX, Profile, ProfileEdge, ProfilePath};
use super::profile_curve::{ArcOf, Curve};
use crate::error::BuildError;
use crate::math::Vec2;

/// Part of the size within which points are the same [1].
const ONE_POINT: f64 = 1e-9;
/// Largest coordinate [m], and the smallest size.
const PROFILE_PLACE_MAX: f64 = 1e6;
const PROFILE_SIZE_MIN: f64 = 1e-9;

/// Edges of all paths in order, outline to the left and holes to the right, and where each path begins.
pub(super) fn curves(paths: &[ProfilePath]) -> Result<(Vec<Curve>, Vec<usize>), BuildError> {
    let count: usize = paths.iter().map(|p| p.edges.len()).sum();
    if paths.is_empty() || count == 0 {
        return Err(BuildError::new("paths", "must hold an outline"));
    }
    if count > PROFILE_EDGES_MAX {
        let reason = format!("{count} edges; at most {PROFILE_EDGES_MAX}");
        return Err(BuildError::new("paths", reason));
    }
    let size = size(paths)?;
    let (mut all, mut starts) = (Vec::with_capacity(count), vec![0]);
    for (i, path) in paths.iter().enumerate() {
        let mut own = path_curves(path, size).map_err(|e| e.inside(&format!("paths[{i}]")))?;
        // Twice the area, circular segments included; about a point of the path no digits are lost far from the origin.
        let area: f64 = own.iter().map(|c| doubled_area(c, path.start)).sum();
        if (area > 0.0) != (i == 0) {
            own.reverse();
            own.iter_mut().for_each(|c| *c = c.reversed());
        }
        all.extend(own);
        starts.push(all.len());
    }
    crossings(paths, &all, &starts, size)?;
    Ok((all, starts))
}

fn doubled_area(c: &Curve, origin: Vec2) -> f64 {
    let beyond = c.arc.map_or(0.0, |a| {
        a.radius * a.radius * (a.sweep - libm::sin(a.sweep))
    });
    (c.from - origin).perp_dot(c.to - origin) + beyond
}

/// Largest extent of all points that are named.
fn size(paths: &[ProfilePath]) -> Result<f64, BuildError> {
    let (mut min, mut max) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
    for (i, path) in paths.iter().enumerate() {
        let ends = path.edges.iter().flat_map(|e| match *e {
            ProfileEdge::Line { to } => [to, to],
            ProfileEdge::Arc { through, to } => [through, to],
        });
        for p in ends.chain([path.start]) {
            if !p.is_finite() || p.abs().max_element() > PROFILE_PLACE_MAX {
                let reason = format!("a point {p} is not within {PROFILE_PLACE_MAX:e} m");
                return Err(BuildError::new(format!("paths[{i}]"), reason));
            }
            min = min.min(p);
            max = max.max(p);
        }
    }
    let size = (max - min).length();
    if size < PROFILE_SIZE_MIN {
        return Err(BuildError::new("paths", "all points are in one place"));
    }
    Ok(size)
}

fn path_curves(path: &ProfilePath, size: f64) -> Result<Vec<Curve>, BuildError> {
    let mut out: Vec<Curve> = Vec::with_capacity(path.edges.len());
    let mut from = path.start;
    let last = path.edges.len().saturating_sub(1);
    for (k, edge) in path.edges.iter().enumerate() {
        let at = |reason: String| BuildError::new(format!("edges[{k}]"), reason);
        let mut to = edge.to();
        if k == last {
            if (to - path.start).length() > ONE_POINT * size {
                return Err(at(format!(
                    "open: the path ends at {to} and starts at {}",
                    path.start
                )));
            }
            to = path.start;
        }
        if (to - from).length() <= ONE_POINT * size {
            return Err(at("it ends where it begins; a circle is two arcs".into()));
        }
        let arc = match *edge {
            ProfileEdge::Line { .. } => None,
            ProfileEdge::Arc { through, .. } => {
                let arc = ArcOf::through(from, through, to);
                Some(arc.ok_or_else(|| at("its three points lie on a line".into()))?)
            }
        };
        if arc.is_some_and(|a| a.radius > PROFILE_PLACE_MAX) {
            return Err(at(format!(
                "its radius is above {PROFILE_PLACE_MAX:e} m: use a line"
            )));
        }
        out.push(Curve::new(from, to, arc));
        from = to;
    }
    if out.len() < 2 {
        return Err(BuildError::new(
            "edges",
            "at least two edges enclose something",
        ));
    }
    Ok(out)
}

/// No edge meets another but at the corner they share.
fn crossings(
    paths: &[ProfilePath],
    all: &[Curve],
    starts: &[usize],
    size: f64,
) -> Result<(), BuildError> {
    let tolerance = ONE_POINT * size;
    let path_of = |i: usize| starts.partition_point(|s| *s <= i) - 1;
    // The place as it was given: a path may have been turned round.
    let place = |i: usize| {
        let path = path_of(i);
        let (k, n) = (i - starts[path], paths[path].edges.len());
        let given = (all[starts[path]].from - paths[path].start).length() <= tolerance
            && (all[starts[path]].to - paths[path].edges[0].to()).length() <= tolerance;
        format!("paths[{path}].edges[{}]", if given { k } else { n - 1 - k })
    };
    let mut met = Vec::new();
    for i in 0..all.len() {
        let (low, high) = all[i].bounds();
        for k in i + 1..all.len() {
            let (a, b) = (&all[i], &all[k]);
            let (min, max) = b.bounds();
            let apart = |x: Vec2, y: Vec2| (x - y).max_element() > tolerance;
            if apart(min, high) || apart(low, max) {
                continue;
            }
            let shared: Vec<Vec2> = [(a.to, b.from), (b.to, a.from)]
                .into_iter()
                .filter(|(x, y)| (*x - *y).length() <= tolerance)
                .map(|(x, _)| x)
                .collect();
            met.clear();
            a.meets(b, &mut met);
            for p in [a.from, a.to] {
                if b.distance(p).0 <= tolerance {
                    met.push(p);
                }
            }
            for p in [b.from, b.to] {
                if a.distance(p).0 <= tolerance {
                    met.push(p);
                }
            }
            // Near a corner at a flat angle both formulas leave more than rounding.
            let own = |p: &Vec2| shared.iter().any(|s| (*s - *p).length() <= 1e3 * tolerance);
            if let Some(p) = met.iter().find(|p| !own(p)) {
                let reason = format!("meets {} at {p}", place(k));
                return Err(BuildError::new(place(i), reason));
            }
            let back = |x: &Curve, y: &Curve| {
                (x.to - y.from).length() <= tolerance
                    && x.tangent(true).dot(y.tangent(false)) < -1.0 + ONE_POINT
            };
            if back(a, b) || back(b, a) {
                let reason = format!("folds back onto {}", place(k));
                return Err(BuildError::new(place(i), reason));
            }
        }
    }
    Ok(())
}

/// Holes lie inside the outline and not in each other.
pub(super) fn nesting(profile: &Profile) -> Result<(), BuildError> {
    let starts = profile.starts();
    for path in 1..starts.len() - 1 {
        let p = profile.curves()[starts[path]].from;
        // Seen by the edges of one other path alone; the solid lies outside of a hole.
        let inside = |of: usize| {
            let distance = profile.distance_of(starts[of]..starts[of + 1], p);
            (distance < 0.0) == (of == 0)
        };
        if !inside(0) {
            let reason = "a hole outside the outline";
            return Err(BuildError::new(format!("paths[{path}]"), reason));
        }
        if let Some(other) = (1..starts.len() - 1).find(|&o| o != path && inside(o)) {
            let reason = format!("a hole inside the hole paths[{other}]");
            return Err(BuildError::new(format!("paths[{path}]"), reason));
        }
    }
    Ok(())
}
