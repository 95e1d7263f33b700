//! Time of one pair of shapes, beside parry3d-f64 in the same run: `cargo run --release -p tippe --example geometry_speed`.
//!
//! Both compute all contact points of pairs that just touch or overlap a little: one after another, so that their vertices are not in
//! the caches ("cold"), and each pair along a slow motion, parry with the manifolds it keeps, Tippe with where its last search ended ("coherent"). Times are
//! of the processor, the least of several rounds: the ratios are what to look at. A word on the command line chooses among the pairs.

use cpu_time::ProcessTime;
use parry3d_f64::math::{Pose3, Rot3, Vector};
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d_f64::shape::{ConvexPolyhedron, Cuboid, SharedShape};
use std::hint::black_box;
use std::sync::Arc;
use tippe::collide::narrow::{Start, collide_shapes, collide_shapes_from};
use tippe::geometry::closest_points;
use tippe::math::{Pose, Quat, Vec3, rotation};
use tippe::shape::{ConvexHull, Shape};

const PAIRS: usize = 200;
const ROUNDS: usize = 15;
/// Distance up to which contacts are looked for [m], as in a step.
const MARGIN: f64 = 0.01;

/// splitmix64.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }
    fn rotation(&mut self) -> Quat {
        rotation::exp(self.vector() * 3.0)
    }
}

/// A shape for both libraries.
struct Both {
    ours: Shape,
    theirs: SharedShape,
}

fn cuboid(random: &mut Random) -> Both {
    let half = Vec3::splat(0.3) + (random.vector() + 1.0) * 0.2;
    Both {
        ours: Shape::Cuboid { half },
        theirs: SharedShape::new(Cuboid::new(Vector::new(half.x, half.y, half.z))),
    }
}

/// Points on an ellipsoid: all of them are vertices.
fn hull(random: &mut Random, count: usize) -> Both {
    let half = Vec3::splat(0.4) + (random.vector() + 1.0) * 0.1;
    let points: Vec<Vec3> = (0..count)
        .map(|_| random.vector().normalize_or(Vec3::X) * half)
        .collect();
    let ours = ConvexHull::new(&points).expect("points with a volume");
    let vertices: Vec<Vector> = points.iter().map(|p| Vector::new(p.x, p.y, p.z)).collect();
    let theirs = ConvexPolyhedron::from_convex_hull(&vertices).expect("points with a volume");
    Both {
        ours: Shape::Hull(Arc::new(ours)),
        theirs: SharedShape::new(theirs),
    }
}

struct Pair {
    a: Both,
    b: Both,
    p: Pose,
    q: Pose,
    /// Motion of B from one look to the next.
    step: Pose,
}

fn pair(random: &mut Random, make: &dyn Fn(&mut Random) -> Both) -> Pair {
    let (a, b) = (make(random), make(random));
    let p = Pose::new(random.vector(), random.rotation());
    let mut q = Pose::new(
        p.position + random.vector().normalize_or(Vec3::X),
        random.rotation(),
    );
    let gap = -0.01 + 0.012 * random.unit();
    for _ in 0..2 {
        let s = closest_points(&a.ours, &p, &b.ours, &q).expect("finite shapes");
        q.position += s.normal * (gap - s.distance);
    }
    let step = Pose::new(
        random.vector() * 1e-4,
        rotation::exp(random.vector() * 1e-3),
    );
    Pair { a, b, p, q, step }
}

fn theirs(pose: &Pose) -> Pose3 {
    let (x, r) = (pose.position, pose.rotation);
    Pose3 {
        rotation: Rot3::from_xyzw(r.x, r.y, r.z, r.w),
        translation: Vector::new(x.x, x.y, x.z),
    }
}

/// Least time of a call over several rounds [ns].
fn time(mut round: impl FnMut() -> usize) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = ProcessTime::now();
        let calls = round();
        best = best.min(start.elapsed().as_nanos() as f64 / calls as f64);
    }
    best
}

/// Makes one shape, for Tippe and for parry.
type Make = &'static dyn Fn(&mut Random) -> Both;

fn main() {
    println!(
        "| pair | Tippe, cold [µs] | parry, cold [µs] | ratio | Tippe, coherent [µs] | parry, coherent [µs] |"
    );
    println!("|---|---|---|---|---|---|");
    let kinds: [(&str, Make); 4] = [
        ("box, box", &cuboid),
        ("hull 16, hull 16", &|r| hull(r, 16)),
        ("hull 64, hull 64", &|r| hull(r, 64)),
        ("hull 500, hull 500", &|r| hull(r, 500)),
    ];
    let only = std::env::args().nth(1).unwrap_or_default();
    for (name, make) in kinds.into_iter().filter(|k| k.0.contains(&only)) {
        let mut random = Random(11);
        let pairs: Vec<Pair> = (0..PAIRS).map(|_| pair(&mut random, make)).collect();
        let mut points = Vec::new();
        let ours = time(|| {
            for x in &pairs {
                points.clear();
                collide_shapes(&x.a.ours, &x.p, &x.b.ours, &x.q, MARGIN, &mut points);
                black_box(&points);
            }
            pairs.len()
        });
        let dispatcher = DefaultQueryDispatcher;
        let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
        let relative: Vec<Pose3> = pairs
            .iter()
            .map(|x| theirs(&x.p.inverse().compose(&x.q)))
            .collect();
        let cold = time(|| {
            for (x, r) in pairs.iter().zip(&relative) {
                manifolds.clear();
                let mut workspace = None;
                let _ = dispatcher.contact_manifolds(
                    r,
                    &*x.a.theirs.0,
                    &*x.b.theirs.0,
                    MARGIN,
                    &mut manifolds,
                    &mut workspace,
                );
                black_box(&manifolds);
            }
            pairs.len()
        });
        const LOOKS: usize = 20;
        let paths: Vec<Vec<(Pose, Pose3)>> = pairs
            .iter()
            .map(|x| {
                let mut seen = x.p.inverse().compose(&x.q);
                (0..LOOKS)
                    .map(|_| {
                        seen = x.step.compose(&seen);
                        (x.p.compose(&seen), theirs(&seen))
                    })
                    .collect()
            })
            .collect();
        let ours_coherent = time(|| {
            for (x, path) in pairs.iter().zip(&paths) {
                let mut start = Start::default();
                for (q, _) in path {
                    points.clear();
                    collide_shapes_from(
                        &x.a.ours,
                        &x.p,
                        &x.b.ours,
                        q,
                        MARGIN,
                        &mut start,
                        &mut points,
                    );
                    black_box(&points);
                }
            }
            LOOKS * pairs.len()
        });
        let coherent = time(|| {
            for (x, path) in pairs.iter().zip(&paths) {
                manifolds.clear();
                let mut workspace = None;
                for (_, r) in path {
                    let _ = dispatcher.contact_manifolds(
                        r,
                        &*x.a.theirs.0,
                        &*x.b.theirs.0,
                        MARGIN,
                        &mut manifolds,
                        &mut workspace,
                    );
                    black_box(&manifolds);
                }
            }
            LOOKS * pairs.len()
        });
        println!(
            "| {name} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
            ours * 1e-3,
            cold * 1e-3,
            cold / ours,
            ours_coherent * 1e-3,
            coherent * 1e-3
        );
    }
}
