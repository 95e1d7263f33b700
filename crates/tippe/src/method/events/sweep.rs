//! Sweeps: boxes around the paths until the frame ends, and the pairs of shapes whose boxes overlap.
//!
//! Reads: Model, paths.  Writes: Schedule (boxes, near pairs), the pair search.
//! Called by: `method::events`, once a frame for all and after an impact for the bodies it moved.
//! Source: [Mirtich94] §3.2. The box of a flight holds its centre at both ends and at the apex along each axis, grown by what the shape can
//! reach by turning. The path of a group's body is not known: its box is generous, and is made anew when the body leaves it.

use super::Run;
use super::near::Pair;
use super::paths::Way;
use crate::collide::MARGIN;
use crate::math::Vec3;
use crate::shape::Aabb;
use crate::state::{BodyState, PairKey};

/// Parts of a frame at most: it is halved where bodies move fast.
pub(super) const PARTS: u64 = 1024;
/// Way of a body in a frame, relative to its reach, in the mean over all that move [1]. Longer frames find pairs that do not meet before their
/// bodies hit something else, and look far ahead at every one of them after each impact.
const WAY: f64 = 0.5;
/// Accelerations of a group's body that its box allows for, relative to gravity [1].
const GENEROUS: f64 = 4.0;

impl Run<'_> {
    /// The end of the frame under way [s].
    pub(super) fn frame_end(&self) -> f64 {
        self.s.frame as f64 * self.part()
    }

    /// The shortest frame [s].
    pub(super) fn part(&self) -> f64 {
        self.params.sweep / PARTS as f64
    }

    /// The end of the frame that begins when the one under way ends, in parts: a frame, or a half, a quarter of it, as fast as bodies move.
    fn next_end(&mut self, t: f64) -> u64 {
        let (mut rates, mut moving) = (0.0, 0.0);
        for slot in 0..self.model.bodies.len() as u32 {
            let present = self.model.bodies[slot as usize].is_some();
            if present && matches!(self.way(slot), Way::Ballistic | Way::Grouped) {
                // What has no shape meets nothing.
                let reach = self.body(slot).reach;
                if reach > 0.0 {
                    let s = self.at(slot, t);
                    rates += s.velocity.length() / reach + s.angular_velocity.length();
                    moving += 1.0;
                }
            }
        }
        let mut parts = PARTS;
        while parts > 1 && rates * parts as f64 * self.part() > WAY * moving {
            parts /= 2;
        }
        (self.s.frame / parts + 1) * parts
    }

    /// A frame begins at `t`: flights start from there, all boxes and pairs are made anew and looked at.
    pub(super) fn begin_frame(&mut self, t: f64) {
        for slot in 0..self.model.bodies.len() as u32 {
            if self.model.bodies[slot as usize].is_some() && self.way(slot) == Way::Ballistic {
                let state = self.at(slot, t);
                self.s.flights[slot as usize] = super::schedule::Start { time: t, state };
            }
        }
        let whole = self.s.frame.is_multiple_of(PARTS);
        self.s.frame = self.next_end(t);
        for item in 0..self.items.len() as u32 {
            self.bound(item, t);
        }
        self.s.near.begin_frame(t, whole);
        for item in 0..self.items.len() as u32 {
            self.find_pairs(item, t);
        }
    }

    /// Bounds and pairs of a body whose path has changed at `t`; all its pairs are looked at.
    pub(super) fn sweep(&mut self, slot: u32, t: f64) {
        let range = self.first_item[slot as usize]..self.first_item[slot as usize + 1];
        for item in range.clone() {
            self.bound(item, t);
        }
        for item in range {
            self.find_pairs(item, t);
        }
        for k in 0..self.s.near.of(slot).len() {
            let number = self.s.near.of(slot)[k];
            self.s.near.schedule(number, t, false);
        }
    }

    /// Bounds of a group's body whose substep leads out of its box.
    pub(super) fn keep_in_box(&mut self, slot: u32, t: f64) {
        let end = self.ahead.bodies[slot as usize];
        let left = (self.first_item[slot as usize]..self.first_item[slot as usize + 1])
            .any(|item| !self.s.boxes[item as usize].contains(&self.bounds_at(item, &end)));
        if left {
            self.sweep(slot, t);
        }
    }

    fn bounds_at(&self, item: u32, s: &BodyState) -> Aabb {
        let (slot, shape) = self.items[item as usize];
        let body = self.body(slot);
        let desc = &body.shapes[shape as usize];
        desc.shape.bounds(&s.frame(body).compose(&desc.pose))
    }

    /// Bounds of a shape from `t` to the end of the frame.
    fn bound(&mut self, item: u32, t: f64) {
        let (slot, shape) = self.items[item as usize];
        let s = self.at(slot, t);
        let here = self.bounds_at(item, &s);
        let dt = (self.frame_end() - t).max(0.0);
        let bounds = match self.way(slot) {
            Way::Still => here,
            Way::Ballistic => {
                let spin = {
                    let flight = self.flight(slot, shape, t);
                    flight.rates(0.0, &flight.pose).spin
                };
                let reach = self.body(slot).reach;
                let way = parabola(s.velocity, self.acceleration(slot), dt);
                let turned = here.grown(reach * (spin * dt).min(2.0));
                // No farther than the shape now, turned, nor than the ball about the centre of mass.
                let min = (turned.min + way.min).max(s.position + way.min - reach);
                let max = (turned.max + way.max).min(s.position + way.max + reach);
                Aabb { min, max }.grown(self.params.band * reach)
            }
            Way::Prescribed => {
                let (speed, spin, reach) = {
                    let flight = self.flight(slot, shape, t);
                    let rates = flight.rates(0.0, &flight.pose);
                    (
                        rates.velocity.length() + rates.speed,
                        rates.spin,
                        flight.center.length(),
                    )
                };
                let reach = reach + self.body(slot).shapes[shape as usize].shape.reach();
                let turn = if spin > 0.0 { reach * spin } else { 0.0 };
                here.grown((speed + turn) * dt)
            }
            Way::Grouped => {
                let reach = self.body(slot).reach;
                let speed = s.velocity.length() + s.angular_velocity.length() * reach;
                let fall = 0.5 * GENEROUS * self.model.gravity.length() * dt * dt;
                here.grown(speed * dt + fall + MARGIN * reach)
            }
        };
        self.s.boxes[item as usize] = bounds;
        self.search.set(item, bounds);
    }

    /// Takes in the pairs of a shape whose boxes overlap, and lets the others go.
    fn find_pairs(&mut self, item: u32, t: f64) {
        let (slot, shape) = self.items[item as usize];
        let mut found = std::mem::take(&mut self.found);
        self.search
            .overlapping(&self.s.boxes[item as usize], &mut found);
        found.retain(|&other| self.may_meet(item, other));
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        numbers.extend_from_slice(self.s.near.of(slot));
        for &number in &numbers {
            let key = self.s.near.get(number).key;
            let (own, other) = if key.body_a == slot {
                (key.shape_a, (key.body_b, key.shape_b))
            } else {
                (key.shape_b, (key.body_a, key.shape_a))
            };
            if own != shape {
                continue;
            }
            let other = self.first_item[other.0 as usize] + other.1;
            match found.binary_search(&other) {
                Ok(k) => {
                    found.remove(k);
                }
                Err(_) => self.s.near.remove(number),
            }
        }
        for &other in &found {
            let (key, sensor) = self.pair_of(item, other);
            let next = if self.is_left_out(&key) || sensor {
                f64::INFINITY
            } else {
                t
            };
            self.s.near.insert(Pair {
                key,
                next,
                arrives: false,
                sensor,
            });
        }
        self.found = found;
        self.numbers = numbers;
    }

    fn pair_of(&self, item: u32, other: u32) -> (PairKey, bool) {
        let (low, high) = (item.min(other), item.max(other));
        let ((a, shape_a), (b, shape_b)) = (self.items[low as usize], self.items[high as usize]);
        let sensor = |slot: u32, shape: u32| self.body(slot).shapes[shape as usize].sensor;
        let key = PairKey {
            body_a: a,
            body_b: b,
            shape_a,
            shape_b,
        };
        (key, sensor(a, shape_a) || sensor(b, shape_b))
    }

    /// Whether two shapes could ever touch: of different bodies, one of them moved by impulses, not kept apart by filters or joints.
    fn may_meet(&self, item: u32, other: u32) -> bool {
        let ((a, shape_a), (b, shape_b)) = (self.items[item as usize], self.items[other as usize]);
        if a == b {
            return false;
        }
        let (body_a, body_b) = (self.body(a), self.body(b));
        let allowed = body_a.shapes[shape_a as usize]
            .filter
            .allows(body_b.shapes[shape_b as usize].filter);
        let jointed = self.model.are_jointed((a, shape_a), (b, shape_b));
        (body_a.is_awake() || body_b.is_awake()) && allowed && !jointed
    }

    /// Whether the solver of groups sees a pair by itself: it rests, or is left to it.
    pub(super) fn is_left_out(&self, key: &PairKey) -> bool {
        if self.s.resting(key).is_some() {
            return true;
        }
        let (a, b) = (key.body_a, key.body_b);
        let handed = self.rules.handed[a as usize] || self.rules.handed[b as usize];
        handed && self.way(a) != Way::Ballistic && self.way(b) != Way::Ballistic
    }
}

