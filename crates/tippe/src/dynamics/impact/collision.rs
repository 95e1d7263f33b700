//! The course of one impact: compression, restitution, and what slip does meanwhile.
//!
//! Reads: nothing.  Writes: the path, if one is kept.
//! Called by: `impact`.
//! Source: [Mirtich94] §4.3–4.4; [Stronge90]. Deviation: restitution is an account. It ends when the impulse (Poisson) or the work (Stronge) given back is e or e²
//! times *all* that compression took, so that friction which presses the bodies together a second time needs no second impact and Stronge's law stays dissipative.
//! Letters: as in `slide`; everything in units of the speed of arrival and the largest entry of K.

#![allow(non_snake_case)]

use super::slide::{Arc, Rates, Response};
use super::stop::{AfterStop, after_stop};
use super::{Impact, Slip};
use crate::material::{ImpactLaw, Surface};
use crate::math::glam::{DMat2, DVec2};
use crate::math::{Mat3, Vec3};

/// Slip speed that counts as none, in units of the speed of arrival.
const NO_SLIP: f64 = 1e-12;
/// Slip that fell below this share of its first value before it grew again is called resumed: it as good as stopped.
const AS_GOOD_AS_STOPPED: f64 = 1e-7;
/// Turning that counts as none, in units of the rate of the flow: planar impacts stay planar.
const NO_TURN: f64 = 1e-14;
/// Distance from an attracting ray at which the rest is straight: sideways velocity, in units of the speed of arrival.
const ON_RAY: f64 = 1e-14;
/// The same as an angle: the ray must also be near.
const NEAR_RAY: f64 = 1e-3;
/// Newton steps from near a ray onto it.
const RAY_STEPS: u32 = 4;
/// Growth of the normal velocity per impulse that is rounding of K: the point is locked.
const NO_GROWTH: f64 = 1e-14;
/// Most pieces of an impact: twenty are usual.
const COLLISION_PIECES_MAX: u32 = 2000;
/// Points of the path on each arc.
const ARC_POINTS: u32 = 12;
/// Energy gain that is rounding, as a share of the energy that goes in and out.
const GAIN_ROUNDING: f64 = 1e-9;

/// Whether the bodies are approaching or parting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// u_n < 0.
    Compression,
    /// u_n > 0.
    Restitution,
}

/// One point of the path of an impact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathPoint {
    /// Impulse so far [N·s].
    pub impulse: Vec3,
    /// Relative velocity here [m/s].
    pub velocity: Vec3,
    /// What slip did on the way to this point.
    pub slip: Slip,
    /// What the normal velocity did on the way to this point.
    pub phase: Phase,
}

/// The path of velocity and impulse through an impact, in the order of the growing normal impulse. Empty where nothing happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// From the arrival to the end.
    pub points: Vec<PathPoint>,
}

impl Path {
    pub(super) fn scale(&mut self, F: Mat3, speed: f64, impulse: f64) {
        for point in &mut self.points {
            point.velocity = F * (point.velocity * speed);
            point.impulse = F * (point.impulse * impulse);
        }
    }
}

/// How a piece ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    /// Its own end.
    Limit,
    /// The end of the impact.
    End,
    /// Nothing: it would go on for ever.
    Locked,
}

/// What ends restitution.
#[derive(Clone, Copy, Debug)]
enum Mark {
    /// Normal velocity.
    Velocity(f64),
    /// Normal impulse from here on.
    Impulse(f64),
    /// Normal work from here on.
    Work(f64),
}

/// An impact on its way.
pub(super) struct Collision<'a> {
    K: Response,
    u0: Vec3,
    surface: &'a Surface,
    path: Option<&'a mut Path>,
    P: Vec3,
    phase: Phase,
    slip: Slip,
    /// Impulse and work of each phase so far.
    compression: (f64, f64),
    restitution: (f64, f64),
    jammed: bool,
    capped: bool,
}

impl<'a> Collision<'a> {
    /// `K` and `u` in the frame of the contact, z along the normal, u_z < 0.
    pub fn new(K: Mat3, u: Vec3, surface: &'a Surface, path: Option<&'a mut Path>) -> Self {
        let xy = 0.5 * (K.x_axis.y + K.y_axis.x);
        let mut collision = Self {
            K: Response {
                T: DMat2::from_cols(DVec2::new(K.x_axis.x, xy), DVec2::new(xy, K.y_axis.y)),
                k: 0.5 * (K.z_axis.truncate() + DVec2::new(K.x_axis.z, K.y_axis.z)),
                k_nn: K.z_axis.z,
            },
            u0: u,
            surface,
            path,
            P: Vec3::ZERO,
            phase: Phase::Compression,
            slip: Slip::Slides,
            compression: (0.0, 0.0),
            restitution: (0.0, 0.0),
            jammed: false,
            capped: false,
        };
        collision.record(Vec3::ZERO);
        collision
    }

