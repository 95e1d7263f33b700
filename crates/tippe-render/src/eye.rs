//! The eye of the rasteriser: a perspective view from a direction, as near as the scene allows.
//!
//! Reads: world points.  Writes: picture points and depths.
//! Called by: `stage`, `raster`.
//! Source: pinhole projection; the same field of view as the page's.

use tippe::Vec3;

/// Half the vertical field of view [rad].
const HALF_FOV: f64 = 19.0 * std::f64::consts::PI / 180.0;
/// The picture is this much larger than what it must show.
const ROOM: f64 = 1.12;

/// A pinhole camera.
#[derive(Clone, Copy, Debug)]
pub struct Eye {
    /// Where it is [m].
    pub position: Vec3,
    right: Vec3,
    up: Vec3,
    /// Unit vector from the scene to the eye.
    pub toward: Vec3,
    /// Pixels of a unit slope.
    focal: f64,
    center: (f64, f64),
    /// Nearest depth that is drawn [m].
    pub near: f64,
}

/// A point in the picture.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// Pixels from the left.
    pub x: f64,
    /// Pixels from the top.
    pub y: f64,
    /// Distance along the line of sight [m].
    pub depth: f64,
}

impl Eye {
    /// An eye in a direction (angle about z from x, angle above the ground) that sees all points, as near and as well centred as they allow, `zoom` times nearer.
    ///
    /// With r, u, t of a point along right, up and toward, the eye sees it if |r − r_E| ≤ k (t_E − t). The largest r + k t and −r + k t of all points
    /// give t_E and, with the same room on both sides, r_E; the vertical likewise.
    pub fn around(
        (yaw, pitch): (f64, f64),
        points: &[Vec3],
        (width, height): (usize, usize),
        zoom: f64,
    ) -> Self {
        let (sy, cy) = libm::sincos(yaw);
        let (sp, cp) = libm::sincos(pitch);
        let toward = Vec3::new(cp * cy, cp * sy, sp);
        let right = Vec3::Z.cross(toward).normalize();
        let up = toward.cross(right);
        let tangent = libm::tan(HALF_FOV);
        let aspect = width as f64 / height as f64;
        // A little room at the borders.
        let slopes = [tangent * aspect / ROOM, tangent / ROOM];
        let side = |axis: Vec3, k: f64| {
            let greatest = |sign: f64| {
                let of = |p: &Vec3| sign * p.dot(axis) + k * p.dot(toward);
                points.iter().map(of).fold(f64::NEG_INFINITY, f64::max)
            };
            let (a, b) = (greatest(1.0), greatest(-1.0));
            ((a + b) / (2.0 * k), (a - b) / 2.0)
        };
        let ((near_x, r), (near_y, u)) = (side(right, slopes[0]), side(up, slopes[1]));
        let depths = points.iter().map(|p| p.dot(toward));
        let nearest = depths.clone().fold(f64::NEG_INFINITY, f64::max);
        let farthest = depths.fold(f64::INFINITY, f64::min);
        let (mut r, mut u, mut middle) = (r, u, 0.5 * (nearest + farthest));
        let mut distance = near_x.max(near_y) - middle;
        if !distance.is_finite() {
            (r, u, middle, distance) = (0.0, 0.0, 0.0, 5.0);
        }
        // Something so thin that it has no size is still seen from outside.
        distance = (distance.max(0.51 * (nearest - farthest)) / zoom).max(1e-6);
        Self {
            position: right * r + up * u + toward * (middle + distance),
            right,
            up,
            toward,
            focal: 0.5 * height as f64 / tangent,
            center: (0.5 * width as f64, 0.5 * height as f64),
            near: 0.01 * distance,
        }
    }

    /// Moves along with something.
    pub fn shift(&mut self, by: Vec3) {
        self.position += by;
    }

    /// Where a point appears.
    pub fn see(&self, p: Vec3) -> Seen {
        let d = p - self.position;
        let depth = -d.dot(self.toward);
        Seen {
            x: self.center.0 + self.focal * d.dot(self.right) / depth,
            y: self.center.1 - self.focal * d.dot(self.up) / depth,
            depth,
        }
    }

    /// The line of sight through a point of the picture; its part along the view is 1.
    pub fn ray(&self, x: f64, y: f64) -> Vec3 {
        self.right * ((x - self.center.0) / self.focal)
            - self.up * ((y - self.center.1) / self.focal)
            - self.toward
    }

    /// Metres that a pixel stands for at a depth.
    pub fn pixel(&self, depth: f64) -> f64 {
        depth / self.focal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_seen_as_a_whole_and_rays_go_back_to_their_points() {
        let (low, high) = (Vec3::new(-3.0, -1.0, 0.0), Vec3::new(5.0, 2.0, 1.0));
        let corners: Vec<Vec3> = (0..8)
            .map(|k| {
                let pick = |bit: u32, a: f64, b: f64| if k >> bit & 1 == 0 { a } else { b };
                Vec3::new(
                    pick(0, low.x, high.x),
                    pick(1, low.y, high.y),
                    pick(2, low.z, high.z),
                )
            })
            .collect();
        let eye = Eye::around((-1.1, 0.42), &corners, (960, 600), 1.0);
        let seen: Vec<Seen> = corners.iter().map(|p| eye.see(*p)).collect();
        for (&p, s) in corners.iter().zip(&seen) {
            assert!(
                s.x > 0.0 && s.x < 960.0 && s.y > 0.0 && s.y < 600.0 && s.depth > eye.near,
                "{s:?}"
            );
            let back = eye.position + eye.ray(s.x, s.y) * s.depth;
            assert!((back - p).length() < 1e-12, "{back} {p}");
        }
        // It fills the width or the height, with the same room on both sides.
        let span = |of: fn(&Seen) -> f64| {
            let all = seen.iter().map(of);
            (
                all.clone().fold(f64::INFINITY, f64::min),
                all.fold(f64::NEG_INFINITY, f64::max),
            )
        };
        let ((left, right), (top, bottom)) = (span(|s| s.x), span(|s| s.y));
        assert!((left + right - 960.0).abs() < 1e-6 || (top + bottom - 600.0).abs() < 1e-6);
        let part = ((right - left) / 960.0).max((bottom - top) / 600.0);
        assert!((part - 1.0 / ROOM).abs() < 0.01, "{part}");
        assert!(eye.see(Vec3::Z).y < eye.see(Vec3::ZERO).y);
    }
}
