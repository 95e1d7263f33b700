//! The energy ledger and the contact forces against what mechanics says.

use crate::common;

use common::{COARSE, FINE, setup};
use tippe::Vec3;
use tippe_validate::analytic::{G, radians};
use tippe_validate::cases::{bounce, free_top, slope, stack};
use tippe_validate::sim::{GRAVITY, Sim, list};

#[test]
fn f00_ledger_of_free_flight_leaves_nothing_unexplained() {
    let text = format!(
        "[[body]]\nname = \"ball\"\nvelocity = {}\nangular_velocity = [0, 0, 10]\nmass = 1.0\nshape.sphere = {{ radius = 0.1 }}\n",
        list(Vec3::new(3.0, 0.0, 4.0))
    );
    for dt in [FINE, COARSE] {
        let mut sim = Sim::load(&setup(dt), GRAVITY, &text).unwrap();
        let total = sim.world.energy().0;
        sim.run_until(2.0, |_| {}).unwrap();
        let ledger = sim.world.ledger();
        assert!(ledger.unexplained.abs() < 1e-6 * total, "{ledger:?}");
        // Gravity did all the work there was.
        assert!(
            (ledger.gravity - (ledger.kinetic - total)).abs() < 1e-6 * total,
            "{ledger:?}"
        );
    }
}

#[test]
fn f13_ledger_of_a_free_body_leaves_nothing_unexplained() {
    for dt in [FINE, COARSE] {
        let text = free_top::body_text(Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.3, 5.0, 0.2));
        let mut sim = Sim::load(&setup(dt), Vec3::ZERO, &text).unwrap();
        let total = sim.world.energy().0;
        let mut worst = 0f64;
        sim.run_until(20.0, |sim| {
            worst = worst.max(sim.world.ledger().unexplained.abs())
        })
        .unwrap();
        assert!(worst < 1e-6 * total, "{worst}");
    }
}

#[test]
fn f01_friction_entry_is_the_energy_the_block_lost() {
    for mu in [0.35, 0.5, 0.8] {
        let (launched, sim) = slope::launch(&setup(FINE), mu).unwrap();
        // ½ m v₀² + m g d sin α, with m = 1 and v₀ = 2.
        let lost = 2.0 + G * launched.distance * libm::sin(radians(15.0));
        let ledger = sim.world.ledger();
        assert!(
            (ledger.friction / lost - 1.0).abs() < 1e-3,
            "μ {mu}: {lost} {ledger:?}"
        );
        assert!(
            ledger.position_correction.abs() < 1e-6 * lost,
            "μ {mu}: {ledger:?}"
        );
    }
}

#[test]
fn f06_restitution_entry_is_the_energy_the_ball_lost() {
    let mut sim = bounce::dropped(&setup(FINE), 0.5).unwrap();
    let total = sim.energy();
    sim.run_until(2.0, |_| {}).unwrap();
    let lost = total - sim.energy();
    let ledger = sim.world.ledger();
    assert!((lost - G).abs() < 1e-3 * G, "the ball rests: {lost}");
    assert!(
        (ledger.restitution / lost - 1.0).abs() < 1e-3,
        "{lost} {ledger:?}"
    );
    assert!(
        ledger.position_correction.abs() < 1e-6 * total,
        "{ledger:?}"
    );
}

#[test]
fn f19_force_under_a_resting_stack_is_its_weight() {
    for dt in [FINE, COARSE] {
        let count = 5;
        let (mut sim, ids) = stack::stacked(&setup(dt), count, 1.0).unwrap();
        let ground = sim.body("ground").unwrap();
        sim.run_until(0.5, |_| {}).unwrap();
        let (mut impulse, mut time) = (Vec3::ZERO, 0.0);
        sim.run_until(1.5, |sim| {
            for c in sim.world.contacts() {
                // The impulse acts + on B and − on A.
                if c.body_a == ground && c.body_b == ids[0] {
                    impulse += c.impulse();
                } else if c.body_b == ground && c.body_a == ids[0] {
                    impulse -= c.impulse();
                }
            }
            time += dt;
        })
        .unwrap();
        let weight = count as f64 * G;
        assert!(
            (impulse / time - Vec3::Z * weight).length() < 1e-6 * weight,
            "{impulse} over {time} s"
        );
    }
}
