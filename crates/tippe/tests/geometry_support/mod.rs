//! What the geometry tests share: a generator of random shapes and poses.

#![allow(dead_code)]

use std::sync::Arc;
use tippe::math::{Pose, Quat, Vec3};
use tippe::shape::{ConvexHull, Rounded, Shape};

/// A small generator (splitmix64), so that every run sees the same cases.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
    pub fn vector(&mut self, size: f64) -> Vec3 {
        Vec3::new(
            self.range(-size, size),
            self.range(-size, size),
            self.range(-size, size),
        )
    }
    pub fn rotation(&mut self) -> Quat {
        loop {
            let q = Quat::from_xyzw(
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
            );
            let l = q.length();
            if l > 0.1 && l <= 1.0 {
                return q.normalize();
            }
        }
    }
    pub fn pose(&mut self, size: f64) -> Pose {
        Pose::new(self.vector(size), self.rotation())
    }
    pub fn shape(&mut self, kind: usize) -> Shape {
        match kind {
            0 => Shape::Sphere {
                radius: self.range(0.2, 1.0),
            },
            1 => Shape::Cuboid {
                half: Vec3::new(
                    self.range(0.2, 1.0),
                    self.range(0.2, 1.0),
                    self.range(0.2, 1.0),
                ),
            },
            2 => Shape::Capsule {
                half_length: self.range(0.2, 1.0),
                radius: self.range(0.1, 0.6),
            },
            3 => Shape::HalfSpace {
                normal: self.rotation() * Vec3::Z,
            },
            4 => Shape::Cylinder {
                half_length: self.range(0.2, 1.0),
                radius: self.range(0.2, 1.0),
            },
            5 => Shape::Cone {
                half_length: self.range(0.2, 1.0),
                radius: self.range(0.2, 1.0),
            },
            7 => {
                let kind = [1, 4, 6][(self.next() % 3) as usize];
                let core = self.shape(kind);
                let radius = self.range(0.02, 0.3);
                Rounded::new(core, radius)
                    .map_or(Shape::Sphere { radius }, |r| Shape::Rounded(Arc::new(r)))
            }
            _ => {
                let count = 4 + (self.next() % 17) as usize;
                self.hull(count, Vec3::ONE)
            }
        }
    }
    /// The hull of `count` points in a box of half extents `half`, near its corners, on its surface or anywhere.
    pub fn hull(&mut self, count: usize, half: Vec3) -> Shape {
        loop {
            let round = self.unit() < 0.5;
            let points: Vec<Vec3> = (0..count)
                .map(|_| {
                    let p = self.vector(1.0);
                    (if round { p.normalize_or(Vec3::X) } else { p }) * half
                })
                .collect();
            if let Ok(hull) = ConvexHull::new(&points) {
                return Shape::Hull(Arc::new(hull));
            }
        }
    }
}
