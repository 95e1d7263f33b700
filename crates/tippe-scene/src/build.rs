//! From the tables of a scene file to a world: meaning, ranges, names.
//!
//! Reads: `format`, merged over all included files.  Writes: `Problems`, the world.
//! Called by: `load`.
//! Source: `docs/scene-format.md`.

use crate::articulation::{self, PlannedArticulation};
use crate::body::{Role, describe};
use crate::check::{LARGE, not_negative, positive, vector};
use crate::control;
use crate::diagnostics::{At, Document, Problems};
use crate::format::{self, SceneFile};
use crate::generate::{self, Generators};
use crate::joint::{self, Jointing, Names, PlannedJoint};
use crate::load::{LoadOptions, Record};
pub(crate) use crate::materials::MaterialTable;
use crate::params;
use crate::quantities::Quantities;
use crate::read::choices;
use crate::subassembly::Placement;
use crate::suggest::nearest;
use std::collections::{BTreeMap, BTreeSet};
use tippe::model::BODIES_MAX;
use tippe::{
    ArticulationId, BodyDesc, BodyId, BuildError, JointId, METHOD_NAMES, Method, Sleeping, World,
};

/// Bodies a scene may make unless it says otherwise.
pub(crate) const BODY_LIMIT: u64 = 100_000;
/// Step [s] and simulated time [s] of a scene that does not say.
pub(crate) const DT: f64 = 0.001;
pub(crate) const SECONDS: f64 = 10.0;
/// Frames a second of a recording unless the scene says otherwise [Hz].
pub(crate) const RATE: f64 = 60.0;
/// Most steps of one run; more is a slip in dt or seconds.
const STEPS_MAX: f64 = 1e9;

/// A table of the file and its place.
#[derive(Clone, Debug)]
pub(crate) struct Item<T> {
    pub(crate) value: T,
    pub(crate) at: At,
}

/// All tables of a scene, included files first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) materials: Vec<Item<format::Material>>,
    pub(crate) pairs: Vec<Item<format::Pair>>,
    pub(crate) bodies: Vec<Item<format::Body>>,
    pub(crate) grids: Vec<Item<format::Grid>>,
    pub(crate) stacks: Vec<Item<format::Stack>>,
    pub(crate) pyramids: Vec<Item<format::Pyramid>>,
    pub(crate) fills: Vec<Item<format::Fill>>,
    pub(crate) chains: Vec<Item<format::Chain>>,
    pub(crate) joints: Vec<Item<format::Joint>>,
    pub(crate) articulations: Vec<Item<format::Articulation>>,
    pub(crate) sensors: Vec<Item<format::Sensor>>,
    pub(crate) programs: Vec<Item<format::Program>>,
}

/// A body to be, before it is in the world.
pub(crate) struct Planned {
    pub(crate) desc: BodyDesc,
    pub(crate) at: At,
}

/// What a scene comes to.
pub(crate) struct Built {
    pub(crate) world: World,
    pub(crate) material_names: Vec<String>,
    pub(crate) names: Vec<(String, BodyId)>,
    pub(crate) joints: Vec<(String, JointId)>,
    pub(crate) articulations: Vec<(String, ArticulationId)>,
    pub(crate) dt: f64,
    pub(crate) seconds: f64,
    pub(crate) record: Record,
    pub(crate) camera: Option<crate::load::Camera>,
    pub(crate) colours: Vec<(BodyId, [f64; 3])>,
    /// The scene with every default written out.
    pub(crate) resolved: SceneFile,
}

