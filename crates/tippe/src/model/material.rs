//! Materials: friction and restitution belong to the pair of surfaces that touch.
//!
//! Reads: nothing.  Writes: nothing after the model is built.
//! Called by: `collide` (looks up each touching pair once a step).
//! Source: [Lecture] "Measurements" (table); fallback rule in `docs/conventions.md`.

use crate::error::BuildError;
use crate::fault::{self, Fault};
use crate::model::compliance::Compliance;

/// Names a material of one world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaterialId(pub(crate) u32);

impl MaterialId {
    /// The material every world starts with.
    pub const DEFAULT: Self = Self(0);

    /// Position in the order of creation.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an impact gives back, for coefficient of restitution e.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImpactLaw {
    /// Energy: the normal work of restitution is e² of that of compression. Never gains energy.
    #[default]
    Stronge,
    /// Impulse: restitution gives back e times the impulse of compression.
    Poisson,
    /// Velocity: the normal velocity leaves with −e times its value on arrival. Can gain energy with friction.
    Newton,
}

/// How two surfaces answer each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Coulomb coefficient while sticking [1].
    pub friction_static: f64,
    /// Coulomb coefficient while sliding [1]; not above `friction_static`.
    pub friction_kinetic: f64,
    /// Rolling resistance: torque per normal force and effective radius [1].
    pub friction_rolling: f64,
    /// Spinning resistance about the normal: torque per normal force and effective radius [1].
    pub friction_spinning: f64,
    /// Coefficient of restitution, 0 to 1 [1].
    pub restitution: f64,
    /// What `restitution` is a ratio of.
    pub impact_law: ImpactLaw,
    /// Slip speed ε at which friction reaches 1/√2 of its sliding value [m/s]; 0 is ideal Coulomb friction.
    pub slip_speed: f64,
    /// How they give way to each other; with that, `restitution` is reached by damping. Only `forces` honours it.
    pub compliance: Compliance,
}

impl Default for Surface {
    /// μ = 0.5, no bounce: the values used where a scene says nothing.
    fn default() -> Self {
        Self::new(0.5, 0.0)
    }
}

impl Surface {
    /// One friction coefficient for sticking and sliding, one coefficient of restitution, nothing else.
    #[must_use]
    pub const fn new(friction: f64, restitution: f64) -> Self {
        Self {
            friction_static: friction,
            friction_kinetic: friction,
            friction_rolling: 0.0,
            friction_spinning: 0.0,
            restitution,
            impact_law: ImpactLaw::Stronge,
            slip_speed: 0.0,
            compliance: Compliance::Rigid,
        }
    }

    /// Checks every number for physical sense.
    ///
    /// # Errors
    /// The first field that makes no sense, and why.
    pub fn check(&self) -> Result<(), BuildError> {
        let not_negative = [
            ("friction_static", self.friction_static),
            ("friction_kinetic", self.friction_kinetic),
            ("friction_rolling", self.friction_rolling),
            ("friction_spinning", self.friction_spinning),
            ("slip_speed", self.slip_speed),
        ];
        for (field, value) in not_negative {
            if !value.is_finite() || value < 0.0 {
                return Err(BuildError::new(
                    field,
                    format!("must be finite and not negative, got {value}"),
                ));
            }
        }
        if !(0.0..=1.0).contains(&self.restitution) {
            return Err(BuildError::new(
                "restitution",
                format!("must be between 0 and 1, got {}", self.restitution),
            ));
        }
        if self.friction_kinetic > self.friction_static {
            return Err(BuildError::new(
                "friction_kinetic",
                format!(
                    "must not exceed friction_static ({} > {})",
                    self.friction_kinetic, self.friction_static
                ),
            ));
        }
        self.compliance.check()
    }

