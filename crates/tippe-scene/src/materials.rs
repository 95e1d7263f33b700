//! Materials and pairs of the file, with the built-in metals.
//!
//! Reads: `format::Material`, `format::Pair`.  Writes: `Problems`, the materials of the world.
//! Called by: `build`.
//! Source: `docs/scene-format.md`, "Materials"; the metals are those of `tippe::material::LECTURE_TABLE`.

use crate::build::Item;
use crate::check::{LARGE, between, not_negative};
use crate::diagnostics::{At, Problems};
use crate::format::{self, Law};
use crate::suggest::nearest;
use tippe::material::LECTURE_METALS;
use tippe::{Compliance, ImpactLaw, MaterialId, Materials, Surface};

/// The materials of a scene by name.
#[derive(Debug)]
pub(crate) struct MaterialTable {
    /// Name of each material, in the order of their ids.
    names: Vec<String>,
    ids: Vec<MaterialId>,
    /// How many come before the built-in metals.
    declared: usize,
}

/// The friction and restitution fields that materials and pairs share.
struct Stated {
    friction: Option<f64>,
    friction_static: Option<f64>,
    friction_kinetic: Option<f64>,
    friction_rolling: Option<f64>,
    friction_spinning: Option<f64>,
    restitution: Option<f64>,
    impact_law: Option<Law>,
    slip_speed: Option<f64>,
    stiffness: Option<f64>,
    exponent: Option<f64>,
    shear_modulus: Option<f64>,
    poisson_ratio: Option<f64>,
    contact_modulus: Option<f64>,
}

macro_rules! stated {
    ($from:expr) => {
        Stated {
            friction: $from.friction,
            friction_static: $from.friction_static,
            friction_kinetic: $from.friction_kinetic,
            friction_rolling: $from.friction_rolling,
            friction_spinning: $from.friction_spinning,
            restitution: $from.restitution,
            impact_law: $from.impact_law,
            slip_speed: $from.slip_speed,
            stiffness: $from.stiffness,
            exponent: $from.exponent,
            shear_modulus: $from.shear_modulus,
            poisson_ratio: $from.poisson_ratio,
            contact_modulus: $from.contact_modulus,
        }
    };
}

impl MaterialTable {
    /// Declares the materials of a scene in a world: those of the file, then the metals, then the pairs.
    pub(crate) fn build(
        materials: &[Item<format::Material>],
        pairs: &[Item<format::Pair>],
        out: &mut Materials,
        problems: &mut Problems,
    ) -> Self {
        let mut table = Self {
            names: vec!["default".into()],
            ids: vec![MaterialId::DEFAULT],
            declared: 1,
        };
        let mut default_declared = false;
        for Item { value, at } in materials {
            let surface = stated!(value).surface(Surface::default(), at, problems);
            let name_at = at.key("name");
            if value.name == "default" && !default_declared {
                default_declared = true;
                if out.set(MaterialId::DEFAULT, surface).is_err() {
                    debug_assert!(!problems.is_empty(), "checked field by field");
                }
            } else if LECTURE_METALS.contains(&value.name.as_str()) {
                problems.error(
                    &name_at,
                    format!("{:?} is a built-in material", value.name),
                    "choose another name, or use the built-in one",
                );
            } else if value.name.trim().is_empty() {
                problems.error(&name_at, "must not be empty", "give the material a name");
            } else if table.names.contains(&value.name) {
                problems.error(
                    &name_at,
                    format!("material {:?} is declared twice", value.name),
                    "rename or remove one of them",
                );
            } else {
                // A surface that makes no sense is reported already; the name still counts, so that its users are not blamed.
                let id = out
                    .add(&value.name, surface)
                    .or_else(|_| out.add(&value.name, Surface::default()));
                table.push(value.name.clone(), id.unwrap_or(MaterialId::DEFAULT));
            }
        }
        table.declared = table.names.len();
        if let Ok(ids) = out.add_lecture_table() {
            for (name, id) in LECTURE_METALS.into_iter().zip(ids) {
                table.push(name.into(), id);
            }
        }
        table.pairs(pairs, out, problems);
        table
    }

    fn push(&mut self, name: String, id: MaterialId) {
        self.names.push(name);
        self.ids.push(id);
    }

