//! Backtracking: how far the smooth motion goes before something happens.
//!
//! Reads: contacts, modes, states at the start.  Writes: states at the end of the piece.
//! Called by: `method::forces`.
//! Source: [Lecture] "Contact Force Approach" (back to the time of the impact). Three things happen: a gap closes, a slip comes to its end
//! (u_t = 0), the forces of the modes break a condition (f = 0, or the cone). The first two are roots of smooth functions, found by regula
//! falsi (Illinois); the last is bracketed by halving and passed by a hair, so that the next modes differ.

use super::ForcesParams;
use super::drives::{Drive, Kind, freedom};
use super::piece::Course;
use super::smooth::{Scene, Smooth};
use super::system::{Bound, Mode};
use crate::math::Vec3;
use crate::state::BodyState;

/// Most trials of one search.
const TRIALS_MAX: u32 = 60;
/// Bracket at which a search ends, relative to the piece [1].
const BRACKET: f64 = 1e-13;
/// The same where conditions break: forces are continuous there, so a hair beyond makes no difference.
const BRACKET_BROKEN: f64 = 1e-6;
/// Slip along its first direction that counts as ended [m/s].
const STOPPED: f64 = 1e-11;

/// Slip against its first direction at the end of a search that is no root [m/s]: its direction turns within the piece faster than its stages see.
const JUMP: f64 = 1e-9;

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// A gap closes: place among `watched`.
    Gap(usize),
    /// A slip ends: place among `slips`.
    Slip(usize),
    /// A limit is reached: place among `limits`.
    Limit(usize),
    /// A motor comes to its speed: place among `motors`.
    Motor(usize),
    /// The modes are no longer right.
    Broken,
}

/// A limit that is not reached.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    owner: u32,
    which: u32,
    at: f64,
    sign: f64,
    /// Distance that counts as zero [m or rad].
    level: f64,
}

/// A contact whose gap is watched.
#[derive(Clone, Copy, Debug)]
struct Watched {
    contact: u32,
    /// Gap that counts as zero [m].
    level: f64,
}

/// Scratch of the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locate {
    watched: Vec<Watched>,
    /// Place among the active contacts, and direction of slip at the start.
    slips: Vec<(u32, Vec3)>,
    low_end: Vec<BodyState>,
    /// Limits ahead; motors that slip, and whether they are too fast (1) or too slow (−1).
    limits: Vec<Ahead>,
    motors: Vec<(u32, f64)>,
}

/// Where a piece ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arrival {
    /// Its length [s].
    pub length: f64,
    /// Trials it took.
    pub trials: u32,
    /// Whether a stage had no forces however short the piece was.
    pub lost: bool,
    /// Whether the search ended at its limit.
    pub capped: bool,
}

impl Arrival {
    /// The end of a piece in which nothing was looked for.
    pub(crate) fn of(length: f64) -> Self {
        Self {
            length,
            trials: 1,
            lost: false,
            capped: false,
        }
    }
}

impl Locate {
    /// Moves from `start` for `left` at most, up to the first event.
    pub(crate) fn advance(
        &mut self,
        params: &ForcesParams,
        scene: &Scene<'_>,
        smooth: &mut Smooth,
        start: &[BodyState],
        (t, left): (f64, f64),
        end: &mut Vec<BodyState>,
    ) -> Arrival {
        self.watch(params, scene, smooth, start);
        self.watch_drives(params, scene, smooth, start);
        smooth.keep_first();
        let mut search = Search {
            tolerance: params.touch_tolerance,
            scene,
            smooth,
            start,
            t,
            end,
            locate: self,
            lost: false,
        };
        search.run(left)
    }

