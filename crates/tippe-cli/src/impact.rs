//! `tippe impact`: one frictional impact from numbers, its account, and a picture of its path.
//!
//! Reads: flags.  Writes: an account or one JSON object; an SVG file if asked.
//! Called by: `main`.
//! Source: the law is `tippe::dynamics::impact`; docs/methods/impact-law.md explains it.
//! Letters: K with Δu = K P, u velocity of B relative to A at the point, n normal from A to B.

#![allow(non_snake_case)]

mod account;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use tippe::dynamics::impact::{Impact, Path, impact_with_path};
use tippe::dynamics::impulse::point_response;
use tippe::{ImpactLaw, Mat3, Surface, Vec3};

use crate::Outcome;
use crate::numbers::{self, Inertia, Response};
use crate::output::{note, out};
use crate::svg::hodograph;

/// Flags of `tippe impact`.
#[derive(Debug, Args)]
#[command(
    after_help = "Either --k, or --mass with --inertia and --arm for body B (and the same with -a for body A; without them A is fixed).

Examples:
  tippe impact --mass 1 --inertia 0.4 --arm 0,0,-1 --velocity 4,1,-1 --friction 0.3 --restitution 0.8
  tippe impact --k 3.5,3.5,1 --velocity=-1,0,-1 --friction 0.3 --restitution 0.8 --law poisson --svg path.svg"
)]
pub struct ImpactArgs {
    /// Velocity of B relative to A at the contact, X,Y,Z [m/s].
    #[arg(long, value_name = "X,Y,Z", value_parser = numbers::vector, allow_hyphen_values = true)]
    velocity: Vec3,
    /// Normal from A to B; its length does not matter.
    #[arg(long, value_name = "X,Y,Z", value_parser = numbers::vector, allow_hyphen_values = true, default_value = "0,0,1")]
    normal: Vec3,
    /// Collision matrix [1/kg]: 3 numbers (diagonal), 6 (xx,yy,zz,xy,xz,yz) or 9 (rows).
    #[arg(long, value_name = "NUMBERS", value_parser = numbers::response, allow_hyphen_values = true,
        conflicts_with_all = ["mass", "inertia", "arm", "mass_a", "inertia_a", "arm_a"], required_unless_present = "mass")]
    k: Option<Response>,
    /// Mass of B [kg].
    #[arg(long, value_name = "KG", requires_all = ["inertia", "arm"], allow_negative_numbers = true)]
    mass: Option<f64>,
    /// Inertia of B about its centre of mass, world axes [kg·m²]: 1 number, 3 (diagonal), 6 (xx,yy,zz,xy,xz,yz) or 9 (rows).
    #[arg(long, value_name = "NUMBERS", value_parser = numbers::inertia, allow_hyphen_values = true, requires = "mass")]
    inertia: Option<Inertia>,
    /// From the centre of mass of B to the contact, X,Y,Z [m].
    #[arg(long, value_name = "X,Y,Z", value_parser = numbers::vector, allow_hyphen_values = true, requires = "mass")]
    arm: Option<Vec3>,
    /// Mass of A [kg]; A is fixed if not given.
    #[arg(long, value_name = "KG", requires_all = ["mass", "inertia_a", "arm_a"], allow_negative_numbers = true)]
    mass_a: Option<f64>,
    /// Inertia of A.
    #[arg(long, value_name = "NUMBERS", value_parser = numbers::inertia, allow_hyphen_values = true, requires = "mass_a")]
    inertia_a: Option<Inertia>,
    /// From the centre of mass of A to the contact.
    #[arg(long, value_name = "X,Y,Z", value_parser = numbers::vector, allow_hyphen_values = true, requires = "mass_a")]
    arm_a: Option<Vec3>,
    /// Coulomb friction.
    #[arg(
        long,
        value_name = "MU",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    friction: f64,
    /// Friction that holds a point at rest, if it is more than the sliding one.
    #[arg(long, value_name = "MU", allow_negative_numbers = true)]
    friction_static: Option<f64>,
    /// Coefficient of restitution, 0 to 1.
    #[arg(
        long,
        value_name = "E",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    restitution: f64,
    /// What restitution is a ratio of: works, impulses or velocities.
    #[arg(long, value_enum, default_value = "stronge")]
    law: LawArg,
    /// Print one JSON object, path included, and nothing else on standard output.
    #[arg(long)]
    json: bool,
    /// Draw the path of the contact velocity.
    #[arg(long, value_name = "FILE.svg")]
    svg: Option<PathBuf>,
}

