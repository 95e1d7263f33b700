//! One run of a scene, loaded from text like a user's, with bodies found by name.
//!
//! Reads: scene text.  Writes: nothing outside.
//! Called by: `cases`, `tests`.
//! Source: docs/scene-format.md.

use crate::case::{Form, Setup, Stopped};
use crate::form::{Anchor, anchors, articulate};
use crate::watch::Watch;
use tippe::articulated::AdaptiveDesc;
use tippe::{BodyId, BodyState, Method, Quat, StepReport, Vec3, World};
use tippe_scene::{Format, LoadOptions, load_str};

/// A scene under way.
#[derive(Clone, Debug)]
pub struct Sim {
    /// The world, to read whatever a case measures.
    pub world: World,
    names: Vec<(String, BodyId)>,
    anchors: Vec<Anchor>,
    dt: f64,
    steps: u64,
    watch: Option<Watch>,
}

impl Sim {
    /// Loads a scene: gravity and `bodies_text` as the file, method and step from the setup as a user's flags would be.
    ///
    /// # Errors
    /// The scene was refused: all of its messages.
    pub fn load(setup: &Setup, gravity: Vec3, bodies_text: &str) -> Result<Self, Stopped> {
        let text = format!(
            "version = 1\n[world]\ngravity = {}\n{bodies_text}",
            list(gravity)
        );
        Self::open(setup, &text)
    }

    /// Loads a whole scene; method and step from the setup as a user's flags would be.
    ///
    /// # Errors
    /// The scene was refused: all of its messages.
    pub fn open(setup: &Setup, text: &str) -> Result<Self, Stopped> {
        let options = LoadOptions {
            method: Some(setup.method.clone()),
            dt: Some(setup.dt),
            ..LoadOptions::default()
        };
        let scene = load_str(text, "case.toml", Format::Toml, &options)
            .map_err(|e| Stopped::new(format!("the scene was refused: {e}")))?;
        let (mut world, mut names) = (scene.world, scene.names);
        let anchors = match setup.form {
            Form::Maximal => anchors(&world),
            Form::Articulated => articulate(&mut world, &mut names, None)?,
            Form::Adaptive => {
                let all = AdaptiveDesc::joints(usize::MAX);
                articulate(&mut world, &mut names, Some(&all))?
            }
        };
        if setup.loosen != 1.0 {
            let method = loosened(world.method(), setup.loosen);
            world
                .set_method(method)
                .expect("parameters of a case make sense");
        }
        if let Some(watch) = &setup.watch {
            watch.show(|w| w.begin(&world, scene.dt));
        }
        Ok(Self {
            world,
            names,
            anchors,
            dt: scene.dt,
            steps: 0,
            watch: setup.watch.clone(),
        })
    }

    /// The joints of the scene, whatever holds them.
    #[must_use]
    pub fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    /// Time [s].
    #[must_use]
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.dt
    }

    /// One step.
    ///
    /// # Errors
    /// The engine stopped, or a number became non-finite.
    pub fn step(&mut self) -> Result<StepReport, Stopped> {
        let time = self.time();
        let report = self
            .world
            .step(self.dt)
            .map_err(|e| Stopped::new(format!("at {time:.4} s: {e}")))?;
        self.steps += 1;
        if let Some(watch) = &self.watch {
            watch.show(|w| w.step(&self.world, &report));
        }
        Ok(report)
    }

    /// Shows a quantity of now, and what it should be, to whoever watches; without a watcher neither is computed.
    pub fn note(&self, what: &'static str, ours_and_exact: impl FnOnce() -> (f64, f64)) {
        if let Some(watch) = &self.watch {
            let (ours, exact) = ours_and_exact();
            watch.show(|w| w.note(self.time(), what, ours, exact));
        }
    }

    /// Steps to the multiple of dt nearest to `time`, calling `look` after each step.
    ///
    /// # Errors
    /// The engine stopped.
    pub fn run_until(&mut self, time: f64, mut look: impl FnMut(&Self)) -> Result<(), Stopped> {
        while self.time() + 0.5 * self.dt < time {
            self.step()?;
            look(self);
        }
        Ok(())
    }

    /// The body of that name.
    ///
    /// # Errors
    /// There is none: the case is written wrong.
    pub fn body(&self, name: &str) -> Result<BodyId, Stopped> {
        let found = self.names.iter().find(|(n, _)| n == name);
        found
            .map(|(_, id)| *id)
            .ok_or_else(|| Stopped::new(format!("the scene has no body `{name}`")))
    }

    /// The bodies of those names.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn bodies<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<BodyId>, Stopped> {
        names.into_iter().map(|n| self.body(n)).collect()
    }

    /// Centre of mass, orientation and velocities of a body.
    ///
    /// # Panics
    /// The id is not of this scene.
    #[must_use]
    pub fn state(&self, id: BodyId) -> BodyState {
        *self
            .world
            .body_state(id)
            .expect("a case keeps the bodies of its scene")
    }

    /// Angular momentum of a body about its centre of mass [kg·m²/s].
    ///
    /// # Panics
    /// The id is not of this scene.
    #[must_use]
    pub fn spin_momentum(&self, id: BodyId) -> Vec3 {
        let body = self
            .world
            .body(id)
            .expect("a case keeps the bodies of its scene");
        let s = self.state(id);
        let axes = s.rotation * body.axes;
        axes * (body.moments * (axes.conjugate() * s.angular_velocity))
    }

    /// Kinetic plus potential energy [J].
    #[must_use]
    pub fn energy(&self) -> f64 {
        let (kinetic, potential) = self.world.energy();
        kinetic + potential
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.show(|w| w.end(&self.world));
        }
    }
}