    /// Lists the gaps and slips to look at.
    fn watch(
        &mut self,
        params: &ForcesParams,
        scene: &Scene<'_>,
        smooth: &Smooth,
        start: &[BodyState],
    ) {
        self.watched.clear();
        self.slips.clear();
        let mut carrying = vec![false; scene.contacts.len()];
        for (k, active) in smooth.active.iter().enumerate() {
            carrying[active.contact as usize] = active.mode != Mode::Open;
            if let Mode::Slide(_) = active.mode {
                let c = &scene.contacts[active.contact as usize];
                let slip = slip(c, start);
                if c.surface.slip_speed == 0.0 && slip.length() > STOPPED {
                    self.slips.push((k as u32, slip / slip.length()));
                }
            }
        }
        for (i, c) in scene.contacts.iter().enumerate() {
            if carrying[i] || !scene.has(c) || c.surface.compliance.gives_way() {
                continue;
            }
            let (a, b) = c.bodies();
            let gap = c.at(&start[a], &start[b]).gap;
            // Features of later poses stand behind those of now before they come around.
            if gap < -params.touch_tolerance && gap < c.point.gap - params.touch_tolerance {
                continue;
            }
            self.watched.push(Watched {
                contact: i as u32,
                level: gap.min(0.0) - 0.5 * params.touch_tolerance,
            });
        }
    }
}

impl Locate {
    /// Lists the limits and motors to look at.
    fn watch_drives(
        &mut self,
        params: &ForcesParams,
        scene: &Scene<'_>,
        smooth: &Smooth,
        start: &[BodyState],
    ) {
        self.limits.clear();
        self.motors.clear();
        for (owner, &slot) in smooth.joints.iter().enumerate() {
            let Some(joint) = &scene.model.joints[slot as usize] else {
                continue;
            };
            for which in [1, 3] {
                let Some((min, max)) = freedom(joint, which).limits.filter(|l| l.0 < l.1) else {
                    continue;
                };
                for (at, sign) in [(min, 1.0), (max, -1.0)] {
                    let holds = |d: &Drive| {
                        d.owner as usize == owner
                            && d.which == which
                            && d.kind == (Kind::Limit { at, sign })
                            && d.bound == Bound::Held
                    };
                    if !at.is_finite() || smooth.drives.iter().any(holds) {
                        continue;
                    }
                    let gap = smooth.limit_gap(joint, which, owner, (at, sign), start);
                    self.limits.push(Ahead {
                        owner: owner as u32,
                        which,
                        at,
                        sign,
                        level: gap.min(0.0) - 0.5 * params.touch_tolerance,
                    });
                }
            }
        }
        for (k, drive) in smooth.drives.iter().enumerate() {
            if drive.kind == Kind::Motor && drive.bound == Bound::Slips {
                self.motors.push((k as u32, -drive.force.signum()));
            }
        }
    }
}

/// Slip of a contact [m/s].
pub(crate) fn slip(c: &crate::collide::Contact, bodies: &[BodyState]) -> Vec3 {
    let (a, b) = c.bodies();
    let at = c.at(&bodies[a], &bodies[b]);
    let point = (at.point_a + at.point_b) * 0.5;
    let u = bodies[b].point_velocity(point) - bodies[a].point_velocity(point);
    u - at.normal * at.normal.dot(u)
}

struct Search<'a, 'b> {
    tolerance: f64,
    scene: &'a Scene<'b>,
    smooth: &'a mut Smooth,
    start: &'a [BodyState],
    t: f64,
    end: &'a mut Vec<BodyState>,
    locate: &'a mut Locate,
    lost: bool,
}

impl Search<'_, '_> {
    fn run(&mut self, left: f64) -> Arrival {
        let mut arrival = Arrival::of(left);
        let Some(mut event) = self.go(left) else {
            return arrival;
        };
        let (mut low, mut high) = (0.0, left);
        let mut side: i32 = 0;
        self.locate.low_end.clear();
        self.locate.low_end.extend_from_slice(self.start);
        let mut f_low = self.value(event, &self.locate.low_end);
        let mut f_high = self.value(event, self.end);
        while arrival.trials < TRIALS_MAX {
            let narrow = if event == Event::Broken {
                BRACKET_BROKEN
            } else {
                BRACKET
            };
            if high - low <= narrow * left {
                break;
            }
            let mut x = 0.5 * (low + high);
            if event != Event::Broken && f_low > 0.0 && f_high < 0.0 && side.abs() < 4 {
                x = low + (high - low) * f_low / (f_low - f_high);
                x = x.clamp(low + 1e-3 * BRACKET * left, high);
            }
            arrival.trials += 1;
            match self.go(x) {
                Some(next) => {
                    high = x;
                    if next != event {
                        event = next;
                        f_low = self.value(event, &self.locate.low_end);
                        side = 0;
                    } else {
                        f_low *= if side < 0 { 0.5 } else { 1.0 };
                        side = side.min(0) - 1;
                    }
                    f_high = self.value(event, self.end);
                }
                None => {
                    let value = self.value(event, self.end);
                    if event != Event::Broken && value <= self.near(event) {
                        arrival.length = x;
                        return arrival;
                    }
                    low = x;
                    f_low = value;
                    self.locate.low_end.clone_from(self.end);
                    f_high *= if side > 0 { 0.5 } else { 1.0 };
                    side = side.max(0) + 1;
                }
            }
        }
        arrival.capped = arrival.trials >= TRIALS_MAX;
        // Just beyond what happens: what comes next is decided there.
        let _ = self.go(high);
        arrival.length = high;
        let jumps = matches!(event, Event::Slip(_)) && self.value(event, self.end) < -JUMP;
        if low > 0.0 && (arrival.capped || jumps) {
            // No root, or none found: up to there nothing has happened, and a shorter piece has other stages.
            let _ = self.go(low);
            arrival.length = low;
            arrival.capped = false;
        }
        arrival.lost = self.lost;
        arrival
    }

