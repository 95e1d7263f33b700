//! The laboratory against the tables of the lecture: elastic balls, gliders, bricks.

use tippe::compliance::ContactLaw;
use tippe::laboratory::balls::Chain;
use tippe::laboratory::bricks::Bricks;
use tippe::laboratory::gliders::{Gliders, uniform_frequencies};
use tippe::math::lcp::Kernel;

fn chain(count: usize, exponent: f64) -> Chain {
    let law = ContactLaw {
        stiffness: 1.0,
        exponent,
    };
    Chain::equal(count, 1.0, law).expect("chain")
}

fn speeds(count: usize, coming: usize) -> Vec<f64> {
    (0..count)
        .map(|i| if i < coming { 1.0 } else { 0.0 })
        .collect()
}

/// One row of `TABLE`.
type Row = (f64, [f64; 3], [f64; 5], [f64; 5], f64);

/// Spec CL §8.2: final speeds by exponent, for three balls and one, five and one, five and two. The times are those of velocity Verlet
/// at τ/1000; the requirement prints 4.27, 4.83, 5.10, 5.25 and 5.25, later by up to 0.4 % since it samples.
const TABLE: [Row; 5] = [
    (
        1.0,
        [-0.1303, 0.1502, 0.9800],
        [-0.1323, -0.0753, -0.0310, 0.2962, 0.9424],
        [-0.1709, -0.0492, 0.3820, 0.6610, 1.1771],
        4.2625,
    ),
    (
        1.5,
        [-0.0710, 0.0764, 0.9945],
        [-0.0711, -0.0303, -0.0145, 0.1270, 0.9888],
        [-0.1126, -0.0420, 0.2145, 0.8004, 1.1397],
        4.8232,
    ),
    (
        2.0,
        [-0.0379, 0.0394, 0.9985],
        [-0.0379, -0.0101, -0.0029, 0.0531, 0.9978],
        [-0.0700, -0.0210, 0.1108, 0.8857, 1.0945],
        5.0780,
    ),
    (
        3.0,
        [-0.0104, 0.0105, 0.9999],
        [-0.0104, -0.0009, -0.0001, 0.0115, 0.9999],
        [-0.0230, -0.0030, 0.0279, 0.9642, 1.0339],
        5.2421,
    ),
    (
        4.0,
        [-0.0028, 0.0028, 1.0000],
        [-0.0028, -0.0001, 0.0, 0.0029, 1.0000],
        [-0.0065, -0.0003, 0.0069, 0.9899, 1.0099],
        5.2437,
    ),
];

#[test]
fn cl_05_the_table_of_elastic_chains_to_its_digits() {
    for (r, three, five, two, propagation) in TABLE {
        for (count, coming, want) in [(3, 1, &three[..]), (5, 1, &five), (5, 2, &two)] {
            let found = chain(count, r).collide(&speeds(count, coming)).unwrap();
            assert!(found.finished && found.energy_error.abs() < 1e-9, "{r}");
            for (v, w) in found.velocities.iter().zip(want) {
                assert!((v - w).abs() < 5.5e-5, "r = {r}, {count}: {v} {w}");
            }
            if coming == 1 && count == 5 {
                let t = found.propagation;
                assert!((t - propagation).abs() < 5.5e-5, "r = {r}: {t}");
            }
        }
    }
}

/// Steel balls of the lecture: 3.2e-5 s for Hooke's law, 4.5e-4 s for Hertz', of equal numbers; dispersion falls and time grows with r.
#[test]
fn cl_05_the_lectures_times_and_conclusions() {
    for (exponent, want) in [(1.0, 3.199e-5), (1.5, 4.500e-4)] {
        let law = ContactLaw {
            stiffness: 1.879e10,
            exponent,
        };
        let balls = Chain::equal(5, 1.055, law).unwrap();
        let mut v = vec![0.0; 5];
        v[0] = 0.451;
        let t = balls.collide(&v).unwrap().propagation;
        assert!((t / want - 1.0).abs() < 3e-3, "{t:e} {want:e}");
    }
    let left = |r: f64| 1.0 - chain(5, r).collide(&speeds(5, 1)).unwrap().velocities[4];
    assert!(left(1.0) > left(1.5) && left(1.5) > left(2.0) && left(2.0) > left(3.0));
    // After the first hit the balls are apart: the last two part faster than the others.
    let v = chain(5, 1.5).collide(&speeds(5, 1)).unwrap().velocities;
    assert!(v.windows(2).all(|w| w[0] < w[1]), "{v:?}");
}

