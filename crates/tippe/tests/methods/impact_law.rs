//! The impact law: references, closed forms, and what must hold for every impact.

#![allow(non_snake_case)]

use crate::geometry_support;
use crate::support;

use std::f64::consts::{FRAC_PI_4, TAU};

use geometry_support::Random;
use support::{below, near, near_vec};
use tippe::dynamics::impact::{
    AfterStop, Impact, Phase, Slip, after_stop, impact, impact_with_path,
};
use tippe::dynamics::impulse::{energy_change, point_response};
use tippe::math::glam::{DMat2, DVec2};
use tippe::{ImpactLaw, Mat3, Surface, Vec3};

const LAWS: [ImpactLaw; 3] = [ImpactLaw::Stronge, ImpactLaw::Poisson, ImpactLaw::Newton];

fn surface(friction: f64, restitution: f64, impact_law: ImpactLaw) -> Surface {
    Surface {
        impact_law,
        ..Surface::new(friction, restitution)
    }
}

/// An impact with the normal along z.
fn hit(K: Mat3, u: Vec3, friction: f64, e: f64, law: ImpactLaw) -> Impact {
    impact(K, Vec3::Z, u, &surface(friction, e, law)).expect("a physical impact")
}

/// ½ uᵀ K⁻¹ u: the energy that impulses at the contact can reach.
fn contact_energy(K: Mat3, u: Vec3) -> f64 {
    0.5 * u.dot(K.inverse() * u)
}

/// K of one or two random bodies: masses, inertias and lever arms over several orders of magnitude.
fn random_K(random: &mut Random) -> Mat3 {
    let mut K = Mat3::ZERO;
    for _ in 0..1 + random.next() % 2 {
        let size = libm::pow(10.0, random.range(-1.0, 1.0));
        let mass = libm::pow(10.0, random.range(-1.0, 1.0));
        // Moments of a box, so that they obey the triangle inequality.
        let side = Vec3::new(
            random.range(0.1, 1.0),
            random.range(0.1, 1.0),
            random.range(0.1, 1.0),
        );
        let s = side * side * size * size;
        let moments = Vec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 12.0);
        let R = Mat3::from_quat(random.rotation());
        let inverse = R * Mat3::from_diagonal(moments.recip()) * R.transpose();
        K += point_response(1.0 / mass, inverse, random.vector(size));
    }
    K
}

/// A random velocity of approach; tangential part from far smaller to far larger than the normal one.
fn random_u(random: &mut Random) -> Vec3 {
    let angle = random.range(0.0, TAU);
    let slip = libm::pow(10.0, random.range(-3.0, 1.5));
    Vec3::new(libm::cos(angle) * slip, libm::sin(angle) * slip, -1.0) * random.range(0.1, 3.0)
}

fn count(release: usize) -> usize {
    if cfg!(debug_assertions) {
        release / 10
    } else {
        release
    }
}

#[test]
fn mc_14_impulses_and_velocities_of_the_reference_impacts() {
    let data: serde_json::Value =
        serde_json::from_str(include_str!("../data/single_impacts.json")).unwrap();
    for (i, case) in data["cases"].as_array().unwrap().iter().enumerate() {
        let (mu, e) = (case["mu"].as_f64().unwrap(), case["e"].as_f64().unwrap());
        for (name, law) in [
            ("poisson", ImpactLaw::Poisson),
            ("stronge", ImpactLaw::Stronge),
        ] {
            let found = hit(matrix(&case["K"]), vector(&case["u0"]), mu, e, law);
            let wanted = &case[name];
            let what = format!("case {i}, {name}");
            near_vec(&what, found.impulse, vector(&wanted["p"]), 1e-8);
            near_vec(&what, found.velocity, vector(&wanted["u"]), 1e-8);
            let gain = wanted["delta_energy"].as_f64().unwrap();
            near(&what, found.energy_change, gain, 1e-8);
            assert_eq!(found.slip.name(), wanted["end"].as_str().unwrap(), "{what}");
            assert_eq!(found.jammed, case["kind"] == "jam", "{what}");
            assert!(!found.capped && !found.guarded && !found.locked, "{what}");
        }
    }
}