    fn pairs(&self, pairs: &[Item<format::Pair>], out: &mut Materials, problems: &mut Problems) {
        let mut seen: Vec<(MaterialId, MaterialId)> = Vec::new();
        for Item { value, at } in pairs {
            let names_at = at.key("materials");
            let a = self.find(&value.materials[0], &names_at.index(0), problems);
            let b = self.find(&value.materials[1], &names_at.index(1), problems);
            let surface = stated!(value).surface(out.lookup(a, b).0, at, problems);
            let key = if a <= b { (a, b) } else { (b, a) };
            if seen.contains(&key) && !problems.touches(&names_at) {
                let [first, second] = &value.materials;
                problems.error(
                    &names_at,
                    format!("the pair {first:?}, {second:?} is given twice"),
                    "remove one of them",
                );
            }
            seen.push(key);
            if out.set_pair(a, b, surface).is_err() {
                debug_assert!(!problems.is_empty(), "checked field by field");
            }
        }
    }

    /// The material of a name; the default one for an unknown name, which is reported.
    pub(crate) fn find(&self, name: &str, at: &At, problems: &mut Problems) -> MaterialId {
        if let Some(i) = self.names.iter().position(|n| n == name) {
            return self.ids[i];
        }
        let help = match nearest(name, self.names.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean {meant:?}?"),
            None => format!(
                "declare it: [[material]] name = {name:?}; known so far: {}",
                self.names.join(", ")
            ),
        };
        problems.error(at, format!("unknown material {name:?}"), help);
        MaterialId::DEFAULT
    }

    /// The name of a material.
    pub(crate) fn name(&self, id: MaterialId) -> &str {
        self.names.get(id.index()).map_or("default", String::as_str)
    }

    /// The names, in the order of the ids.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// Every material of the file, the default one first, with all its fields.
    pub(crate) fn written_out(&self, materials: &Materials) -> Vec<format::Material> {
        let declared = self.names.iter().zip(&self.ids).take(self.declared);
        let write = |(name, id): (&String, &MaterialId)| {
            let s = materials.lookup(*id, *id).0;
            let (stiffness, exponent, contact_modulus) = law_numbers(s.compliance);
            format::Material {
                name: name.clone(),
                friction: None,
                friction_static: Some(s.friction_static),
                friction_kinetic: Some(s.friction_kinetic),
                friction_rolling: Some(s.friction_rolling),
                friction_spinning: Some(s.friction_spinning),
                restitution: Some(s.restitution),
                impact_law: Some(law_word(s.impact_law)),
                slip_speed: Some(s.slip_speed),
                stiffness,
                exponent,
                shear_modulus: None,
                poisson_ratio: None,
                contact_modulus,
            }
        };
        declared.map(write).collect()
    }

    /// Every pair of the file with all its fields.
    pub(crate) fn pairs_written_out(
        &self,
        pairs: &[Item<format::Pair>],
        materials: &Materials,
    ) -> Vec<format::Pair> {
        let id = |name: &String| {
            self.names
                .iter()
                .position(|n| n == name)
                .map_or(MaterialId::DEFAULT, |i| self.ids[i])
        };
        let write = |Item { value, .. }: &Item<format::Pair>| {
            let s = materials
                .lookup(id(&value.materials[0]), id(&value.materials[1]))
                .0;
            let (stiffness, exponent, contact_modulus) = law_numbers(s.compliance);
            format::Pair {
                materials: value.materials.clone(),
                friction: None,
                friction_static: Some(s.friction_static),
                friction_kinetic: Some(s.friction_kinetic),
                friction_rolling: Some(s.friction_rolling),
                friction_spinning: Some(s.friction_spinning),
                restitution: Some(s.restitution),
                impact_law: Some(law_word(s.impact_law)),
                slip_speed: Some(s.slip_speed),
                stiffness,
                exponent,
                shear_modulus: None,
                poisson_ratio: None,
                contact_modulus,
            }
        };
        pairs.iter().map(write).collect()
    }
}

/// Stiffness, exponent and modulus of a compliant law, as the file writes them.
const fn law_numbers(law: Compliance) -> (Option<f64>, Option<f64>, Option<f64>) {
    match law {
        Compliance::Rigid => (None, None, None),
        Compliance::Power {
            stiffness,
            exponent,
        } => (Some(stiffness), Some(exponent), None),
        Compliance::Hertz { modulus } => (None, None, Some(modulus)),
    }
}

const fn law_word(law: ImpactLaw) -> Law {
    match law {
        ImpactLaw::Stronge => Law::Stronge,
        ImpactLaw::Poisson => Law::Poisson,
        ImpactLaw::Newton => Law::Newton,
    }
}