/// Laws of restitution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LawArg {
    /// The work given back is e² of that of compression; never gains energy.
    Stronge,
    /// The impulse given back is e of that of compression.
    Poisson,
    /// The normal velocity is −e times that of arrival; can gain energy with friction.
    Newton,
}

/// A body of finite mass at the contact.
struct Side {
    name: &'static str,
    /// +1 for B, −1 for A: the sign of its impulse.
    sign: f64,
    mass: f64,
    inverse_inertia: Mat3,
    arm: Vec3,
}

impl Side {
    /// Changes of velocity and spin by the impulse `P` on B.
    fn change(&self, P: Vec3) -> (Vec3, Vec3) {
        let P = P * self.sign;
        (P / self.mass, self.inverse_inertia * self.arm.cross(P))
    }
}

/// What was computed.
struct Computed {
    K: Mat3,
    n: Vec3,
    u: Vec3,
    surface: Surface,
    sides: Vec<Side>,
    impact: Impact,
    path: Path,
}

/// Computes.
///
/// # Errors
/// The picture cannot be written, or the reader of our output went away.
pub fn impact(args: &ImpactArgs) -> Result<Outcome> {
    let found = match compute(args) {
        Ok(found) => found,
        Err(reason) => {
            note(&format!("error: {reason}"));
            return Ok(Outcome::BadInput);
        }
    };
    if let Some(file) = &args.svg {
        let picture = hodograph::draw(&hodograph::Hodograph {
            title: account::title(&found),
            normal: found.n,
            path: &found.path,
        });
        fs::write(file, picture).with_context(|| format!("cannot write {}", file.display()))?;
    }
    out(&if args.json {
        account::json(&found)
    } else {
        account::text(&found)
    })?;
    Ok(Outcome::Done)
}

fn compute(args: &ImpactArgs) -> Result<Computed, String> {
    let n = args.normal;
    let length = n.length();
    if !(length.is_finite() && length > 0.0) {
        return Err("--normal: must have a direction, such as 0,0,1".into());
    }
    let n = n / length;
    let sides = sides(args)?;
    let K = match &args.k {
        Some(Response(K)) => *K,
        None => sides.iter().fold(Mat3::ZERO, |K, side| {
            K + point_response(1.0 / side.mass, side.inverse_inertia, side.arm)
        }),
    };
    let surface = Surface {
        friction_kinetic: args.friction,
        impact_law: match args.law {
            LawArg::Stronge => ImpactLaw::Stronge,
            LawArg::Poisson => ImpactLaw::Poisson,
            LawArg::Newton => ImpactLaw::Newton,
        },
        ..Surface::new(
            args.friction_static.unwrap_or(args.friction),
            args.restitution,
        )
    };
    let (impact, path) = impact_with_path(K, n, args.velocity, &surface).map_err(|e| {
        // Fields of the library in the words of the flags.
        let flag = match e.field.as_str() {
            "friction_kinetic" => "friction",
            "friction_static" if args.friction_static.is_none() => "friction",
            "friction_static" => "friction-static",
            "K" => "k",
            other => other,
        };
        format!("--{flag}: {}", e.reason)
    })?;
    Ok(Computed {
        K,
        n,
        u: args.velocity,
        surface,
        sides,
        impact,
        path,
    })
}

/// The bodies given by mass, inertia and arm; none if K was.
fn sides(args: &ImpactArgs) -> Result<Vec<Side>, String> {
    let bodies = [
        ("B", 1.0, "", args.mass, args.inertia, args.arm),
        ("A", -1.0, "-a", args.mass_a, args.inertia_a, args.arm_a),
    ];
    let mut sides = Vec::new();
    for (name, sign, suffix, mass, inertia, arm) in bodies {
        let (Some(mass), Some(Inertia(inertia)), Some(arm)) = (mass, inertia, arm) else {
            continue;
        };
        if !(mass.is_finite() && mass > 0.0) {
            return Err(format!(
                "--mass{suffix}: must be positive and finite, got {mass}"
            ));
        }
        let inverse_inertia = numbers::inverse(inertia).ok_or_else(|| {
            format!("--inertia{suffix}: must be symmetric and positive definite, such as 0.4 or 0.1,0.2,0.2")
        })?;
        sides.push(Side {
            name,
            sign,
            mass,
            inverse_inertia,
            arm,
        });
    }
    Ok(sides)
}