#[test]
fn mc_14_sphere_in_closed_form() {
    let K = Mat3::from_diagonal(Vec3::new(3.5, 3.5, 1.0));
    for law in LAWS {
        let sticks = hit(K, Vec3::new(1.0, 0.5, -1.0), 0.3, 0.8, law);
        near_vec(
            "p",
            sticks.impulse,
            Vec3::new(-2.0 / 7.0, -1.0 / 7.0, 1.8),
            1e-10,
        );
        near_vec("u", sticks.velocity, Vec3::Z * 0.8, 1e-10);
        assert_eq!(sticks.slip, Slip::Sticks);
        let slides = hit(K, Vec3::new(4.0, 1.0, -1.0), 0.3, 0.8, law);
        let p = Vec3::new(-0.523_876_950_078, -0.130_969_237_520, 1.8);
        near_vec("p", slides.impulse, p, 1e-11);
        let u = Vec3::new(2.166_430_674_725, 0.541_607_668_681, 0.8);
        near_vec("u", slides.velocity, u, 1e-11);
        assert_eq!(slides.slip, Slip::Slides);
    }
    // Sticks where |u_t| ≤ 7/2 μ (1 + e) |u_n|, on both sides of the bound.
    let bound = 3.5 * 0.3 * 1.8;
    for (slip, state) in [(bound - 1e-9, Slip::Sticks), (bound + 1e-9, Slip::Slides)] {
        let u = Vec3::new(0.6 * slip, 0.8 * slip, -1.0);
        assert_eq!(hit(K, u, 0.3, 0.8, ImpactLaw::Stronge).slip, state);
    }
}

/// K of a thin rod (1 kg, 1 m) whose lower end touches, at the angle to the ground given by its sine and cosine.
fn rod(sin: f64, cos: f64) -> Mat3 {
    Mat3::from_cols(
        Vec3::new(1.0 + 3.0 * sin * sin, 0.0, -3.0 * sin * cos),
        Vec3::new(0.0, 4.0, 0.0),
        Vec3::new(-3.0 * sin * cos, 0.0, 1.0 + 3.0 * cos * cos),
    )
}

#[test]
fn mc_14_rod_in_closed_form() {
    let at_45 = rod(0.5_f64.sqrt(), 0.5_f64.sqrt());
    for law in LAWS {
        // Slides although it arrives without slip.
        let found = hit(at_45, Vec3::NEG_Z, 0.5, 0.5, law);
        near_vec(
            "p",
            found.impulse,
            Vec3::new(3.0 / 7.0, 0.0, 6.0 / 7.0),
            1e-10,
        );
        near_vec("u", found.velocity, Vec3::new(-3.0 / 14.0, 0.0, 0.5), 1e-10);
        assert_eq!(found.slip, Slip::Resumes);
        // Sticks from μ = 0.6 on.
        let found = hit(at_45, Vec3::NEG_Z, 0.7, 0.5, law);
        near_vec("p", found.impulse, Vec3::new(0.5625, 0.0, 0.9375), 1e-10);
        near_vec("u", found.velocity, Vec3::Z * 0.5, 1e-10);
        assert_eq!(found.slip, Slip::Sticks);
        for (mu, slip) in [(0.6 - 1e-9, Slip::Resumes), (0.6 + 1e-9, Slip::Sticks)] {
            assert_eq!(hit(at_45, Vec3::NEG_Z, mu, 0.5, law).slip, slip);
        }
    }
    let steep = rod(2.0 / 5.0_f64.sqrt(), 1.0 / 5.0_f64.sqrt());
    let found = hit(
        steep,
        Vec3::new(1.0, 0.0, -0.1),
        1.6,
        0.5,
        ImpactLaw::Stronge,
    );
    let p = Vec3::new(-0.068_181_818_182, 0.0, 0.042_613_636_364);
    near_vec("p", found.impulse, p, 1e-11);
    near_vec(
        "u",
        found.velocity,
        Vec3::new(0.717_045_454_545, 0.0, 0.05),
        1e-11,
    );
}