impl Stated {
    /// The surface these fields make of `base`, which has the values of the fields left out.
    fn surface(&self, base: Surface, at: &At, problems: &mut Problems) -> Surface {
        for (key, value) in [
            ("friction", self.friction),
            ("friction_static", self.friction_static),
            ("friction_kinetic", self.friction_kinetic),
            ("friction_rolling", self.friction_rolling),
            ("friction_spinning", self.friction_spinning),
            ("slip_speed", self.slip_speed),
        ] {
            if let Some(value) = value {
                not_negative(value, LARGE, "0 means none", &at.key(key), problems);
            }
        }
        if let Some(e) = self.restitution {
            between(
                e,
                0.0,
                1.0,
                "0 does not bounce, 1 bounces back to its height",
                &at.key("restitution"),
                problems,
            );
        }
        let (friction_static, friction_kinetic) = self.coulomb(&base, at, problems);
        Surface {
            friction_static,
            friction_kinetic,
            friction_rolling: self.friction_rolling.unwrap_or(base.friction_rolling),
            friction_spinning: self.friction_spinning.unwrap_or(base.friction_spinning),
            restitution: self.restitution.unwrap_or(base.restitution),
            impact_law: self.impact_law.map_or(base.impact_law, |law| match law {
                Law::Stronge => ImpactLaw::Stronge,
                Law::Poisson => ImpactLaw::Poisson,
                Law::Newton => ImpactLaw::Newton,
            }),
            slip_speed: self.slip_speed.unwrap_or(base.slip_speed),
            compliance: self.compliance(at, problems).unwrap_or(base.compliance),
        }
    }

    /// The compliant law that is stated; `None` if none is.
    fn compliance(&self, at: &At, problems: &mut Problems) -> Option<Compliance> {
        let ways = [
            ("stiffness", self.stiffness),
            ("shear_modulus", self.shear_modulus),
            ("contact_modulus", self.contact_modulus),
        ];
        let mut stated = ways
            .iter()
            .filter_map(|(key, value)| Some((*key, (*value)?)));
        let first = stated.next();
        if let (Some((one, _)), Some((other, _))) = (first, stated.next()) {
            let reason = format!("`{one}` is given as well");
            let help = "state one law: stiffness, shear_modulus or contact_modulus";
            problems.error(&at.key(other), reason, help);
            return None;
        }
        for (key, value, needs) in [
            ("exponent", self.exponent, "stiffness"),
            ("poisson_ratio", self.poisson_ratio, "shear_modulus"),
        ] {
            if value.is_some() && first.is_none_or(|(way, _)| way != needs) {
                let reason = format!("says nothing without `{needs}`");
                problems.error(&at.key(key), reason, format!("give `{needs}` as well"));
                return None;
            }
        }
        let (way, value) = first?;
        let made = match way {
            "stiffness" => Ok(Compliance::Power {
                stiffness: value,
                exponent: self.exponent.unwrap_or(1.0),
            }),
            "shear_modulus" => {
                let Some(ratio) = self.poisson_ratio else {
                    let help = "steel has 0.29, rubber 0.5";
                    problems.error(&at.key(way), "needs `poisson_ratio` as well", help);
                    return None;
                };
                Compliance::hertz(value, ratio)
            }
            _ => Ok(Compliance::Hertz { modulus: value }),
        };
        match made.and_then(|law| law.check().map(|()| law)) {
            Ok(law) => Some(law),
            Err(e) => {
                let help = "leave it out for contacts that do not give way";
                problems.error(&at.key(&e.field), e.reason, help);
                None
            }
        }
    }

    /// Static and kinetic coefficient; one given alone stands for both.
    fn coulomb(&self, base: &Surface, at: &At, problems: &mut Problems) -> (f64, f64) {
        if let Some(both) = self.friction {
            for (key, given) in [
                ("friction_static", self.friction_static),
                ("friction_kinetic", self.friction_kinetic),
            ] {
                if given.is_some() {
                    let help =
                        "keep `friction` for both, or give friction_static and friction_kinetic";
                    problems.error(&at.key(key), "`friction` is given as well", help);
                }
            }
            return (both, both);
        }
        match (self.friction_static, self.friction_kinetic) {
            (None, None) => (base.friction_static, base.friction_kinetic),
            (Some(one), None) | (None, Some(one)) => (one, one),
            (Some(s), Some(k)) => {
                if k > s {
                    let reason = format!("must not exceed friction_static: {k} > {s}");
                    problems.error(
                        &at.key("friction_kinetic"),
                        reason,
                        "sliding friction is never above sticking friction",
                    );
                }
                (s, k)
            }
        }
    }
}