/// Where a parabola leads from the origin within `dt`: its box.
fn parabola(v: Vec3, a: Vec3, dt: f64) -> Aabb {
    let at = |t: f64| v * t + a * (0.5 * t * t);
    let end = at(dt);
    let mut bounds = Aabb {
        min: end.min(Vec3::ZERO),
        max: end.max(Vec3::ZERO),
    };
    for k in 0..3 {
        let apex = -v[k] / a[k];
        if apex > 0.0 && apex < dt {
            bounds.min[k] = bounds.min[k].min(at(apex)[k]);
            bounds.max[k] = bounds.max[k].max(at(apex)[k]);
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::events::{EventsParams, Run, schedule::Schedule};
    use crate::{BodyDesc, BodyKind, Method, Motion, Shape, Surface, World};

    /// Balls, boxes and boards of two sizes in a room with a floor; one body with two shapes, one kinematic.
    fn room(seed: u64) -> World {
        let mut world = World::new(Method::Events(EventsParams::default())).expect("good");
        let e = [1.0, 0.5][(seed % 2) as usize];
        world
            .set_default_surface(Surface::new(0.3, e))
            .expect("good");
        let normal = Vec3::Z;
        let floor = BodyDesc::fixed(Shape::HalfSpace { normal }, Vec3::Z * -0.3);
        world.add_body(&floor).expect("a body");
        let mut x = seed;
        let mut draw = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (x >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        for i in 0..24 {
            let at = Vec3::new(f64::from(i % 3), f64::from(i / 3 % 3), f64::from(i / 9)) * 0.3;
            let half = Vec3::new(0.05, 0.1, if i % 5 == 0 { 0.01 } else { 0.08 });
            let shape =
                [Shape::Cuboid { half }, Shape::Sphere { radius: 0.08 }][i as usize % 2].clone();
            let mut body = BodyDesc::dynamic(shape.clone(), at);
            body.velocity = Vec3::new(draw(), draw(), draw()) * 3.0;
            body.angular_velocity = Vec3::new(draw(), draw(), draw()) * 6.0;
            if i == 7 {
                let mut second = crate::ShapeDesc::from(shape);
                second.pose = crate::Pose::from_position(Vec3::X * 0.1);
                body.shapes.push(second);
            }
            if i == 11 {
                let (velocity, angular_velocity) = (Vec3::X * 0.2, Vec3::Z);
                body.kind = BodyKind::Kinematic(Motion::Constant {
                    velocity,
                    angular_velocity,
                });
            }
            world.add_body(&body).expect("a body");
        }
        world
    }

    /// Pairs of the heap are those whose boxes overlap, all against all.
    fn check_pairs(run: &Run<'_>) {
        let count = run.items.len() as u32;
        let mut wanted = Vec::new();
        for i in 0..count {
            for k in i + 1..count {
                let (a, b) = (&run.s.boxes[i as usize], &run.s.boxes[k as usize]);
                if run.may_meet(i, k) && a.overlaps(b) {
                    wanted.push(run.pair_of(i, k).0);
                }
            }
        }
        wanted.sort_unstable();
        let found: Vec<PairKey> = run.s.near.sorted().iter().map(|p| p.key).collect();
        assert_eq!(found, wanted);
    }

    /// After an event only bodies that go another way have new boxes; says how many there are.
    fn check_boxes(run: &Run<'_>, before: &Schedule) -> usize {
        let mut changed = 0;
        for slot in 0..run.model.bodies.len() {
            let items = run.first_item[slot] as usize..run.first_item[slot + 1] as usize;
            let same = run.s.boxes[items.clone()] == before.boxes[items];
            let goes_on = run.s.flights[slot] == before.flights[slot];
            let alone = !run.s.grouped[slot] && !before.grouped[slot];
            if alone {
                assert!(
                    !goes_on || same,
                    "body {slot} was swept again on the way it had"
                );
            }
            changed += usize::from(!same);
        }
        changed
    }

    #[test]
    fn mc_11_an_impact_sweeps_its_bodies_again_and_renews_their_pairs() {
        let (mut impacts, mut of_two) = (0, 0);
        for seed in 1..7 {
            let mut world = room(seed);
            let World {
                model,
                state,
                method,
                work,
                ..
            } = &mut world;
            let Method::Events(params) = method else {
                panic!("the method is `events`");
            };
            let nobody = model.present().next().expect("a body").1;
            let mut run = Run::begin(model, params, nobody, state, work).expect("a start");
            loop {
                check_pairs(&run);
                let (before, told) = (run.s.clone(), run.report.collisions);
                if !run.go_on(0.4).expect("an event") {
                    break;
                }
                if run.s.frame == before.frame {
                    let swept = check_boxes(&run, &before);
                    if run.report.collisions == told + 1 {
                        impacts += 1;
                        of_two += usize::from(swept <= 2);
                    }
                }
            }
        }
        println!("{of_two} of {impacts} impacts swept two bodies or one");
        assert!(impacts > 200 && of_two == impacts, "{of_two} of {impacts}");
    }
}