#[test]
fn mc_14_sliding_agrees_with_direct_integration() {
    // Classical Runge–Kutta on dP/dP_n = (−μ ŵ, 1), over the normal impulse that the law found; steps short against slip / rate.
    let mut random = Random(14);
    let mut compared = 0;
    while compared < count(500).max(40) {
        let (K, u) = (random_K(&mut random), random_u(&mut random));
        let (mu, e) = (random.range(0.05, 1.5), random.unit());
        let law = surface(mu, e, LAWS[random.next() as usize % 3]);
        let (found, path) = impact_with_path(K, Vec3::Z, u, &law).unwrap();
        let slips = path.points.iter().map(|p| p.velocity.truncate().length());
        if slips.fold(f64::INFINITY, f64::min) < 0.2 * u.length() {
            continue;
        }
        let steps = 2000;
        let h = found.impulse.z / f64::from(steps);
        let rate = |P: Vec3| (-mu * (u + K * P).truncate().normalize()).extend(1.0);
        let mut P = Vec3::ZERO;
        for _ in 0..steps {
            let k1 = rate(P);
            let k2 = rate(P + 0.5 * h * k1);
            let k3 = rate(P + 0.5 * h * k2);
            let k4 = rate(P + h * k3);
            P += h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4);
        }
        near_vec("P", found.impulse, P, 1e-9 * P.length());
        compared += 1;
    }
}

#[test]
fn mc_14_static_and_kinetic_friction_have_their_own_part() {
    // What arrives sliding has μ_k until it stops; then μ_s decides.
    let K = Mat3::from_diagonal(Vec3::new(3.5, 3.5, 1.0));
    let both = Surface {
        friction_kinetic: 0.3,
        ..Surface::new(0.4, 0.8)
    };
    let between = Vec3::new(3.5 * 0.35 * 1.8, 0.0, -1.0);
    let found = impact(K, Vec3::Z, between, &both).unwrap();
    assert_eq!(found.slip, Slip::Slides);
    near("p_t", found.impulse.x, -0.3 * 1.8, 1e-12);
    // The rod at 45° needs 0.6 to be held: μ_s holds it, μ_k alone would not.
    let at_45 = rod(0.5_f64.sqrt(), 0.5_f64.sqrt());
    for (mu_s, slip) in [(0.59, Slip::Resumes), (0.61, Slip::Sticks)] {
        let both = Surface {
            friction_kinetic: 0.4,
            ..Surface::new(mu_s, 0.5)
        };
        let found = impact(at_45, Vec3::Z, Vec3::NEG_Z, &both).unwrap();
        assert_eq!(found.slip, slip);
        if slip == Slip::Resumes {
            near("cone", found.impulse.x / found.impulse.z, 0.4, 1e-12);
        }
    }
}

#[test]
fn mc_15_restitution_gives_back_what_each_law_says() {
    let mut random = Random(15);
    for _ in 0..count(20_000) {
        let (K, u) = (random_K(&mut random), random_u(&mut random));
        let (mu, e) = (random.range(0.0, 2.0), random.unit());
        let poisson = hit(K, u, mu, e, ImpactLaw::Poisson);
        let whole = poisson.compression_impulse + poisson.restitution_impulse;
        near("sum", poisson.impulse.z / whole, 1.0, 1e-9);
        let ratio = poisson.restitution_impulse / poisson.compression_impulse;
        near("impulses", ratio, e, 1e-9);
        let stronge = hit(K, u, mu, e, ImpactLaw::Stronge);
        let ratio = -stronge.restitution_work / stronge.compression_work;
        near("works", ratio, e * e, 1e-9);
        let newton = hit(K, u, mu, e, ImpactLaw::Newton);
        near("velocities", -newton.velocity.z / u.z, e, 1e-9);
    }
}

