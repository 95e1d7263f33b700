//! `tippe query`: what a ray or a moving shape meets, what overlaps a shape, what is nearest, in a scene at any time.
//!
//! Reads: a scene file, flags.  Writes: one line or one JSON object for each hit.
//! Called by: `main`.
//! Source: the questions are those of `tippe::query`; exit code 1 means that nothing was found.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;
use tippe::query::{Hit, QueryFilter};
use tippe::{BodyId, Filter, Pose, Quat, Shape, Vec3};
use tippe_scene::{LoadOptions, Scene};

use crate::Outcome;
use crate::format::{number, parse_seconds};
use crate::load;
use crate::numbers::{self, Numbers};
use crate::output::{note, out};

/// Flags of `tippe query`.
#[derive(Debug, Args)]
#[command(
    after_help = "Hits come nearest first; distance is along the ray or the cast, or between the shapes, and below zero it is a depth. \
Exit code 1 means that nothing was found.

Examples:
  tippe query scenes/funnel.toml ray --from 0,0,30 --direction 0,0,-1
  tippe query scenes/funnel.toml --seconds 3 cast --sphere 0.5 --from 0,0,30 --direction 0,0,-1 --all
  tippe query scenes/funnel.toml overlap --box 4,4,1 --at 0,0,0.4
  tippe query scenes/funnel.toml distance --point 0,0,12 --without \"plate +x\" --json"
)]
pub struct QueryArgs {
    /// Scene file, TOML or JSON.
    scene: PathBuf,
    /// Time to simulate before the question [s].
    #[arg(long, value_name = "T", value_parser = crate::args::parse_time, allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// Step length [s], such as 0.001 or 1/60, instead of the scene's.
    #[arg(long, value_name = "H", value_parser = parse_seconds, allow_negative_numbers = true)]
    dt: Option<f64>,
    /// Put a value into the scene by path, in place of the file's: body.block.mass=2, parameters.radius=0.1, method.name=iterative.
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Let the scene include files outside its own folder.
    #[arg(long)]
    allow_outside: bool,
    /// The question.
    #[command(subcommand)]
    question: Question,
}

/// The questions.
#[derive(Debug, Subcommand)]
enum Question {
    /// What lies on a ray.
    Ray {
        #[command(flatten)]
        way: Way,
        #[command(flatten)]
        common: Common,
    },
    /// What a shape meets that moves without turning.
    Cast {
        #[command(flatten)]
        shape: ShapeArgs,
        #[command(flatten)]
        way: Way,
        #[command(flatten)]
        common: Common,
    },
    /// What overlaps a shape, deepest first.
    Overlap {
        #[command(flatten)]
        shape: ShapeArgs,
        /// Where the shape is, X,Y,Z [m].
        #[arg(long, value_name = "X,Y,Z", value_parser = numbers::vector, allow_hyphen_values = true)]
        at: Vec3,
        #[command(flatten)]
        common: Common,
    },
    /// What is nearest to a point or a shape.
    Distance {
        #[command(flatten)]
        shape: ShapeArgs,
        /// The point, or where the shape is, X,Y,Z [m].
        #[arg(long, visible_alias = "at", value_name = "X,Y,Z", value_parser = numbers::vector, allow_hyphen_values = true)]
        point: Vec3,
        /// Farthest that counts [m].
        #[arg(
            long,
            value_name = "M",
            default_value = "1e6",
            allow_negative_numbers = true
        )]
        limit: f64,
        #[command(flatten)]
        common: Common,
    },
}

/// A straight way.
#[derive(Clone, Copy, Debug, Args)]
struct Way {
    /// Start, X,Y,Z [m].
    #[arg(long, value_name = "X,Y,Z", value_parser = numbers::vector, allow_hyphen_values = true)]
    from: Vec3,
    /// Direction; its length does not matter.
    #[arg(long, value_name = "X,Y,Z", value_parser = numbers::vector, allow_hyphen_values = true)]
    direction: Vec3,
    /// Length of the way [m].
    #[arg(
        long,
        value_name = "M",
        default_value = "1e6",
        allow_negative_numbers = true
    )]
    length: f64,
}

/// A shape to ask with.
#[derive(Clone, Debug, Args)]
struct ShapeArgs {
    /// A sphere of this radius [m].
    #[arg(long, value_name = "R", group = "shape", allow_negative_numbers = true)]
    sphere: Option<f64>,
    /// A box of these edge lengths [m].
    #[arg(long = "box", value_name = "X,Y,Z", group = "shape", value_parser = numbers::vector, allow_hyphen_values = true)]
    cuboid: Option<Vec3>,
    /// A capsule along z: distance of its end centres and radius [m].
    #[arg(long, value_name = "L,R", group = "shape", value_parser = numbers::numbers, allow_hyphen_values = true)]
    capsule: Option<Numbers>,
    /// A cylinder along z: length and radius [m].
    #[arg(long, value_name = "L,R", group = "shape", value_parser = numbers::numbers, allow_hyphen_values = true)]
    cylinder: Option<Numbers>,
    /// Its rotation vector [degrees].
    #[arg(long, value_name = "X,Y,Z", requires = "shape", value_parser = numbers::vector, allow_hyphen_values = true)]
    turn_deg: Option<Vec3>,
}

/// What all questions share.
#[derive(Clone, Debug, Args)]
struct Common {
    /// Name of a body that is not seen; may be given again.
    #[arg(long, value_name = "NAME")]
    without: Vec<String>,
    /// Groups that the asker belongs to, as a number of bits.
    #[arg(long, value_name = "BITS", default_value_t = u32::MAX)]
    groups: u32,
    /// Groups that the asker sees, as a number of bits.
    #[arg(long, value_name = "BITS", default_value_t = u32::MAX)]
    mask: u32,
    /// See sensors too.
    #[arg(long)]
    sensors: bool,
    /// Print all hits instead of the first.
    #[arg(long)]
    all: bool,
    /// Print one JSON object for each hit and nothing else on standard output.
    #[arg(long)]
    json: bool,
}