    pub fn into_path(self) -> Option<&'a mut Path> {
        self.path
    }

    /// Slide until slip stops or the impact ends; then stick, or slide on along the outgoing ray, to the end.
    pub fn run(&mut self) -> Impact {
        let mut reached = self.slide();
        if reached == Reached::Limit {
            reached = self.go_on_from_stop();
        }
        self.outcome(reached)
    }

    fn u(&self) -> Vec3 {
        self.u0 + self.K.times(self.P)
    }

    /// Sliding friction along the flow, arc by arc; straight where the slip keeps its direction.
    fn slide(&mut self) -> Reached {
        let mu = self.surface.friction_kinetic;
        let (mut pieces, mut first) = (0, 0.0_f64);
        loop {
            let u = self.u();
            let w = u.truncate();
            let slip = w.length();
            if slip <= NO_SLIP {
                return Reached::Limit;
            }
            first = first.max(slip);
            if slip <= AS_GOOD_AS_STOPPED * first {
                self.slip = Slip::Resumes;
            }
            let e = w / slip;
            let rates = Rates::at(&self.K, mu, e);
            self.capped = pieces == COLLISION_PIECES_MAX;
            if mu == 0.0 {
                return self.line(Vec3::Z, f64::INFINITY);
            }
            if straight(&rates, slip) || self.capped {
                let (e, rates) = self.onto_ray(e, rates);
                let stop = if rates.speed < -NO_TURN * rates.size {
                    slip / -rates.speed
                } else {
                    f64::INFINITY
                };
                return self.line((-mu * e).extend(1.0), stop);
            }
            let arc = Arc::new(&self.K, mu, u);
            if self.follow(arc) {
                return Reached::End;
            }
            pieces += 1;
        }
    }

    /// The ray itself from a direction near it, by Newton: slip that grows along a line must not carry its first error with it.
    fn onto_ray(&self, e: DVec2, rates: Rates) -> (DVec2, Rates) {
        let (mut e, mut rates) = (e, rates);
        for _ in 0..RAY_STEPS {
            let near = rates.turn.abs() < NEAR_RAY * -rates.turn_slope;
            if !near {
                break;
            }
            e -= e.perp() * (rates.turn / rates.turn_slope);
            e /= e.length();
            rates = Rates::at(&self.K, self.surface.friction_kinetic, e);
        }
        (e, rates)
    }

    fn go_on_from_stop(&mut self) -> Reached {
        let (mu_s, mu_k) = (self.surface.friction_static, self.surface.friction_kinetic);
        let d = match after_stop(self.K.T, self.K.k, mu_s, mu_k) {
            AfterStop::Sticks { ratio } => {
                self.slip = Slip::Sticks;
                ratio.extend(1.0)
            }
            AfterStop::Slides { direction, .. } => {
                self.slip = Slip::Resumes;
                (-mu_k * direction).extend(1.0)
            }
        };
        self.line(d, f64::INFINITY)
    }

    /// Follows an arc to its end or to the next event; whether the impact ended there.
    fn follow(&mut self, mut arc: Arc) -> bool {
        let compresses = self.phase == Phase::Compression;
        let (mut ends, mut turns) = (false, None);
        if let Some(x) = arc.reach_velocity(0.0, compresses) {
            arc.cut(x);
            turns = Some(if compresses {
                Phase::Restitution
            } else {
                Phase::Compression
            });
        }
        if !compresses {
            let end = match self.end_mark() {
                Mark::Velocity(v) => arc.reach_velocity(v, true),
                Mark::Impulse(p) => arc.reach_impulse(p),
                Mark::Work(w) => arc.reach_work(w),
            };
            if let Some(x) = end {
                arc.cut(x);
                (ends, turns) = (true, None);
            }
        }
        let x = arc.length;
        if self.path.is_some() {
            for i in 1..ARC_POINTS {
                let (P, _) = arc.at(x * f64::from(i) / f64::from(ARC_POINTS));
                self.record(P);
            }
        }
        let (P, work) = arc.at(x);
        self.take(P, work);
        match turns {
            Some(phase) => self.enter(phase),
            None => ends,
        }
    }

    /// Follows the straight line dP = d dP_n for at most `limit` of normal impulse.
    fn line(&mut self, d: Vec3, limit: f64) -> Reached {
        let rate = self.K.times(d).z;
        let rate = if rate.abs() <= NO_GROWTH * d.length() {
            0.0
        } else {
            rate
        };
        let mut left = limit;
        for _ in 0..4 {
            let u_n = self.u().z;
            let (x, event) = match self.phase {
                Phase::Compression => (to_reach(-u_n, rate), Some(Phase::Restitution)),
                Phase::Restitution => {
                    let end = match self.end_mark() {
                        Mark::Velocity(v) => to_reach(v - u_n, rate),
                        Mark::Impulse(p) => p,
                        Mark::Work(w) => to_work(u_n, rate, w),
                    };
                    let back = to_reach(u_n.max(0.0), -rate);
                    if end <= back {
                        (end, None)
                    } else {
                        (back, Some(Phase::Compression))
                    }
                }
            };
            if left.min(x) == f64::INFINITY {
                return Reached::Locked;
            }
            let step = left.min(x);
            self.take(d * step, step * (u_n + 0.5 * rate * step));
            if left <= x {
                return Reached::Limit;
            }
            left -= step;
            let ends = event.is_none_or(|phase| self.enter(phase));
            if ends {
                return Reached::End;
            }
        }
        // Two turns of a straight line are rounding at u_n = 0.
        Reached::End
    }

    /// Turns to another phase; whether the impact is over with that.
    fn enter(&mut self, phase: Phase) -> bool {
        self.phase = phase;
        let e = self.surface.restitution;
        phase == Phase::Restitution
            && match self.end_mark() {
                Mark::Velocity(_) => e == 0.0,
                Mark::Impulse(left) | Mark::Work(left) => left <= 0.0,
            }
    }

    /// Where restitution ends, counted from here.
    fn end_mark(&self) -> Mark {
        let e = self.surface.restitution;
        match self.surface.impact_law {
            ImpactLaw::Newton => Mark::Velocity(-e * self.u0.z),
            ImpactLaw::Poisson => Mark::Impulse(e * self.compression.0 - self.restitution.0),
            ImpactLaw::Stronge => Mark::Work(-e * e * self.compression.1 - self.restitution.1),
        }
    }

    fn take(&mut self, P: Vec3, work: f64) {
        let account = match self.phase {
            Phase::Compression => &mut self.compression,
            Phase::Restitution => &mut self.restitution,
        };
        account.0 += P.z;
        account.1 += work;
        self.jammed |= self.K.times(P).z < -NO_SLIP && self.phase == Phase::Compression;
        self.P += P;
        self.record(Vec3::ZERO);
    }

    fn record(&mut self, ahead: Vec3) {
        let (impulse, slip, phase) = (self.P + ahead, self.slip, self.phase);
        let velocity = self.u0 + self.K.times(impulse);
        if let Some(path) = &mut self.path {
            path.points.push(PathPoint {
                impulse,
                velocity,
                slip,
                phase,
            });
        }
    }

    fn outcome(&self, reached: Reached) -> Impact {
        let mut P = self.P;
        // E = P·(u + ½ K P): an ellipsoid in P around the impulses that gain nothing. Rounding can step over it where K is nearly singular,
        // Poisson's law perhaps otherwise, since it is not proved to lose energy; Newton's may.
        let (input, output) = (self.u0.dot(P), 0.5 * P.dot(self.K.times(P)));
        let mut gain = input + output;
        let guarded = gain > 0.0 && self.surface.impact_law != ImpactLaw::Newton;
        if guarded {
            P *= (-input / output).clamp(0.0, 1.0);
            gain = P.dot(self.u0 + 0.5 * self.K.times(P)).min(0.0);
        }
        Impact {
            impulse: P,
            velocity: self.u0 + self.K.times(P),
            slip: self.slip,
            compression_impulse: self.compression.0,
            restitution_impulse: self.restitution.0,
            compression_work: self.compression.1,
            restitution_work: self.restitution.1,
            energy_change: gain,
            jammed: self.jammed,
            locked: reached == Reached::Locked,
            guarded: guarded && input + output > GAIN_ROUNDING * output,
            capped: self.capped,
        }
    }
}

/// Whether slip keeps its direction from here on: it does not turn, or it is as good as on an attracting ray.
fn straight(rates: &Rates, slip: f64) -> bool {
    let (turn, pull) = (rates.turn.abs(), -rates.turn_slope);
    turn <= NO_TURN * rates.size
        || (pull > 0.0 && turn <= NEAR_RAY * pull && slip * turn <= ON_RAY * pull)
}

/// How far a quantity that grows by `rate` has to go for `difference`; infinity if it never gets there.
fn to_reach(difference: f64, rate: f64) -> f64 {
    if difference <= 0.0 && rate > 0.0 {
        0.0
    } else if rate > 0.0 {
        difference / rate
    } else {
        f64::INFINITY
    }
}

/// How far until u x + ½ rate x² is `work`, from u ≥ 0.
fn to_work(u: f64, rate: f64, work: f64) -> f64 {
    let square = u * u + 2.0 * rate * work;
    let sum = u + square.max(0.0).sqrt();
    if square < 0.0 || sum <= 0.0 {
        f64::INFINITY
    } else {
        2.0 * work / sum
    }
}