/// A method with all its solver tolerances multiplied by a factor.
fn loosened(method: &Method, factor: f64) -> Method {
    let mut method = method.clone();
    match &mut method {
        Method::Sequential(p) => {
            p.velocity_tolerance *= factor;
            p.joint_tolerance *= factor;
        }
        Method::Forces(p) => {
            p.touch_tolerance *= factor;
            p.velocity_tolerance *= factor;
        }
        Method::Iterative(p) => {
            p.depth_tolerance *= factor;
            p.drift_tolerance *= factor;
            p.velocity_tolerance *= factor;
            p.joint_tolerance *= factor;
        }
        Method::Simultaneous(p) => {
            p.depth_tolerance *= factor;
            p.drift_tolerance *= factor;
            p.velocity_tolerance *= factor;
            p.joint_tolerance *= factor;
        }
        Method::Events(p) => {
            p.velocity_tolerance *= factor;
            p.joint_tolerance *= factor;
        }
    }
    method
}

/// Standard gravity of the cases [m/s²].
pub const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -crate::analytic::G);

/// A vector as the scene format writes it.
#[must_use]
pub fn list(v: Vec3) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

/// A quaternion as the scene format writes it: w, x, y, z.
#[must_use]
pub fn quat(q: Quat) -> String {
    format!("[{:?}, {:?}, {:?}, {:?}]", q.w, q.x, q.y, q.z)
}

/// A rotation about y by `angle` [rad]: turns z towards x.
#[must_use]
pub fn turn_y(angle: f64) -> Quat {
    Quat::from_xyzw(0.0, libm::sin(0.5 * angle), 0.0, libm::cos(0.5 * angle))
}

/// The one material of a case: friction μ and restitution e.
#[must_use]
pub fn material(friction: f64, restitution: f64) -> String {
    format!("[[material]]\nname = \"m\"\nfriction = {friction:?}\nrestitution = {restitution:?}\n")
}

/// Fixed ground below the plane through the origin with this normal.
#[must_use]
pub fn ground(normal: Vec3) -> String {
    format!(
        "[[body]]\nname = \"ground\"\nkind = \"fixed\"\nshape.half_space = {{ normal = {} }}\nmaterial = \"m\"\n",
        list(normal)
    )
}

/// A plane inclined by α about y.
#[derive(Clone, Copy, Debug)]
pub struct Slope {
    /// Unit normal.
    pub normal: Vec3,
    /// Unit vector down the slope, towards +x.
    pub down: Vec3,
    /// Turns level things onto the slope.
    pub rotation: Quat,
}

impl Slope {
    /// The slope of angle `alpha` [rad] that falls towards +x.
    #[must_use]
    pub fn new(alpha: f64) -> Self {
        let (s, c) = (libm::sin(alpha), libm::cos(alpha));
        Self {
            normal: Vec3::new(s, 0.0, c),
            down: Vec3::new(c, 0.0, -s),
            rotation: turn_y(alpha),
        }
    }
}