#[test]
fn mc_15_laws_agree_where_friction_does_not_couple() {
    let mut random = Random(151);
    for _ in 0..1000 {
        // Frictionless, and spheres.
        let (u, e) = (random_u(&mut random), random.unit());
        let K = random_K(&mut random);
        let round = Mat3::from_diagonal(Vec3::new(3.5, 3.5, 1.0));
        for (K, mu) in [(K, 0.0), (round, random.range(0.0, 1.0))] {
            let [a, b, c] = LAWS.map(|law| hit(K, u, mu, e, law).impulse);
            near_vec("Poisson", b, a, 1e-11 * a.length());
            near_vec("Newton", c, a, 1e-11 * a.length());
        }
    }
}

/// Tangential block and column of K.
fn blocks(K: Mat3) -> (DMat2, DVec2) {
    let T = DMat2::from_cols(K.x_axis.truncate(), K.y_axis.truncate());
    (T, K.z_axis.truncate())
}

#[test]
fn mc_16_outgoing_ray_exists_iff_the_cone_does_not_hold_and_is_unique() {
    let mut random = Random(16);
    let mut rays = 0;
    for _ in 0..count(10_000) {
        let K = random_K(&mut random);
        let (T, k) = blocks(K);
        let mu = random.range(0.02, 1.5);
        // A ray keeps its direction, h(e) = 0; an outgoing one has growth, g(e) > 0. Count them all around the circle.
        let at = |angle: f64| {
            let e = DVec2::new(libm::cos(angle), libm::sin(angle));
            let a = k - mu * (T * e);
            (a.dot(e.perp()), a.dot(e))
        };
        let (mut outgoing, steps) = (0, 720);
        for i in 0..steps {
            let (mut low, mut high) = (
                TAU * f64::from(i) / f64::from(steps),
                TAU * f64::from(i + 1) / f64::from(steps),
            );
            if at(low).0 * at(high).0 > 0.0 {
                continue;
            }
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if at(low).0 * at(middle).0 <= 0.0 {
                    high = middle
                } else {
                    low = middle
                }
            }
            outgoing += u32::from(at(low).1 > 0.0);
        }
        let needed = (T.inverse() * k).length();
        if (needed - mu).abs() < 1e-6 {
            continue;
        }
        assert_eq!(outgoing, u32::from(needed > mu), "K = {K}, μ = {mu}");
        match after_stop(T, k, mu, mu) {
            AfterStop::Sticks { ratio } => {
                assert!(needed < mu, "K = {K}, μ = {mu}");
                let left = (T * ratio + k).length();
                below("slip stays zero", left, 1e-12 * k.length());
            }
            AfterStop::Slides { direction, rate } => {
                rays += 1;
                assert!(needed > mu && rate > 0.0, "K = {K}, μ = {mu}");
                near("unit", direction.length(), 1.0, 1e-14);
                // (μT + λ) e = k
                let residual = (mu * (T * direction) + rate * direction - k).length();
                let size = k.length() + mu * (T * direction).length();
                below("residual", residual, 1e-12 * size);
            }
        }
    }
    assert!(rays > count(10_000) / 10);
}