    /// The stated fallback where no pair is given: each friction by geometric mean, restitution by minimum.
    #[must_use]
    pub fn combined(a: &Self, b: &Self) -> Self {
        let mean = |x: f64, y: f64| (x * y).sqrt();
        Self {
            friction_static: mean(a.friction_static, b.friction_static),
            friction_kinetic: mean(a.friction_kinetic, b.friction_kinetic),
            friction_rolling: mean(a.friction_rolling, b.friction_rolling),
            friction_spinning: mean(a.friction_spinning, b.friction_spinning),
            restitution: a.restitution.min(b.restitution),
            impact_law: if a.impact_law == b.impact_law {
                a.impact_law
            } else {
                ImpactLaw::Stronge
            },
            slip_speed: a.slip_speed.max(b.slip_speed),
            // Laws that do not combine are refused before a step: [`Materials::uncombined`].
            compliance: Compliance::combined(&a.compliance, &b.compliance).unwrap_or_default(),
        }
    }
}

/// One entry of the pair table: two materials, the lower id first, and their surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pair {
    pub(crate) first: MaterialId,
    pub(crate) second: MaterialId,
    pub(crate) surface: Surface,
}

/// All materials of a world and the pairs that were measured or stated.
#[derive(Clone, Debug, PartialEq)]
pub struct Materials {
    pub(crate) names: Vec<String>,
    pub(crate) surfaces: Vec<Surface>,
    /// Sorted by (first, second).
    pub(crate) pairs: Vec<Pair>,
}

impl Default for Materials {
    fn default() -> Self {
        Self {
            names: vec!["default".into()],
            surfaces: vec![Surface::default()],
            pairs: Vec::new(),
        }
    }
}

impl Materials {
    /// Adds a material with the surface it shows to its own kind and to partners no pair is given for.
    ///
    /// # Errors
    /// The field of `surface` that makes no sense, or a name already taken.
    pub fn add(&mut self, name: &str, surface: Surface) -> Result<MaterialId, BuildError> {
        surface.check()?;
        if self.find(name).is_some() {
            return Err(BuildError::new(
                "name",
                format!("material `{name}` exists already"),
            ));
        }
        let id = MaterialId(u32::try_from(self.names.len()).expect("fewer than 2³² materials"));
        self.names.push(name.to_owned());
        self.surfaces.push(surface);
        Ok(id)
    }