/// Lets bodies sleep where the scene says so.
fn set_sleeping(
    table: Option<&format::WorldTable>,
    root: &At,
    world: &mut World,
    problems: &mut Problems,
) {
    let Some(table) = table else { return };
    let asked = table.sleeping.unwrap_or(false);
    let numbers = [
        ("sleep_speed", table.sleep_speed),
        ("sleep_time", table.sleep_time),
    ];
    for (key, _) in numbers.iter().filter(|(_, v)| v.is_some() && !asked) {
        let help = "write sleeping = true, or leave it out";
        problems.error(
            &root.join("world").key(key),
            "has no effect without sleeping",
            help,
        );
    }
    let default = Sleeping::default();
    let sleeping = Sleeping {
        speed: table.sleep_speed.unwrap_or(default.speed),
        time: table.sleep_time.unwrap_or(default.time),
    };
    if let Err(error) = world.set_sleeping(asked.then_some(sleeping)) {
        let key = format!("sleep_{}", error.field);
        let help = "a small number, such as 0.001 m/s for 0.5 s";
        problems.error(&root.join("world").key(&key), error.reason, help);
    }
}

/// Builds a scene; returns nothing usable if `problems` is not empty afterwards.
pub(crate) fn build(
    main: &SceneFile,
    parts: &Parts,
    (documents, placements): (&[Document], &[Placement]),
    options: &LoadOptions,
    problems: &mut Problems,
) -> Built {
    let root = At::root(0);
    let run = run_settings(main, options, &root, problems);
    let record = record_settings(main, &root, problems);
    // Parameters that make no sense have been reported by field; a world is there to find out what else is wrong.
    let mut world = World::new(method(main, options, &root, problems)).unwrap_or_default();
    let gravity = main.world.as_ref().and_then(|w| w.gravity);
    let gravity = gravity.map_or(tippe::world::GRAVITY, |g| {
        vector(g, &root.join("world.gravity"), problems)
    });
    if world.set_gravity(gravity).is_err() {
        problems.error(
            &root.join("world.gravity"),
            "must be finite",
            "write three numbers, such as [0, 0, -9.81]",
        );
    }
    set_sleeping(main.world.as_ref(), &root, &mut world, problems);
    let materials = MaterialTable::build(
        &parts.materials,
        &parts.pairs,
        world.materials_mut(),
        problems,
    );

    let limit = main
        .world
        .as_ref()
        .and_then(|w| w.body_limit)
        .unwrap_or(BODY_LIMIT);
    if limit > BODIES_MAX as u64 {
        let reason = format!(
            "a world holds at most {} bodies",
            generate::grouped(BODIES_MAX as u64)
        );
        problems.error(
            &root.join("world.body_limit"),
            reason,
            "write a smaller limit",
        );
    }
    let mut plan: Vec<Planned> = Vec::new();
    for Item { value, at } in &parts.bodies {
        if value.name.is_none() {
            problems.error(
                &at.key("name"),
                "missing",
                "give the body a name of its own: name = \"block\"",
            );
        }
        let mut desc = describe(value, at, Role::Single, &materials, problems);
        placements[at.document].place(&mut desc);
        plan.push(Planned {
            desc,
            at: at.clone(),
        });
    }
    let generators = generate::prepare(parts, &materials, problems);
    let trees: Vec<PlannedArticulation> = parts
        .articulations
        .iter()
        .map(|item| articulation::describe(item, &materials, problems))
        .collect();
    let links: usize = trees.iter().map(|t| t.desc.links.len()).sum();
    let singles = plan.len() + links;
    let solids =
        if generators.count().saturating_add(singles as u64) <= limit.min(BODIES_MAX as u64) {
            let generated = generators.run(problems);
            plan.extend(generated);
            let solids = plan.len();
            plan.extend(trees.iter().flat_map(PlannedArticulation::bodies));
            unique_names(plan.iter(), documents, problems);
            solids
        } else {
            unique_names(plan.iter(), documents, problems);
            generators.too_many(singles as u64, limit.min(BODIES_MAX as u64), problems);
            plan.len()
        };
    let jointings = parts
        .joints
        .iter()
        .map(|item| joint::describe(&item.value, &item.at, false, problems));
    let jointings: Vec<Jointing> = jointings.collect();
    let mut joint_plan = plan_joints(parts, &jointings, &generators, &plan, problems);
    for joint in &mut joint_plan {
        if let Some(ends) = &mut joint.ends {
            placements[joint.at.document].place_ends(ends);
        }
    }
    let (mut names, mut joints) = (Vec::new(), Vec::new());
    if problems.is_empty() {
        names = add_bodies(&mut world, &plan[..solids], problems);
    }
    let mut articulations = Vec::new();
    if problems.is_empty() {
        for tree in &trees {
            if let Some(id) = tree.add(&mut world, &mut names, problems) {
                articulations.push((tree.desc.name.clone(), id));
            }
        }
    }
    if problems.is_empty() {
        joints = joint::add_joints(
            &mut world,
            &names,
            &joint_plan,
            options.allow_misfits,
            problems,
        );
    }
    if problems.is_empty() {
        crate::profile::check_company(&world, &plan, problems);
    }
    let mut colours = Vec::new();
    if problems.is_empty() {
        let known = control::Known {
            bodies: &names,
            joints: &joints,
        };
        control::lock_axes(&mut world, &known, &parts.bodies, problems);
        control::add_sensors(&mut world, &known, &parts.sensors, problems);
        control::add_programs(&mut world, &known, &parts.programs, problems);
        check_quantities(&record, &world, &root, problems);
        // The bodies of the file come first.
        let given = parts.bodies.iter().zip(&names);
        colours.extend(given.filter_map(|(item, (_, id))| Some((*id, item.value.colour?))));
    }
    let camera = control::camera(main.camera.as_ref(), &root, problems);
    let single_joints = joints.iter().take(parts.joints.len());
    let resolved = SceneFile {
        version: format::VERSION,
        name: main.name.clone(),
        description: main.description.clone(),
        include: None,
        parameters: None,
        assembly: None,
        world: Some(format::WorldTable {
            gravity: Some(gravity.to_array()),
            body_limit: Some(limit),
            sleeping: Some(world.sleeping().is_some()),
            sleep_speed: world.sleeping().map(|s| s.speed),
            sleep_time: world.sleeping().map(|s| s.time),
        }),
        method: Some(method_written_out(world.method(), run)),
        record: Some(format::RecordTable {
            rate: Some(record.rate),
            contacts: Some(record.contacts),
            exact: Some(record.exact),
            quantities: some(record.quantities.clone()),
        }),
        material: Some(materials.written_out(world.materials())),
        pair: some(materials.pairs_written_out(&parts.pairs, world.materials())),
        body: some(
            plan[..parts.bodies.len()]
                .iter()
                .zip(&parts.bodies)
                .map(|(p, item)| format::Body {
                    colour: item.value.colour,
                    locked: item.value.locked.clone(),
                    ..crate::explain::body(&p.desc, &materials)
                })
                .collect(),
        ),
        grid: some(generators.grids_written_out(&materials)),
        stack: some(generators.stacks_written_out(&materials)),
        pyramid: some(generators.pyramids_written_out(&materials)),
        fill: some(generators.fills_written_out(&materials)),
        chain: some(generators.chains_written_out(&materials)),
        joint: some(
            single_joints
                .filter_map(|(_, id)| crate::explain::joint(*id, &world))
                .collect(),
        ),
        articulation: some(
            parts
                .articulations
                .iter()
                .map(|item| articulation::written_out(&item.value))
                .collect(),
        ),
        sensor: some(parts.sensors.iter().map(|s| s.value.clone()).collect()),
        program: some(parts.programs.iter().map(|p| p.value.clone()).collect()),
        camera: camera.map(|c| format::Camera {
            yaw_deg: Some(c.yaw_deg),
            up_deg: Some(c.up_deg),
            zoom: Some(c.zoom),
        }),
    };
    Built {
        world,
        material_names: materials.into_names(),
        names,
        joints,
        articulations,
        dt: run.0,
        seconds: run.1,
        record,
        camera,
        colours,
        resolved,
    }
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    if list.is_empty() { None } else { Some(list) }
}