#[test]
fn mc_17_jammed_rod_in_closed_form() {
    let steep = rod(2.0 / 5.0_f64.sqrt(), 1.0 / 5.0_f64.sqrt());
    let u = Vec3::new(-1.0, 0.0, -0.1);
    let wanted = [
        (
            ImpactLaw::Poisson,
            Vec3::new(0.497_941_176_471, 0.0, 0.5775),
            0.226_470_588_235,
        ),
        (
            ImpactLaw::Stronge,
            Vec3::new(0.479_117_912_897, 0.0, 0.524_167_419_875),
            0.163_726_376_324,
        ),
    ];
    for (law, p, u_n) in wanted {
        let found = hit(steep, u, 1.6, 0.5, law);
        near_vec("p", found.impulse, p, 1e-11);
        near_vec("u", found.velocity, Vec3::Z * u_n, 1e-11);
        assert!(found.jammed && found.slip == Slip::Sticks);
    }
    // μ > 4/3 jams, less does not.
    for (mu, jams) in [(1.33, false), (1.34, true)] {
        assert_eq!(hit(steep, u, mu, 0.5, ImpactLaw::Stronge).jammed, jams);
    }
}

/// What holds for every impact, whatever the law.
fn sound(K: Mat3, u: Vec3, mu: f64, found: &Impact) -> Result<(), String> {
    let speed = u.length();
    let fail = |why: &str| Err(why.to_owned());
    if found.capped || found.locked || found.guarded {
        return fail("did not run to its end");
    }
    if !(found.impulse.is_finite() && found.impulse.z > 0.0) {
        return fail("impulse");
    }
    if found.velocity.z < -1e-12 * speed {
        return fail("still approaching");
    }
    let slip = found.impulse.truncate().length();
    if slip > mu * found.impulse.z * (1.0 + 1e-12) {
        return fail("outside the cone");
    }
    if found.slip == Slip::Sticks && found.velocity.truncate().length() > 1e-11 * speed {
        return fail("sticks with slip");
    }
    if (u + K * found.impulse - found.velocity).length() > 1e-14 * speed {
        return fail("velocity is not u + K P");
    }
    Ok(())
}

#[test]
fn mc_17_random_impacts_end() {
    let mut random = Random(17);
    let mut seen = [0; 4];
    for _ in 0..count(100_000) {
        let (K, u) = (random_K(&mut random), random_u(&mut random));
        let (mu, e) = (random.range(0.0, 3.0), random.unit());
        let law = LAWS[random.next() as usize % 3];
        let found = hit(K, u, mu, e, law);
        if let Err(why) = sound(K, u, mu, &found) {
            panic!("{why}: K = {K}, u = {u}, μ = {mu}, e = {e}, {law:?}: {found:?}");
        }
        seen[found.slip as usize] += 1;
        seen[3] += usize::from(found.jammed);
    }
    // All kinds were among them.
    assert!(seen.iter().all(|n| *n > count(100_000) / 100), "{seen:?}");
}

#[test]
fn mc_18_no_impact_gains_energy_with_stronge_or_poisson() {
    let mut random = Random(18);
    for i in 0..count(100_000) {
        let (K, u) = (random_K(&mut random), random_u(&mut random));
        // Elastic impacts are the hardest: every fourth.
        let e = if i % 4 == 0 { 1.0 } else { random.unit() };
        let mu = random.range(0.0, 3.0);
        for law in [ImpactLaw::Stronge, ImpactLaw::Poisson] {
            let found = hit(K, u, mu, e, law);
            let gain = energy_change(K, u, found.impulse);
            let what = format!("K = {K}, u = {u}, μ = {mu}, e = {e}, {law:?}");
            below(&what, gain, 1e-12 * contact_energy(K, u));
            assert!(!found.guarded, "{what}");
            near(
                &what,
                found.energy_change,
                gain,
                1e-10 * contact_energy(K, u),
            );
        }
    }
}

