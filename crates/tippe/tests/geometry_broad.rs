//! The broad phase: exactly the overlapping pairs, whatever the boxes and whatever came before.

mod geometry_support;

use geometry_support::Random;
use tippe::collide::broad::BroadPhase;
use tippe::math::Vec3;
use tippe::shape::Aabb;

fn brute_force(boxes: &[Aabb], movable: &[bool]) -> Vec<(u32, u32)> {
    let mut out = Vec::new();
    for i in 0..boxes.len() {
        for j in i + 1..boxes.len() {
            let present = !boxes[i].is_empty() && !boxes[j].is_empty();
            if present && (movable[i] || movable[j]) && boxes[i].overlaps(&boxes[j]) {
                out.push((i as u32, j as u32));
            }
        }
    }
    out
}

/// A random set with all sorts of boxes: ordinary, large, flat, a point, far away, unbounded, empty, not a number.
fn random_boxes(random: &mut Random, count: usize) -> (Vec<Aabb>, Vec<bool>) {
    let spread = random.range(0.5, 8.0);
    let mut boxes = Vec::new();
    let mut movable = Vec::new();
    for _ in 0..count {
        let half = random.vector(0.3).abs() + 0.1;
        let c = random.vector(spread);
        boxes.push(match random.next() % 40 {
            0 => Aabb::EMPTY,
            1 => Aabb {
                min: Vec3::NAN,
                max: c,
            },
            2 => Aabb::from_center(c, half * 30.0),
            3 => Aabb::from_center(c, half * 1e4),
            4 => Aabb {
                min: Vec3::NEG_INFINITY,
                max: Vec3::new(f64::INFINITY, f64::INFINITY, c.z),
            },
            5 => Aabb::EVERYTHING,
            6 => Aabb::from_center(c * 1e9, half),
            7 => Aabb { min: c, max: c },
            8 => Aabb::from_center(c, half.with_x(0.0)),
            9 => Aabb::from_center(Vec3::splat(1e300), half),
            10 => Aabb {
                min: Vec3::splat(-f64::MAX),
                max: Vec3::splat(f64::MAX),
            },
            // Neighbours that share a face exactly.
            11..=20 => Aabb::from_center((c * 2.0).round() * 0.5, Vec3::splat(0.25)),
            _ => Aabb::from_center(c, half),
        });
        movable.push(random.unit() < 0.7);
    }
    (boxes, movable)
}

#[test]
fn broad_phase_equals_brute_force() {
    let mut random = Random(21);
    let mut reused = BroadPhase::default();
    for k in 0..400 {
        let count = [0, 1, 2, 3, 5, 17, 100, 300][k % 8];
        let (boxes, movable) = random_boxes(&mut random, count);
        let truth = brute_force(&boxes, &movable);
        // The answer is the same from a fresh one, one that has seen other worlds, and the same one again.
        assert_eq!(BroadPhase::default().update(&boxes, &movable), truth);
        assert_eq!(reused.update(&boxes, &movable), truth);
        assert_eq!(reused.update(&boxes, &movable), truth);
        // Only the movers have moved.
        let mut moved = boxes.clone();
        for (b, m) in moved.iter_mut().zip(&movable) {
            if *m {
                *b = Aabb {
                    min: b.min + 0.2,
                    max: b.max + 0.2,
                };
            }
        }
        assert_eq!(
            reused.update(&moved, &movable),
            brute_force(&moved, &movable)
        );
    }
}

#[test]
fn broad_phase_of_one_size_and_of_one_place() {
    let mut broad = BroadPhase::default();
    let same = vec![Aabb::from_center(Vec3::ONE, Vec3::ONE); 50];
    assert_eq!(broad.update(&same, &[true; 50]).len(), 50 * 49 / 2);
    assert!(broad.update(&same, &[false; 50]).is_empty());
    let row: Vec<Aabb> = (0..1000)
        .map(|i| Aabb::from_center(Vec3::X * f64::from(i), Vec3::splat(0.5)))
        .collect();
    let pairs = broad.update(&row, &[true; 1000]);
    assert!(
        pairs
            .iter()
            .enumerate()
            .all(|(i, p)| *p == (i as u32, i as u32 + 1))
            && pairs.len() == 999
    );
}