    /// Value at which an event has happened.
    fn near(&self, event: Event) -> f64 {
        match event {
            Event::Gap(_) | Event::Limit(_) => 0.5 * self.tolerance,
            _ => STOPPED,
        }
    }

    /// Moves for `h` and says what has happened by then.
    fn go(&mut self, h: f64) -> Option<Event> {
        self.smooth.come_back();
        let course = self.smooth.run(self.scene, self.start, self.t, h, self.end);
        self.lost = course == Course::Lost;
        if self.lost {
            return Some(Event::Broken);
        }
        let mut worst: Option<(Event, f64)> = None;
        for k in 0..self.locate.watched.len() {
            let event = Event::Gap(k);
            let value = self.value(event, self.end);
            if value < -0.5 * self.tolerance && worst.is_none_or(|w| value < w.1) {
                worst = Some((event, value));
            }
        }
        for k in 0..self.locate.limits.len() {
            let event = Event::Limit(k);
            let value = self.value(event, self.end);
            if value < -0.5 * self.tolerance && worst.is_none_or(|w| value < w.1) {
                worst = Some((event, value));
            }
        }
        if let Some((event, _)) = worst {
            return Some(event);
        }
        for k in 0..self.locate.motors.len() {
            let event = Event::Motor(k);
            let value = self.value(event, self.end);
            if value < -STOPPED && worst.is_none_or(|w| value < w.1) {
                worst = Some((event, value));
            }
        }
        for k in 0..self.locate.slips.len() {
            let event = Event::Slip(k);
            let value = self.value(event, self.end);
            if value < -STOPPED && worst.is_none_or(|w| value < w.1) {
                worst = Some((event, value));
            }
        }
        worst
            .map(|w| w.0)
            .or((course == Course::Broken).then_some(Event::Broken))
    }

    /// Positive before an event, negative after it.
    fn value(&self, event: Event, bodies: &[BodyState]) -> f64 {
        match event {
            Event::Gap(k) => {
                let w = &self.locate.watched[k];
                let c = &self.scene.contacts[w.contact as usize];
                let (a, b) = c.bodies();
                c.at(&bodies[a], &bodies[b]).gap - w.level
            }
            Event::Slip(k) => {
                let (active, direction) = self.locate.slips[k];
                let active = &self.smooth.active[active as usize];
                slip(&self.scene.contacts[active.contact as usize], bodies).dot(direction)
            }
            Event::Limit(k) => {
                let l = &self.locate.limits[k];
                let slot = self.smooth.joints[l.owner as usize] as usize;
                let Some(joint) = &self.scene.model.joints[slot] else {
                    return 0.0;
                };
                let (owner, place) = (l.owner as usize, (l.at, l.sign));
                let gap = self.smooth.limit_gap(joint, l.which, owner, place, bodies);
                gap - l.level
            }
            Event::Motor(k) => {
                let (drive, sign) = self.locate.motors[k];
                let slip = self
                    .smooth
                    .motor_slip(drive as usize, self.scene.model, bodies);
                slip * sign
            }
            Event::Broken => 0.0,
        }
    }
}