#[test]
fn mc_18_stronges_loss_is_deformation_and_friction() {
    // ΔE = −(1 − e²) |W_c| − μ ∫ |w| dP_n; friction's part from the path.
    let mut random = Random(181);
    for _ in 0..count(2000) {
        let (K, u) = (random_K(&mut random), random_u(&mut random));
        let (mu, e) = (random.range(0.0, 1.5), random.unit());
        let law = surface(mu, e, ImpactLaw::Stronge);
        let (found, path) = impact_with_path(K, Vec3::Z, u, &law).unwrap();
        let friction: f64 = path
            .points
            .windows(2)
            .map(|w| {
                let P = (w[1].impulse - w[0].impulse).truncate();
                P.dot(0.5 * (w[0].velocity + w[1].velocity).truncate())
            })
            .sum();
        let deformation = (1.0 - e * e) * found.compression_work;
        let scale = contact_energy(K, u);
        // The chords of the path stand for its arcs.
        near(
            "ΔE",
            found.energy_change,
            deformation + friction,
            1e-4 * scale,
        );
        let friction = found.energy_change - found.compression_work - found.restitution_work;
        assert!(friction <= 1e-12 * scale);
    }
}

#[test]
fn mc_18_newtons_law_can_gain_energy_and_the_others_do_not() {
    // A rod at 45° with slip that stops and turns round: a known trap.
    let K = rod(libm::sin(FRAC_PI_4), libm::cos(FRAC_PI_4));
    let u = Vec3::new(0.2, 0.0, -1.0);
    let [stronge, poisson, newton] = LAWS.map(|law| hit(K, u, 0.5, 0.8, law));
    assert!(stronge.energy_change < 0.0 && poisson.energy_change < 0.0);
    near("Newton's ratio", newton.velocity.z, 0.8, 1e-12);
    let mut random = Random(182);
    let gains = (0..2000)
        .filter(|_| {
            let (K, u) = (random_K(&mut random), random_u(&mut random));
            let mu = random.range(0.0, 2.0);
            let newton = hit(K, u, mu, 1.0, ImpactLaw::Newton);
            newton.energy_change > 1e-3 * contact_energy(K, u)
        })
        .count();
    assert!(
        gains > 20,
        "{gains} of 2000: the law is not changed behind the user's back"
    );
}

#[test]
fn mc_27_path_shows_sliding_sticking_and_resumed_sliding() {
    // One body, μ = 0.55, three arrivals: A slides through, B stops and slides on, C stops and sticks.
    let mu = 0.55;
    let inertia = Mat3::from_diagonal(Vec3::new(0.02, 0.05, 0.04).recip());
    let K_B = point_response(1.0, inertia, Vec3::new(0.25, -0.03, -0.2));
    let K_C = point_response(1.0, inertia, Vec3::new(0.02, -0.03, -0.2));
    let cases = [
        (K_B, Vec3::new(4.0, 2.0, -1.0), Slip::Slides),
        (K_B, Vec3::new(-0.47, 0.17, -1.0), Slip::Resumes),
        (K_C, Vec3::new(0.8, -0.5, -1.0), Slip::Sticks),
    ];
    for (K, u, slip) in cases {
        for law in LAWS {
            let law = surface(mu, 0.5, law);
            let (found, path) = impact_with_path(K, Vec3::Z, u, &law).unwrap();
            assert_eq!(
                found,
                impact(K, Vec3::Z, u, &law).unwrap(),
                "the path changes nothing"
            );
            assert_eq!(found.slip, slip);
            let points = &path.points;
            let (first, last) = (points[0], points[points.len() - 1]);
            assert_eq!((first.velocity, first.impulse), (u, Vec3::ZERO));
            near_vec("end", last.velocity, found.velocity, 1e-12);
            near_vec("end", last.impulse, found.impulse, 1e-12);
            assert_eq!((last.slip, last.phase), (slip, Phase::Restitution));
            for pair in points.windows(2) {
                // Everywhere u = u₀ + K P, the normal impulse grows, and phases show the sign of u_n.
                let [a, b] = [pair[0], pair[1]];
                near_vec("u", b.velocity, u + K * b.impulse, 1e-12);
                assert!(b.impulse.z >= a.impulse.z);
                let middle = 0.5 * (a.velocity.z + b.velocity.z);
                assert_eq!(middle > 0.0, b.phase == Phase::Restitution);
            }
            // Turned paths are drawn by many points, none of them far from the next.
            if slip != Slip::Sticks {
                assert!(points.len() > 12, "{} points", points.len());
            }
            let stops = points
                .iter()
                .any(|p| p.velocity.truncate().length() < 1e-10);
            assert_eq!(stops, slip != Slip::Slides);
        }
    }
}

