//! Many worlds stepped together, each on one thread. Results depend on neither the threads nor on how many worlds there are.
//!
//! Reads: nothing.  Writes: its worlds.
//! Called by: users who sweep, sample or learn.
//! Source: own; rayon shares the worlds out.

use crate::error::{BuildError, StepError};
use crate::report::StepReport;
use crate::threads::Threads;
use crate::world::World;
use rayon::prelude::*;

/// Worlds and what the last call did to each.
///
/// ```
/// use tippe::batch::Batch;
/// use tippe::{BodyDesc, Shape, Vec3, World};
///
/// let mut world = World::default();
/// let ball = world.add_body(&BodyDesc::dynamic(Shape::Sphere { radius: 0.1 }, Vec3::Z))?;
/// let mut batch = Batch::new(vec![world; 8], 2)?;
/// let fell = |world: &World| world.pose(ball).map(|p| p.position.z < 0.6);
/// batch.step(0.01, 30);
/// assert!(batch.outcomes().iter().all(|o| o.is_ok()));
/// assert!(batch.worlds().iter().all(|w| fell(w).is_ok_and(|yes| yes)));
/// batch.reset(3)?;
/// assert_eq!(batch.worlds()[3].time(), 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Batch {
    worlds: Vec<World>,
    starts: Vec<World>,
    outcomes: Vec<Result<StepReport, StepError>>,
    threads: Threads,
}

impl Batch {
    /// A batch of these worlds as they are now; `reset` comes back to that. Each world is stepped on one thread, so many of them at a time.
    ///
    /// # Errors
    /// The number of threads makes no sense.
    pub fn new(mut worlds: Vec<World>, threads: usize) -> Result<Self, BuildError> {
        for world in &mut worlds {
            world.set_threads(1)?;
        }
        Ok(Self {
            starts: worlds.clone(),
            outcomes: vec![Ok(StepReport::default()); worlds.len()],
            worlds,
            threads: Threads::new(threads)?,
        })
    }

    /// Advances every world by `count` steps of `dt` [s]. What came of each is in [`Batch::outcomes`]: counts and worst values of all its steps, or
    /// why it stopped; the others go on.
    pub fn step(&mut self, dt: f64, count: usize) {
        let advance = |(world, outcome): (&mut World, &mut Result<StepReport, StepError>)| {
            *outcome = advance(world, dt, count);
        };
        match self.threads.pool() {
            None => self
                .worlds
                .iter_mut()
                .zip(&mut self.outcomes)
                .for_each(advance),
            Some(pool) => {
                let (worlds, outcomes) = (&mut self.worlds, &mut self.outcomes);
                pool.install(|| worlds.par_iter_mut().zip(outcomes).for_each(advance));
            }
        }
    }

    /// What the last call of [`Batch::step`] did to each world.
    pub fn outcomes(&self) -> &[Result<StepReport, StepError>] {
        &self.outcomes
    }

    /// The worlds.
    #[must_use]
    pub fn worlds(&self) -> &[World] {
        &self.worlds
    }

    /// The worlds, to be changed.
    pub fn worlds_mut(&mut self) -> &mut [World] {
        &mut self.worlds
    }

    /// Puts a world back to its start.
    ///
    /// # Errors
    /// There is no such world (field `index`).
    pub fn reset(&mut self, index: usize) -> Result<(), BuildError> {
        let Some(world) = self.worlds.get_mut(index) else {
            let reason = format!("there are {} worlds, got {index}", self.starts.len());
            return Err(BuildError::new("index", reason));
        };
        world.clone_from(&self.starts[index]);
        self.outcomes[index] = Ok(StepReport::default());
        Ok(())
    }
}

/// Steps one world.
fn advance(world: &mut World, dt: f64, count: usize) -> Result<StepReport, StepError> {
    let mut all = StepReport::default();
    for i in 0..count {
        let report = world.step(dt)?;
        if i == 0 {
            all = report;
        } else {
            all.append(&report);
        }
    }
    Ok(all)
}

/// The seed of world `index` in a batch with that seed: the same whatever the size of the batch.
#[must_use]
pub const fn stream(seed: u64, index: u64) -> u64 {
    // SplitMix64 of both, see docs/references.md.
    let mut z = seed ^ index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