/// Asks.
///
/// # Errors
/// The simulation stopped, or the reader of our output went away.
pub fn query(args: &QueryArgs) -> Result<Outcome> {
    let options = LoadOptions {
        allow_outside: args.allow_outside,
        set: args.set.clone(),
        dt: args.dt,
        seconds: args.seconds,
        ..LoadOptions::default()
    };
    let Some(mut scene) = load::load(&args.scene, &options) else {
        return Ok(Outcome::BadInput);
    };
    let steps = args.seconds.map_or(0, |_| scene.step_count());
    for _ in 0..steps {
        if let Err(e) = scene.world.step(scene.dt) {
            note(&format!("the simulation stopped: {e}"));
            return Ok(Outcome::Failed);
        }
    }
    let common = args.question.common();
    let filter = match filter(common, &scene) {
        Ok(filter) => filter,
        Err(reason) => return bad(&reason),
    };
    let hits = match ask(&args.question, &scene, &filter) {
        Ok(hits) => hits,
        Err(e) => return bad(&e),
    };
    let shown = if common.all { hits.len() } else { 1 };
    for hit in hits.iter().take(shown) {
        out(&line(hit, &scene, common.json))?;
    }
    if hits.is_empty() {
        note("nothing found");
        return Ok(Outcome::Failed);
    }
    Ok(Outcome::Done)
}

fn bad(reason: &str) -> Result<Outcome> {
    note(&format!("error: {reason}"));
    Ok(Outcome::BadInput)
}

impl Question {
    const fn common(&self) -> &Common {
        match self {
            Self::Ray { common, .. }
            | Self::Cast { common, .. }
            | Self::Overlap { common, .. }
            | Self::Distance { common, .. } => common,
        }
    }
}

fn ask(question: &Question, scene: &Scene, filter: &QueryFilter) -> Result<Vec<Hit>, String> {
    let mut queries = scene.world.queries();
    let hits = match question {
        Question::Ray { way, .. } => queries.ray(way.from, way.direction, way.length, filter),
        Question::Cast { shape, way, .. } => {
            let pose = Pose::new(way.from, shape.rotation());
            queries.cast(&shape.needed()?, &pose, way.direction, way.length, filter)
        }
        Question::Overlap { shape, at, .. } => {
            queries.overlaps(&shape.needed()?, &Pose::new(*at, shape.rotation()), filter)
        }
        Question::Distance {
            shape,
            point,
            limit,
            ..
        } => match shape.given()? {
            Some(s) => queries.within(&s, &Pose::new(*point, shape.rotation()), *limit, filter),
            None => queries.within_of_point(*point, *limit, filter),
        },
    };
    hits.map_err(|e| e.to_string())
}

impl ShapeArgs {
    fn given(&self) -> Result<Option<Shape>, String> {
        let two = |field: &str, n: &Numbers| match n.0[..] {
            [length, radius] => Ok((0.5 * length, radius)),
            _ => Err(format!("--{field} needs 2 numbers: length and radius [m]")),
        };
        let shape = if let Some(radius) = self.sphere {
            Shape::Sphere { radius }
        } else if let Some(size) = self.cuboid {
            Shape::Cuboid { half: 0.5 * size }
        } else if let Some(n) = &self.capsule {
            let (half_length, radius) = two("capsule", n)?;
            Shape::Capsule {
                half_length,
                radius,
            }
        } else if let Some(n) = &self.cylinder {
            let (half_length, radius) = two("cylinder", n)?;
            Shape::Cylinder {
                half_length,
                radius,
            }
        } else {
            return Ok(None);
        };
        Ok(Some(shape))
    }

    fn needed(&self) -> Result<Shape, String> {
        self.given()?
            .ok_or_else(|| "needs a shape: --sphere, --box, --capsule or --cylinder".to_owned())
    }

    fn rotation(&self) -> Quat {
        let turn = self.turn_deg.unwrap_or(Vec3::ZERO) * std::f64::consts::PI / 180.0;
        tippe::math::rotation::exp(turn)
    }
}

fn filter(common: &Common, scene: &Scene) -> Result<QueryFilter, String> {
    let mut without: Vec<BodyId> = Vec::new();
    for name in &common.without {
        let named = scene.names.iter().filter(|(n, _)| n == name);
        let before = without.len();
        without.extend(named.map(|(_, id)| *id));
        if without.len() == before {
            return Err(format!("--without: no body is named `{name}`"));
        }
    }
    Ok(QueryFilter {
        filter: Filter {
            groups: common.groups,
            mask: common.mask,
        },
        without,
        sensors: common.sensors,
    })
}

fn line(hit: &Hit, scene: &Scene, as_json: bool) -> String {
    let name = scene.names.iter().find(|(_, id)| *id == hit.body);
    let name = name.map_or("", |(n, _)| n);
    let (p, n) = (hit.point.to_array(), hit.normal.to_array());
    if as_json {
        let object = json!({
            "body": name,
            "slot": hit.body.index(),
            "shape": hit.shape,
            "distance": hit.distance,
            "point": p,
            "normal": n,
        });
        format!("{object}\n")
    } else {
        let words = |v: [f64; 3]| v.map(number).join(", ");
        format!(
            "{name} (slot {}, shape {}): distance {} m, point ({}), normal ({})\n",
            hit.body.index(),
            hit.shape,
            number(hit.distance),
            words(p),
            words(n)
        )
    }
}