/// Step and simulated time [s], by option, file or default.
fn run_settings(
    main: &SceneFile,
    options: &LoadOptions,
    root: &At,
    problems: &mut Problems,
) -> (f64, f64) {
    let at = root.key("method");
    let table = main.method.as_ref();
    let stated = table
        .and_then(|m| m.dt.as_ref())
        .and_then(|r| r.value().ok());
    let dt = options.dt.or(stated).unwrap_or(DT);
    let seconds = options
        .seconds
        .or(table.and_then(|m| m.seconds))
        .unwrap_or(SECONDS);
    let sensible = positive(
        dt,
        1e3,
        "write the step in seconds: 0.001 or \"1/60\"",
        &at.key("dt"),
        problems,
    ) & not_negative(
        seconds,
        LARGE,
        "write the simulated time in seconds",
        &at.key("seconds"),
        problems,
    );
    if sensible && seconds / dt > STEPS_MAX {
        let reason = format!(
            "{seconds} s at {dt:e} s a step are {:.0e} steps; limit {STEPS_MAX:.0e}",
            seconds / dt
        );
        problems.error(
            &at.key("dt"),
            reason,
            "write a longer step or a shorter run",
        );
    }
    (dt, seconds)
}

fn record_settings(main: &SceneFile, root: &At, problems: &mut Problems) -> Record {
    let table = main.record.as_ref();
    let rate = table.and_then(|r| r.rate).unwrap_or(RATE);
    positive(
        rate,
        1e6,
        "write frames a second, such as 60",
        &root.join("record.rate"),
        problems,
    );
    Record {
        rate,
        contacts: table.and_then(|r| r.contacts).unwrap_or(false),
        exact: table.and_then(|r| r.exact).unwrap_or(false),
        quantities: table.and_then(|r| r.quantities.clone()).unwrap_or_default(),
    }
}

