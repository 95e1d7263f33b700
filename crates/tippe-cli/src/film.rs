//! Film: a few frames of the motion for the page, and paths where there are few bodies.
//!
//! Reads: World after a step.  Writes: frames and trails.
//! Called by: `run`, then `report`.
//! Source: first, last and two frames between, evenly spaced in steps.

use tippe::{BodyId, Vec3, World};

use crate::svg::scene::Frame;

/// Intervals between the frames of a whole run.
const INTERVALS: u64 = 3;
/// More bodies than this have no trails: they would hide the bodies.
const TRAILS_MAX: usize = 24;
/// Points of a trail.
const TRAIL_POINTS: u64 = 240;

/// Frames and trails of a run.
#[derive(Clone, Debug)]
pub struct Film {
    steps_planned: u64,
    followed: Vec<BodyId>,
    trails: Vec<Vec<Vec3>>,
    shots: Vec<(Frame, Vec<Vec<Vec3>>)>,
}

impl Film {
    /// Takes the first frame.
    pub fn new(world: &World, steps_planned: u64) -> Self {
        let dynamic = |id: &BodyId| world.body(*id).is_ok_and(tippe::Body::is_dynamic);
        let mut followed: Vec<BodyId> = world
            .body_ids()
            .filter(dynamic)
            .take(TRAILS_MAX + 1)
            .collect();
        if followed.len() > TRAILS_MAX {
            followed.clear();
        }
        let trails = vec![Vec::new(); followed.len()];
        let mut film = Self {
            steps_planned: steps_planned.max(1),
            followed,
            trails,
            shots: Vec::new(),
        };
        film.follow(world);
        film.shoot(world);
        film
    }

    /// Looks at the world after step number `step` (from 1).
    pub fn see(&mut self, world: &World, step: u64) {
        if step.is_multiple_of(self.steps_planned.div_ceil(TRAIL_POINTS)) {
            self.follow(world);
        }
        // The frame at the end comes with `finish`, wherever that is.
        let due = |k: u64| self.steps_planned * k / INTERVALS;
        if (1..INTERVALS).any(|k| due(k) == step && step < self.steps_planned) {
            self.shoot(world);
        }
    }

    /// Takes the last frame, wherever the run ended.
    pub fn finish(&mut self, world: &World) {
        if self
            .shots
            .last()
            .is_none_or(|(frame, _)| frame.time < world.time())
        {
            self.follow(world);
            self.shoot(world);
        }
    }

    fn follow(&mut self, world: &World) {
        for (trail, id) in self.trails.iter_mut().zip(&self.followed) {
            trail.extend(world.body_state(*id).map(|s| s.position));
        }
    }

    fn shoot(&mut self, world: &World) {
        self.shots.push((Frame::of(world), self.trails.clone()));
    }

    /// The frames, in order of time.
    pub fn frames(&self) -> Vec<&Frame> {
        self.shots.iter().map(|s| &s.0).collect()
    }

    /// The frames with the trails up to their time.
    pub fn shots(&self) -> impl Iterator<Item = (&Frame, &[Vec<Vec3>])> {
        self.shots
            .iter()
            .map(|(frame, trails)| (frame, trails.as_slice()))
    }

    /// Whether paths are drawn.
    pub fn has_trails(&self) -> bool {
        self.trails.iter().any(|t| t.len() > 1)
    }
}
