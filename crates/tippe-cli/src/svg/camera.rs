//! The eye of the pictures: an orthographic view from in front, a little to the right and above.
//!
//! Reads: world points.  Writes: picture points and depths.
//! Called by: `svg::scene`.
//! Source: orthographic projection; the window does not follow the outermost hundredth of the bodies far, so that one that flew away does not shrink the rest.

use tippe::Vec3;

/// Direction of sight as an orthonormal frame: picture x, picture y (up) and towards the viewer.
#[derive(Clone, Copy, Debug)]
pub struct Camera {
    right: Vec3,
    up: Vec3,
    /// Unit vector towards the viewer.
    pub toward: Vec3,
}

impl Default for Camera {
    fn default() -> Self {
        Self::looking_from(Vec3::new(0.5, -1.0, 0.5))
    }
}

impl Camera {
    /// A camera that looks at the world from a direction that is not vertical, z up.
    pub fn looking_from(direction: Vec3) -> Self {
        let toward = direction.normalize();
        let right = Vec3::Z.cross(toward).normalize();
        Self {
            right,
            up: toward.cross(right),
            toward,
        }
    }

    /// Where a point appears, in metres along the picture's axes, and how near it is to the viewer.
    pub fn see(&self, p: Vec3) -> (f64, f64, f64) {
        (p.dot(self.right), p.dot(self.up), p.dot(self.toward))
    }
}

/// A rectangle of the view, in metres along the picture's axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Left, lower, right, upper edge.
    pub edges: [f64; 4],
}

impl Window {
    /// A window over circles (x, y, radius); the outermost hundredth on each side may widen it by half, no more. `None` for no circles.
    pub fn around(circles: &[(f64, f64, f64)]) -> Option<Self> {
        Some(
            Self::without_outermost(circles, circles.len() / 100)?
                .reach_for(&Self::without_outermost(circles, 0)?, 0.5),
        )
    }

    fn without_outermost(circles: &[(f64, f64, f64)], skip: usize) -> Option<Self> {
        let kth_smallest = |value: &dyn Fn(&(f64, f64, f64)) -> f64| -> Option<f64> {
            let mut all: Vec<f64> = circles
                .iter()
                .map(value)
                .filter(|v| v.is_finite())
                .collect();
            all.sort_by(f64::total_cmp);
            all.get(skip.min(all.len().checked_sub(1)?)).copied()
        };
        let edges = [
            kth_smallest(&|c| c.0 - c.2)?,
            kth_smallest(&|c| c.1 - c.2)?,
            -kth_smallest(&|c| -(c.0 + c.2))?,
            -kth_smallest(&|c| -(c.1 + c.2))?,
        ];
        Some(Self { edges })
    }

    /// Width and height [m].
    pub fn size(&self) -> (f64, f64) {
        (self.edges[2] - self.edges[0], self.edges[3] - self.edges[1])
    }

    /// Grows towards another window, by at most `limit` times the larger side on each edge.
    pub fn reach_for(self, other: &Self, limit: f64) -> Self {
        let (w, h) = self.size();
        let most = limit * w.max(h);
        let [l, b, r, t] = self.edges;
        let [ol, ob, or, ot] = other.edges;
        Self {
            edges: [
                l.min(ol).max(l - most),
                b.min(ob).max(b - most),
                r.max(or).min(r + most),
                t.max(ot).min(t + most),
            ],
        }
    }

    /// A margin on every side, and no side shorter than a third of the other.
    pub fn padded(self) -> Self {
        let (w, h) = self.size();
        let long = w.max(h).max(1e-6);
        let grow = |side: f64| 0.04 * long + 0.5 * (long / 3.0 - side).max(0.0);
        let [l, b, r, t] = self.edges;
        Self {
            edges: [l - grow(w), b - grow(h), r + grow(w), t + grow(h)],
        }
    }
}

/// Width of a picture in its own units.
pub const WIDTH: f64 = 480.0;

/// A camera, the part of its view that is drawn, and what the picture is about.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Direction of sight.
    pub camera: Camera,
    /// What is drawn.
    pub window: Window,
    /// Picture units a metre.
    pub scale: f64,
    /// Middle of the moving bodies.
    pub middle: Vec3,
    /// Half the larger side of the window [m].
    pub extent: f64,
}

impl View {
    /// A view of a window with the moving bodies about `middle`.
    pub fn new(camera: Camera, window: Window, middle: Vec3) -> Self {
        let (w, h) = window.size();
        Self {
            camera,
            window,
            scale: WIDTH / w,
            middle,
            extent: 0.5 * w.max(h),
        }
    }

    /// Height of the picture in its own units.
    pub fn height(&self) -> f64 {
        self.window.size().1 * self.scale
    }

    /// Where a point is in the picture.
    pub fn project(&self, p: Vec3) -> (f64, f64) {
        let (x, y, _) = self.camera.see(p);
        (
            (x - self.window.edges[0]) * self.scale,
            (self.window.edges[3] - y) * self.scale,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_points_up_and_x_to_the_right() {
        let camera = Camera::default();
        let (x, y, _) = camera.see(Vec3::Z);
        assert!(x.abs() < 1e-15 && y > 0.5);
        assert!(camera.see(Vec3::X).0 > 0.5);
        // What is farther along y is farther from the eye.
        assert!(camera.see(Vec3::Y).2 < 0.0);
    }

    #[test]
    fn one_body_of_many_cannot_shrink_the_picture() {
        let mut circles = vec![(0.0, 0.0, 1.0); 200];
        circles.push((1e9, f64::NAN, 1.0));
        let window = Window::around(&circles).unwrap();
        assert_eq!(window.edges, [-1.0, -1.0, 2.0, 1.0]);
        assert_eq!(Window::around(&[]), None);
    }

    #[test]
    fn growing_is_limited() {
        let window = Window {
            edges: [0.0, 0.0, 2.0, 1.0],
        };
        let far = Window {
            edges: [-100.0, 0.25, 2.5, 0.5],
        };
        assert_eq!(window.reach_for(&far, 0.5).edges, [-1.0, 0.0, 2.5, 1.0]);
    }
}