    /// The material of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<MaterialId> {
        self.names
            .iter()
            .position(|n| n == name)
            .map(|i| MaterialId(i as u32))
    }

    /// Changes the surface of one material.
    ///
    /// # Errors
    /// The field of `surface` that makes no sense.
    pub fn set(&mut self, id: MaterialId, surface: Surface) -> Result<(), BuildError> {
        surface.check()?;
        self.surfaces[id.index()] = surface;
        Ok(())
    }

    /// States how two materials answer each other, in either order.
    ///
    /// # Errors
    /// The field of `surface` that makes no sense.
    pub fn set_pair(
        &mut self,
        a: MaterialId,
        b: MaterialId,
        surface: Surface,
    ) -> Result<(), BuildError> {
        surface.check()?;
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        let pair = Pair {
            first,
            second,
            surface,
        };
        match self
            .pairs
            .binary_search_by_key(&(first, second), |p| (p.first, p.second))
        {
            Ok(i) => self.pairs[i] = pair,
            Err(i) => self.pairs.insert(i, pair),
        }
        Ok(())
    }

    /// The surface of a pair, and whether two different materials fell back to the combination rule.
    #[must_use]
    pub fn lookup(&self, a: MaterialId, b: MaterialId) -> (Surface, bool) {
        let (mut surface, fell_back) = self.found(a, b);
        if fault::active(Fault::RestitutionSign) {
            surface.restitution = -surface.restitution;
        }
        (surface, fell_back)
    }

    fn found(&self, a: MaterialId, b: MaterialId) -> (Surface, bool) {
        let key = if a <= b { (a, b) } else { (b, a) };
        match self
            .pairs
            .binary_search_by_key(&key, |p| (p.first, p.second))
        {
            Ok(i) => (self.pairs[i].surface, false),
            Err(_) if a == b => (self.surfaces[a.index()], false),
            Err(_) => (
                Surface::combined(&self.surfaces[a.index()], &self.surfaces[b.index()]),
                true,
            ),
        }
    }

    /// Name of a material or pair that gives way; `None` if all are rigid.
    #[must_use]
    pub fn compliant(&self) -> Option<String> {
        let one = self
            .surfaces
            .iter()
            .position(|s| s.compliance.gives_way())
            .map(|i| self.names[i].clone());
        let pair = || {
            let pair = self
                .pairs
                .iter()
                .find(|p| p.surface.compliance.gives_way())?;
            let name = |id: MaterialId| &self.names[id.index()];
            Some(format!("{}, {}", name(pair.first), name(pair.second)))
        };
        one.or_else(pair)
    }

    /// Names of two materials whose compliant laws differ in kind or exponent and whose pair is not stated.
    #[must_use]
    pub fn uncombined(&self) -> Option<(String, String)> {
        let count = self.surfaces.len();
        for i in 0..count {
            for j in i + 1..count {
                let (a, b) = (MaterialId(i as u32), MaterialId(j as u32));
                let stated = self
                    .pairs
                    .binary_search_by_key(&(a, b), |p| (p.first, p.second));
                let laws = [i, j].map(|k| self.surfaces[k].compliance);
                if stated.is_err() && Compliance::combined(&laws[0], &laws[1]).is_none() {
                    return Some((self.names[i].clone(), self.names[j].clone()));
                }
            }
        }
        None
    }

    /// Adds the four metals of the lecture's table and all ten of their pairs; returns their ids in the order of [`LECTURE_METALS`].
    ///
    /// # Errors
    /// A name of the table is already taken.
    pub fn add_lecture_table(&mut self) -> Result<[MaterialId; 4], BuildError> {
        let own = |name: &str| {
            let row = LECTURE_TABLE
                .iter()
                .find(|r| r.0 == name && r.1 == name)
                .expect("every metal has a row with itself");
            metal(row.2, row.3, row.4)
        };
        let mut ids = [MaterialId::DEFAULT; 4];
        for (id, name) in ids.iter_mut().zip(LECTURE_METALS) {
            *id = self.add(name, own(name))?;
        }
        for (a, b, mu_s, mu_k, e) in LECTURE_TABLE {
            let find = |name| self.find(name).expect("added above");
            self.set_pair(find(a), find(b), metal(mu_s, mu_k, e))?;
        }
        Ok(ids)
    }
}

const fn metal(friction_static: f64, friction_kinetic: f64, restitution: f64) -> Surface {
    let mut surface = Surface::new(friction_static, restitution);
    surface.friction_kinetic = friction_kinetic;
    surface
}

/// Names of the built-in metals.
pub const LECTURE_METALS: [&str; 4] = [
    "dry steel",
    "greasy steel",
    "dry aluminium",
    "greasy aluminium",
];

/// [Lecture] "Measurements": (first, second, μ_s, μ_k, e). Symmetric.
pub const LECTURE_TABLE: [(&str, &str, f64, f64, f64); 10] = [
    ("dry steel", "dry steel", 0.70, 0.57, 0.80),
    ("greasy steel", "dry steel", 0.23, 0.16, 0.90),
    ("greasy steel", "greasy steel", 0.23, 0.16, 0.90),
    ("dry aluminium", "dry steel", 0.70, 0.50, 0.85),
    ("dry aluminium", "greasy steel", 0.23, 0.16, 0.85),
    ("dry aluminium", "dry aluminium", 0.70, 0.50, 0.85),
    ("greasy aluminium", "dry steel", 0.30, 0.20, 0.85),
    ("greasy aluminium", "greasy steel", 0.23, 0.16, 0.85),
    ("greasy aluminium", "dry aluminium", 0.30, 0.20, 0.85),
    ("greasy aluminium", "greasy aluminium", 0.30, 0.20, 0.85),
];