/// Reports a quantity to record that the world does not have.
fn check_quantities(record: &Record, world: &World, root: &At, problems: &mut Problems) {
    if let Err((i, help)) = Quantities::choose(world, &record.quantities) {
        let at = root.join("record.quantities").index(i);
        let reason = format!("no quantity {:?}", record.quantities[i]);
        problems.error(&at, reason, help);
    }
}

fn method(main: &SceneFile, options: &LoadOptions, root: &At, problems: &mut Problems) -> Method {
    let table = main.method.as_ref();
    let stated = table.and_then(|m| m.name.as_deref());
    let name = options.method.as_deref().or(stated).unwrap_or("sequential");
    let at = root.join("method.name");
    let Some(mut method) = Method::from_name(name) else {
        let available: Vec<&str> = METHOD_NAMES
            .into_iter()
            .filter(|n| Method::from_name(n).is_some())
            .collect();
        let (reason, help) = method_refused(name, &available);
        problems.error(&at, reason, help);
        return Method::default();
    };
    if let Some(written) = table.and_then(|m| m.params.get(method.name())) {
        let at = root.join("method").key(method.name());
        params::apply(written, method.params_mut(), &at, problems);
    }
    method
}

/// Why a method is refused, and what to write instead.
pub(crate) fn method_refused(name: &str, available: &[&str]) -> (String, String) {
    if METHOD_NAMES.contains(&name) {
        return (
            format!("this version has no method {name:?} yet"),
            format!("write {}", choices(available)),
        );
    }
    let help = match nearest(name, available.iter().copied()) {
        Some(meant) => format!("did you mean {meant:?}?"),
        None => format!("write {}", choices(available)),
    };
    (format!("unknown method {name:?}"), help)
}