#[test]
fn mc_17_singular_response_is_answered() {
    let law = |mu| surface(mu, 0.5, ImpactLaw::Stronge);
    // The point cannot move along y: planar impact, and slip along y stays as it is.
    let steep = rod(2.0 / 5.0_f64.sqrt(), 1.0 / 5.0_f64.sqrt());
    let mut flat = steep;
    flat.y_axis.y = 0.0;
    let u = Vec3::new(-1.0, 0.0, -0.1);
    let found = impact(flat, Vec3::Z, u, &law(1.6)).unwrap();
    let free = impact(steep, Vec3::Z, u, &law(1.6)).unwrap();
    near_vec("planar", found.impulse, free.impulse, 1e-14);
    let found = impact(flat, Vec3::Z, u + Vec3::Y * 0.3, &law(1.6)).unwrap();
    near("slip along y", found.velocity.y, 0.3, 1e-14);
    assert!(!found.locked && found.velocity.z > 0.0 && found.energy_change < 0.0);
    // It can move along one line only. Pushed along it: stopped, slip and approach together. Pushed across: no impulse can stop it.
    let line = Vec3::new(1.0, 0.0, 1.0);
    let rank_1 = Mat3::from_cols(line * line.x, line * line.y, line * line.z);
    for mu in [0.0, 0.5, 1.5] {
        let found = impact(rank_1, Vec3::Z, -line, &law(mu)).unwrap();
        assert!(
            found.velocity.z >= -1e-12 && found.impulse.is_finite(),
            "μ = {mu}: {found:?}"
        );
        assert!(found.energy_change <= 0.0);
        let across = impact(rank_1, Vec3::Z, Vec3::new(1.0, 0.0, -1.0), &law(mu)).unwrap();
        assert!(across.impulse.is_finite() && across.energy_change <= 1e-12);
        assert_eq!(across.locked, mu > 1.0, "μ = {mu}: {across:?}");
    }
    // It cannot move along the normal, or not at all.
    for K in [Mat3::from_diagonal(Vec3::new(1.0, 1.0, 0.0)), Mat3::ZERO] {
        let found = impact(K, Vec3::Z, u, &law(0.5)).unwrap();
        assert!(found.locked && found.impulse == Vec3::ZERO);
    }
    // Nearly singular in all ways: finite, never a gain.
    let mut random = Random(171);
    for _ in 0..count(20_000) {
        let R = Mat3::from_quat(random.rotation());
        let small = || libm::pow(10.0, -16.0);
        let mut pick = |d: f64| if random.unit() < 0.5 { small() * d } else { d };
        let K = R * Mat3::from_diagonal(Vec3::new(pick(1.0), pick(2.0), pick(3.0))) * R.transpose();
        let (u, mu) = (random_u(&mut random), random.range(0.0, 2.0));
        for law in [ImpactLaw::Stronge, ImpactLaw::Poisson] {
            let found = hit(K, u, mu, random.unit(), law);
            assert!(found.impulse.is_finite() && found.velocity.is_finite());
            let size = u.length() * found.impulse.length();
            assert!(
                found.energy_change <= 1e-10 * size,
                "K = {K}, u = {u}, μ = {mu}: {found:?}"
            );
        }
    }
}

