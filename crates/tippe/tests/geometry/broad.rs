//! The broad phase: exactly the overlapping pairs, whatever the boxes and whatever came before.

use crate::geometry_support;

use geometry_support::Random;
use tippe::collide::broad::BroadPhase;
use tippe::collide::sweep::{Rectangle, overlapping_rectangles, overlapping_rectangles_counted};
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

/// Rectangles on average touched by as many others however many there are; a third of them on a lattice, so that they share sides.
fn rectangles(count: usize, random: &mut Random) -> Vec<Rectangle> {
    let width = (count as f64).sqrt();
    (0..count)
        .map(|i| {
            let mut min = [random.range(0.0, width), random.range(0.0, width)];
            let mut size = [random.range(0.0, 2.0), random.range(0.0, 2.0)];
            if i % 3 == 0 {
                min = min.map(f64::floor);
                size = size.map(f64::round);
            }
            let max = [min[0] + size[0], min[1] + size[1]];
            Rectangle { min, max }
        })
        .collect()
}

#[test]
fn cl_14_a_sweep_finds_the_rectangles_that_all_pairs_find() {
    let mut random = Random(14);
    let all = rectangles(10_000, &mut random);
    let mut truth = Vec::new();
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate().skip(i + 1) {
            if (0..2).all(|k| a.min[k] <= b.max[k] && b.min[k] <= a.max[k]) {
                truth.push((i as u32, j as u32));
            }
        }
    }
    assert_eq!(overlapping_rectangles(&all), truth);
    // Nested, equal, empty and impossible ones.
    let odd = |min: f64, max: f64| Rectangle {
        min: [min; 2],
        max: [max; 2],
    };
    let few = [
        odd(-1.0, 1.0),
        odd(-0.0, 0.0),
        odd(1.0, 2.0),
        odd(0.5, 0.4),
        odd(f64::NAN, 1.0),
        odd(0.0, f64::INFINITY),
        odd(-1.0, 1.0),
        odd(-3.0, -1.0),
    ];
    let pairs = [(0, 1), (0, 2), (0, 6), (0, 7), (1, 6), (2, 6), (6, 7)];
    assert_eq!(overlapping_rectangles(&few), pairs);
    assert!(overlapping_rectangles(&[]).is_empty());
    // One ends where the other begins, at 0 of either sign.
    let beside = |min: f64, max: f64| Rectangle {
        min: [min, 0.0],
        max: [max, 1.0],
    };
    for (end, begin) in [(-0.0, 0.0), (0.0, -0.0)] {
        let two = [beside(-1.0, end), beside(begin, 1.0)];
        assert_eq!(overlapping_rectangles(&two), [(0, 1)]);
    }
}

#[test]
fn cl_14_ten_times_the_rectangles_cost_less_than_fifteen_times_as_much() {
    // Counted, not timed: nodes of the tree and intervals in them that were looked at.
    let mut random = Random(15);
    let mut looks = |count: usize| {
        let (pairs, looks) = overlapping_rectangles_counted(&rectangles(count, &mut random));
        assert!(pairs.len() > count);
        looks
    };
    let (few, many) = (looks(10_000), looks(100_000));
    println!("{few} looks for 10,000 rectangles, {many} for 100,000");
    assert!(many < 15 * few, "{many} against {few}");
}