fn method_written_out(method: &Method, (dt, seconds): (f64, f64)) -> format::MethodTable {
    format::MethodTable {
        name: Some(method.name().into()),
        dt: Some(format::Ratio::Number(dt)),
        seconds: Some(seconds),
        params: format::Entries(vec![(method.name(), params::written_out(method.params()))]),
    }
}

/// Reports names that are empty or taken.
fn unique_names<'a>(
    plan: impl Iterator<Item = &'a Planned>,
    documents: &[Document],
    problems: &mut Problems,
) {
    let mut taken: BTreeMap<&str, &At> = BTreeMap::new();
    for Planned { desc, at } in plan {
        let name_at = at.key("name");
        if desc.name.trim().is_empty() {
            problems.error(
                &name_at,
                "must not be empty",
                "give the body a name of its own: name = \"block\"",
            );
        } else if desc.name == joint::WORLD {
            let help = "joints call the world so: give the body another name";
            problems.error(&name_at, "this name stands for the world itself", help);
        } else if let Some(first) = taken.get(desc.name.as_str()) {
            let Document { source, tree } = &documents[first.document];
            let place = source.place(tree.locate(&first.key("name").path).0.start);
            let reason = format!(
                "body {:?} exists already, from {}:{}:{}",
                desc.name, source.name, place.line, place.column
            );
            problems.error(&name_at, reason, "give each body a name of its own");
        } else {
            taken.insert(&desc.name, at);
        }
    }
}

/// All joints: those of the file, then those of the generators. Reports names that are empty or taken.
fn plan_joints<'a>(
    parts: &Parts,
    jointings: &'a [Jointing],
    generators: &'a Generators,
    plan: &[Planned],
    problems: &mut Problems,
) -> Vec<PlannedJoint<'a>> {
    let names = Names::new(plan);
    let mut joints = Vec::new();
    for (n, (Item { value, at }, what)) in parts.joints.iter().zip(jointings).enumerate() {
        let ends = if what.is_coupling() {
            None
        } else {
            joint::ends(value, what, plan, &names, at, problems)
        };
        if ends.is_some() || what.is_coupling() {
            joints.push(PlannedJoint {
                name: what.own_name(n),
                what,
                ends,
                at: at.clone(),
            });
        }
    }
    generators.joints(parts.bodies.len(), plan, &names, &mut joints, problems);
    let mut taken = BTreeSet::new();
    for joint in &joints {
        if joint.name.trim().is_empty() || !taken.insert(joint.name.as_str()) {
            let reason = format!("joint {:?} exists already", joint.name);
            problems.error(
                &joint.at.key("name"),
                reason,
                "give each joint a name of its own",
            );
        }
    }
    joints
}

fn add_bodies(
    world: &mut World,
    plan: &[Planned],
    problems: &mut Problems,
) -> Vec<(String, BodyId)> {
    let mut names = Vec::with_capacity(plan.len());
    for Planned { desc, at } in plan {
        match world.add_body(desc) {
            Ok(id) => names.push((desc.name.clone(), id)),
            Err(e) => refused_by_engine(&e, desc, at, problems),
        }
    }
    names
}

/// The engine has the last word; its field names are near those of the file.
fn refused_by_engine(e: &BuildError, desc: &BodyDesc, at: &At, problems: &mut Problems) {
    let field = e
        .field
        .replace("pose.rotation", "rotation")
        .replace("pose", "position");
    let mut place = at.clone();
    for key in field.split('.') {
        let (key, index) = match key.strip_suffix(']').and_then(|k| k.split_once('[')) {
            Some((key, index)) => (key, index.parse().ok()),
            None => (key, None),
        };
        // A body of one shape has it in `shape`.
        place = match (key, index) {
            ("shapes", Some(0)) if desc.shapes.len() == 1 => place.key("shape"),
            (key, Some(i)) => place.key(key).index(i),
            (key, None) => place.key(key),
        };
    }
    problems.error(&place, e.reason.clone(), String::new());
}