#[test]
fn mc_14_units_and_frames_do_not_matter() {
    let mut random = Random(141);
    for _ in 0..count(5000) {
        let (K, u) = (random_K(&mut random), random_u(&mut random));
        let law = surface(random.range(0.0, 2.0), random.unit(), ImpactLaw::Stronge);
        let found = impact(K, Vec3::Z, u, &law).unwrap();
        let (P, sensitive) = (found.impulse, 1e-9);
        // Another frame.
        let R = Mat3::from_quat(random.rotation());
        let turned = impact(R * K * R.transpose(), R * Vec3::Z, R * u, &law);
        // Symmetric but for rounding.
        near_vec(
            "turned",
            turned.unwrap().impulse,
            R * P,
            sensitive * P.length(),
        );
        // Other units, as far as numbers go; powers of two change no digit.
        for (a, b) in [(-300, 200), (300, -200), (-10, 10)] {
            let (a, b) = (libm::ldexp(1.0, a), libm::ldexp(1.0, b));
            let scaled = impact(K * a, Vec3::Z, u * b, &law).unwrap();
            assert_eq!(scaled.impulse * a / b, P);
        }
    }
}

#[test]
fn mc_17_huge_friction_stops_slip_at_once() {
    // The limit μ → ∞: the tangential impulse comes first, then the rest sticks.
    let mut random = Random(172);
    for _ in 0..500 {
        let (K, u) = (random_K(&mut random), random_u(&mut random));
        let found = hit(K, u, 1e9, 0.5, ImpactLaw::Stronge);
        sound(K, u, 1e9, &found).unwrap();
        let finer = hit(K, u, 1e11, 0.5, ImpactLaw::Stronge);
        near_vec(
            "limit",
            finer.impulse,
            found.impulse,
            1e-6 * found.impulse.length(),
        );
    }
}

#[test]
fn mc_17_bad_input_is_refused_with_the_field() {
    let K = Mat3::IDENTITY;
    let u = Vec3::NEG_Z;
    let good = Surface::new(0.5, 0.5);
    let field = |K, n, u, s: &Surface| impact(K, n, u, s).unwrap_err().field;
    assert_eq!(field(K * f64::NAN, Vec3::Z, u, &good), "K");
    assert_eq!(field(K * -1.0, Vec3::Z, u, &good), "K");
    let mut skewed = K;
    skewed.x_axis.y = 0.1;
    assert_eq!(field(skewed, Vec3::Z, u, &good), "K");
    let saddle = Mat3::from_cols(Vec3::new(1.0, 2.0, 0.0), Vec3::new(2.0, 1.0, 0.0), Vec3::Z);
    assert_eq!(field(saddle, Vec3::Z, u, &good), "K");
    assert_eq!(field(K * 1e-300, Vec3::Z, u * 1e300, &good), "K");
    assert_eq!(field(K, Vec3::Z * 2.0, u, &good), "normal");
    assert_eq!(field(K, Vec3::NAN, u, &good), "normal");
    assert_eq!(
        field(K, Vec3::Z, Vec3::splat(f64::INFINITY), &good),
        "velocity"
    );
    assert_eq!(
        field(K, Vec3::Z, u, &Surface::new(f64::INFINITY, 0.5)),
        "friction_static"
    );
    assert_eq!(
        field(K, Vec3::Z, u, &Surface::new(-0.1, 0.5)),
        "friction_static"
    );
    assert_eq!(field(K, Vec3::Z, u, &Surface::new(0.5, 1.1)), "restitution");
    // Separating, and standing still: nothing happens.
    for u in [Vec3::Z, Vec3::X, Vec3::ZERO] {
        let found = impact(K, Vec3::Z, u, &good).unwrap();
        assert_eq!((found.impulse, found.velocity), (Vec3::ZERO, u));
    }
}

fn vector(v: &serde_json::Value) -> Vec3 {
    let x = |i: usize| v[i].as_f64().expect("a number");
    Vec3::new(x(0), x(1), x(2))
}

/// Rows as written in the file.
fn matrix(m: &serde_json::Value) -> Mat3 {
    Mat3::from_cols(vector(&m[0]), vector(&m[1]), vector(&m[2])).transpose()
}