#[test]
fn cl_06_chains_without_dispersion_pass_one_and_two_exactly() {
    let tables: [(usize, &[f64], &[f64]); 3] = [
        (3, &[1.0, 2.0 / 3.0, 1.0], &[1.0, 1.0]),
        (4, &[1.0, 0.6, 0.6, 1.0], &[1.0, 1.2, 1.0]),
        (
            5,
            &[1.0, 4.0 / 7.0, 18.0 / 35.0, 4.0 / 7.0, 1.0],
            &[1.0, 9.0 / 7.0, 9.0 / 7.0, 1.0],
        ),
    ];
    for (count, masses, springs) in tables {
        let gliders = Gliders::without_dispersion(count).unwrap();
        for (m, want) in gliders.masses.iter().zip(masses) {
            assert!((m - want).abs() < 1e-12, "{count}: {m} {want}");
        }
        for (c, want) in gliders.springs.iter().zip(springs) {
            assert!((c - want).abs() < 1e-12, "{count}: {c} {want}");
        }
        let w = gliders.frequencies().unwrap();
        for (k, w_k) in w.iter().enumerate() {
            assert!((w_k - k as f64 * w[1]).abs() < 1e-7 * w[count - 1], "{w:?}");
        }
        // One in, one out; two in, two out: mirrored, by equal masses at mirrored places.
        for coming in 1..=2 {
            let start = speeds(count, coming);
            let found = gliders.bumpers().collide(&start).unwrap();
            for (v, want) in found.velocities.iter().zip(start.iter().rev()) {
                assert!(
                    (v - want).abs() < 1e-8,
                    "{count}, {coming}: {:?}",
                    found.velocities
                );
            }
        }
    }
    let long = Gliders::without_dispersion(12).unwrap();
    let found = long.bumpers().collide(&speeds(12, 1)).unwrap();
    assert!(
        (found.velocities[11] - 1.0).abs() < 1e-7,
        "{:?}",
        found.velocities
    );
}

#[test]
fn cl_06_a_uniform_chain_has_its_frequencies_and_disperses() {
    for count in [2, 3, 5, 9] {
        let found = Gliders::uniform(count, 2.0, 7.0).frequencies().unwrap();
        for (w, want) in found.iter().zip(uniform_frequencies(count, 2.0, 7.0)) {
            assert!((w - want).abs() < 1e-7, "{found:?}");
        }
    }
    let v = Gliders::uniform(5, 1.0, 1.0)
        .bumpers()
        .collide(&speeds(5, 1))
        .unwrap();
    assert!((v.velocities[4] - 0.9424).abs() < 5.5e-5);
}

#[test]
fn cl_33_bricks_that_lean_too_far_open_at_the_lowest_contact() {
    let tables = [
        (
            0.3,
            [
                5.7706, 33.4694, 6.9247, 22.5053, 6.3476, 13.2724, 4.0394, 5.7706,
            ],
            0.0,
        ),
        (
            0.5,
            [
                0.0, 35.8766, 3.5036, 20.8813, 4.2977, 10.2771, 2.9430, 3.5036,
            ],
            -3.3634,
        ),
        (
            0.6,
            [
                0.0, 29.9341, 3.3152, 14.9476, 3.6227, 5.7608, 2.1188, 1.1771,
            ],
            -4.6530,
        ),
    ];
    for (shift, forces, turn) in tables {
        for kernel in [Kernel::Lemke, Kernel::Dantzig, Kernel::Principal] {
            let moment = Bricks::lecture(shift).release(kernel).unwrap();
            for (f, want) in moment.forces.iter().zip(forces) {
                assert!((f - want).abs() < 5.5e-5, "{shift}: {f} {want}");
            }
            for a in &moment.turns {
                assert!((a - turn).abs() < 5.5e-5, "{shift}: {a} {turn}");
            }
        }
    }
    let moment = Bricks::lecture(0.5).release(Kernel::Dantzig).unwrap();
    assert!((moment.openings[0] - 5.0451).abs() < 5.5e-5);
    let falls = [1.6817, 0.0, -1.6817, -3.3634];
    for (a, want) in moment.accelerations.iter().zip(falls) {
        assert!((a - want).abs() < 5.5e-5, "{a} {want}");
    }
    // α = −g Σ(x_i − x_p)/Σ(I/m + (x_i − x_p)²) where only the lowest left contact opens.
    let (inertia, mut above, mut below) = ((4.0 + 0.25) / 12.0, 0.0, 0.0);
    for k in 1..=4 {
        let x = 0.5 * f64::from(k) - 1.0;
        above += x;
        below += inertia + x * x;
    }
    assert!((moment.turns[0] + 9.81 * above / below).abs() < 1e-9);
}

#[test]
fn numbers_without_sense_are_refused() {
    let law = |stiffness: f64, exponent: f64| ContactLaw {
        stiffness,
        exponent,
    };
    let field = |c: Result<Chain, tippe::BuildError>| c.unwrap_err().field;
    assert_eq!(field(Chain::equal(1, 1.0, law(1.0, 1.0))), "masses");
    assert_eq!(field(Chain::equal(3, 0.0, law(1.0, 1.0))), "masses");
    assert_eq!(field(Chain::equal(3, 1.0, law(0.0, 1.0))), "stiffness");
    assert_eq!(field(Chain::equal(3, 1.0, law(1.0, 0.9))), "exponent");
    assert!(chain(3, 1.0).collide(&[1.0, f64::NAN, 0.0]).is_err());
    assert!(chain(3, 1.0).collide(&[1.0]).is_err());
    assert!(Gliders::without_dispersion(1).is_err());
    assert!(Bricks::lecture(2.0).release(Kernel::Lemke).is_err());
    // Nothing moves: nothing happens.
    let rest = chain(3, 1.5).collide(&[0.0; 3]).unwrap();
    assert!(rest.finished && rest.velocities == [0.0; 3]);
}
