//! Loading a scene: guards, syntax, included files, and the result or all errors at once.
//!
//! Reads: files.  Writes: nothing.
//! Called by: users.
//! Source: `docs/scene-format.md`.

use crate::build::{self, Item, Parts};
use crate::check::{LARGE, positive};
use crate::diagnostics::{At, Diagnostic, Diagnostics, Document, Problems};
use crate::format::{Body, OneOrMany, SceneFile, Shape, VERSION};
use crate::mesh_file::{self, MESH_FILE_MAX, MeshFile};
use crate::overrides::{self, Override};
use crate::parameters::{self, Values};
use crate::read::Read;
use crate::source::Source;
use crate::subassembly::Placement;
use crate::suggest::nearest;
use crate::tree::{Node, Value};
use crate::{tree_json, tree_toml};
use std::path::{Component, Path, PathBuf};
use tippe::{ArticulationId, BodyId, JointId, World};

/// Largest scene file, in bytes.
pub const FILE_MAX: u64 = 64 << 20;
/// Deepest chain of files that include each other.
const INCLUDES_MAX: usize = 16;

/// How a scene is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

impl Format {
    /// The format of a file by its ending: `.json` is JSON, everything else TOML.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        if path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("json"))
        {
            Self::Json
        } else {
            Self::Toml
        }
    }
}

/// What the caller decides over the head of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoadOptions {
    /// Name of the method, in place of the file's.
    pub method: Option<String>,
    /// Step [s], in place of the file's.
    pub dt: Option<f64>,
    /// Simulated time [s], in place of the file's.
    pub seconds: Option<f64>,
    /// Values by path in place of the file's, each as `path=value`, such as `body.block.mass=2` or `parameters.radius=0.1`.
    pub set: Vec<String>,
    /// Lets `include` leave the folder of the scene.
    pub allow_outside: bool,
    /// Lets joints start farther apart than their bodies are large, as before assembling.
    pub allow_misfits: bool,
    /// Folder that the paths of a scene given as text start from; without it, such a scene can include nothing.
    pub folder: Option<PathBuf>,
}

/// What a recording of the scene holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Frames a simulated second [Hz].
    pub rate: f64,
    /// Contact points and impulses too.
    pub contacts: bool,
    /// States of bodies, joints and articulations as they are.
    pub exact: bool,
    /// Quantities by name; without any, the sensors.
    pub quantities: Vec<String>,
}

/// Where pictures of a scene are looked at from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Angle about z from x, in degrees.
    pub yaw_deg: f64,
    /// Angle above the ground, in degrees.
    pub up_deg: f64,
    /// How much nearer than to see everything.
    pub zoom: f64,
}

/// A scene, ready to run.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Title.
    pub name: String,
    /// What it shows.
    pub description: String,
    /// The world at time zero.
    pub world: World,
    /// Names of the materials, in the order of their ids.
    pub material_names: Vec<String>,
    /// Every body and its name, in the order of creation.
    pub names: Vec<(String, BodyId)>,
    /// Every articulation and its name, in the order of creation; its links are bodies called "name.link".
    pub articulations: Vec<(String, ArticulationId)>,
    /// Every joint and its name, in the order of creation.
    pub joints: Vec<(String, JointId)>,
    /// Length of a step [s].
    pub dt: f64,
    /// Simulated time [s].
    pub seconds: f64,
    /// What to record.
    pub record: Record,
    /// Where pictures are looked at from, if the scene says.
    pub camera: Option<Camera>,
    /// Colours that the scene gives its bodies, red, green and blue from 0 to 1.
    pub colours: Vec<(BodyId, [f64; 3])>,
    /// Text of the file.
    pub source: String,
    /// The scene with every default written out.
    pub resolved: SceneFile,
    /// What loads but is probably not meant.
    pub warnings: Vec<Diagnostic>,
}

impl Scene {
    /// The body of a name.
    #[must_use]
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.names
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, id)| *id)
    }

    /// The articulation of a name.
    #[must_use]
    pub fn articulation(&self, name: &str) -> Option<ArticulationId> {
        self.articulations
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, id)| *id)
    }

    /// The joint of a name.
    #[must_use]
    pub fn joint(&self, name: &str) -> Option<JointId> {
        self.joints
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, id)| *id)
    }

    /// Steps of a full run.
    #[must_use]
    pub fn step_count(&self) -> u64 {
        (self.seconds / self.dt).round() as u64
    }
}

/// Loads a scene from a file.
///
/// # Errors
/// Everything wrong with it, at once.
pub fn load_file(path: &Path, options: &LoadOptions) -> Result<Scene, Diagnostics> {
    let name = path.display().to_string();
    if let Some(error) = other_kind(path, &name) {
        return Err(Diagnostics::one(error));
    }
    let text = read_text(path, &name, true).map_err(|e| Diagnostics::one(*e))?;
    let parent = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let options = LoadOptions {
        folder: Some(parent.to_owned()),
        ..options.clone()
    };
    let own = path.canonicalize().ok();
    let mut scene = load_text(&text, &name, Format::of(path), &options, own)?;
    if scene.resolved.name.is_none() {
        scene.name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
    }
    Ok(scene)
}

/// Loads a scene from text; `file_name` is used in messages.
///
/// # Errors
/// Everything wrong with it, at once.
pub fn load_str(
    text: &str,
    file_name: &str,
    format: Format,
    options: &LoadOptions,
) -> Result<Scene, Diagnostics> {
    load_text(text, file_name, format, options, None)
}

/// Loads a scene from text; `own` is the file it came from.
fn load_text(
    text: &str,
    file_name: &str,
    format: Format,
    options: &LoadOptions,
    own: Option<PathBuf>,
) -> Result<Scene, Diagnostics> {
    check_options(options)?;
    let overrides =
        overrides::parse(&options.set).map_err(|errors| Diagnostics { errors, more: 0 })?;
    let mut loader = Loader {
        options,
        documents: Vec::new(),
        placements: Vec::new(),
        chain: own.into_iter().collect(),
        problems: Problems::default(),
        others: Vec::new(),
        overrides,
        context: Context {
            placement: Placement::NONE,
            given: Values::new(),
            visible: true,
        },
        shared: Vec::new(),
    };
    loader.note_options();
    let mut parts = Parts::default();
    let main = loader
        .document(Source::new(file_name, text), format, &mut parts)
        .map_err(|errors| Diagnostics { errors, more: 0 })?;
    let Loader {
        documents,
        placements,
        mut problems,
        others,
        overrides,
        ..
    } = loader;
    overrides::unused(&overrides, documents.iter().map(|d| &d.tree), &mut problems);
    let known_version =
        main.version == VERSION || !documents[0].tree.has(&At::root(0).key("version").path);
    let built = if known_version {
        Some(build::build(
            &main,
            &parts,
            (&documents, &placements),
            options,
            &mut problems,
        ))
    } else {
        None
    };
    let (mut diagnostics, warnings) = problems.finish(&documents);
    diagnostics.errors.extend(others);
    match built {
        Some(b) if diagnostics.errors.is_empty() => Ok(Scene {
            name: main.name.unwrap_or_else(|| file_name.to_owned()),
            description: main.description.unwrap_or_default(),
            world: b.world,
            material_names: b.material_names,
            names: b.names,
            joints: b.joints,
            articulations: b.articulations,
            dt: b.dt,
            seconds: b.seconds,
            record: b.record,
            camera: b.camera,
            colours: b.colours,
            source: text.to_owned(),
            resolved: b.resolved,
            warnings,
        }),
        _ => Err(diagnostics),
    }
}

/// Options come from a program or a command line: their errors have no place in the file.
fn check_options(options: &LoadOptions) -> Result<(), Diagnostics> {
    let mut errors = Vec::new();
    let mut refuse = |field: &str, reason: String, help: String| {
        errors.push(Diagnostic::without_place("options", field, reason, help));
    };
    if let Some(dt) = options.dt.filter(|dt| !(dt.is_finite() && *dt > 0.0)) {
        refuse(
            "dt",
            format!("must be positive and finite, got {dt}"),
            "give the step in seconds, such as 0.001 or 1/60".into(),
        );
    }
    if let Some(t) = options.seconds.filter(|t| !(t.is_finite() && *t >= 0.0)) {
        refuse(
            "seconds",
            format!("must be finite and not negative, got {t}"),
            "give the simulated time in seconds".into(),
        );
    }
    if let Some(name) = options
        .method
        .as_deref()
        .filter(|name| tippe::Method::from_name(name).is_none())
    {
        let available: Vec<&str> = tippe::METHOD_NAMES
            .into_iter()
            .filter(|n| tippe::Method::from_name(n).is_some())
            .collect();
        let (reason, help) = build::method_refused(name, &available);
        refuse("method", reason, help);
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Diagnostics { errors, more: 0 })
    }
}

/// Said of a pipe, a device, a socket.
const NO_FILE: &str = "is no plain file";

/// Reads a whole file, and no more than so many bytes of it: a pipe or a device does not say beforehand how long it is.
fn read_at_most(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(std::io::Error::other(format!(
            "it has more than {} MB",
            most >> 20
        )));
    }
    Ok(bytes)
}

/// Reads a plain file of a sensible size.
fn read_file(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other(format!("it {NO_FILE}")));
    }
    read_at_most(path, most)
}

/// Reads a file that should be UTF-8 text of a sensible size.
///
/// Who names a file on the command line may name a pipe; a scene that includes something may not.
fn read_text(path: &Path, name: &str, named_by_user: bool) -> Result<String, Box<Diagnostic>> {
    let refuse =
        |reason: String, help: &str| Box::new(Diagnostic::without_place(name, "", reason, help));
    let meta = std::fs::metadata(path)
        .map_err(|e| refuse(format!("cannot be read: {e}"), "check the path"))?;
    if !meta.is_file() && !meta.is_dir() && !named_by_user {
        return Err(refuse(NO_FILE.into(), "give a scene file"));
    }
    if meta.is_dir() {
        return Err(refuse(
            "is a folder".into(),
            "give a scene file, such as scenes/funnel.toml",
        ));
    }
    if meta.len() > FILE_MAX {
        return Err(refuse(
            format!("is {} MB; limit {} MB", meta.len() >> 20, FILE_MAX >> 20),
            "use generators for many bodies",
        ));
    }
    let bytes = read_at_most(path, FILE_MAX)
        .map_err(|e| refuse(format!("cannot be read: {e}"), "check the path"))?;
    String::from_utf8(bytes).map_err(|e| {
        let start = e.utf8_error().valid_up_to();
        let byte = e.as_bytes().get(start).copied().unwrap_or(0);
        let source = Source::new(name, String::from_utf8_lossy(e.as_bytes()).into_owned());
        let reason = format!("is not UTF-8 text: byte 0x{byte:02x} fits nowhere");
        Box::new(Diagnostic::at(
            &source,
            &(start..start + 1),
            "",
            reason,
            "save the file as UTF-8",
        ))
    })
}

/// What a file that is not a scene by its ending gets to hear.
fn other_kind(path: &Path, name: &str) -> Option<Diagnostic> {
    let ending = path.extension()?.to_string_lossy().to_lowercase();
    if ["toml", "json"].contains(&ending.as_str()) || !path.is_file() {
        return None;
    }
    let help = if ending == "tippe" {
        "this is a recording by its ending: `tippe view` shows it, `tippe export` writes its numbers"
    } else {
        "scenes end in .toml or .json"
    };
    let reason = format!("is no scene by its ending .{ending}");
    Some(Diagnostic::without_place(name, "", reason, help))
}

/// What the file being read gets from the one that reads it.
struct Context {
    placement: Placement,
    /// Values of parameters.
    given: Values,
    /// Whether the file sees them all, as an included one does; a sub-assembly sees those that it has.
    visible: bool,
}

struct Loader<'a> {
    options: &'a LoadOptions,
    documents: Vec<Document>,
    /// Where the things of each document stand.
    placements: Vec<Placement>,
    /// Files being read, each included by the one before.
    chain: Vec<PathBuf>,
    problems: Problems,
    /// Errors of included files that have no tree.
    others: Vec<Diagnostic>,
    overrides: Vec<Override>,
    context: Context,
    /// Files of sub-assemblies whose materials are in the scene.
    shared: Vec<PathBuf>,
}

impl Loader<'_> {
    /// What is wrong with an option is not the file's fault.
    fn note_options(&mut self) {
        let at = At::root(0).key("method");
        for (key, given) in [
            ("dt", self.options.dt.is_some()),
            ("seconds", self.options.seconds.is_some()),
            ("name", self.options.method.is_some()),
        ] {
            if given {
                let name = if key == "name" { "method" } else { key };
                self.problems
                    .overridden(at.key(key), &format!("option {name}"));
            }
        }
    }

    /// Reads one file and those it includes; adds their tables to `parts`, the included ones first.
    fn document(
        &mut self,
        source: Source,
        format: Format,
        parts: &mut Parts,
    ) -> Result<SceneFile, Vec<Diagnostic>> {
        if source.text.trim().is_empty() {
            let help = "a scene begins with `version = 1`; docs/scene-format.md shows a small one";
            return Err(vec![Diagnostic::at(&source, &(0..0), "", "is empty", help)]);
        }
        let parsed = match format {
            Format::Toml => tree_toml::parse(&source.text),
            Format::Json => tree_json::parse(&source.text),
        };
        let mut tree = parsed.map_err(|errors| {
            let show =
                |e: tree_toml::SyntaxError| Diagnostic::at(&source, &e.span, "", e.reason, e.help);
            errors.into_iter().map(show).collect::<Vec<_>>()
        })?;
        let index = self.documents.len();
        let at = At::root(index);
        if format == Format::Json {
            self.problems.note_json(index);
        }
        let values = self.prepare(&mut tree, &at);
        refuse_known(&tree, &at, &mut self.problems);
        let wrong_version = tree
            .get("version")
            .is_some_and(|e| !is_version(&e.node.value));
        let mut file = if wrong_version {
            version_only(&tree, &at, &mut self.problems)
        } else {
            SceneFile::read(&tree, &at, &mut self.problems)
        };
        self.documents.push(Document { source, tree });
        self.placements.push(self.context.placement.clone());
        for (i, path) in file.include.iter().flatten().enumerate() {
            let context = Context {
                placement: self.context.placement.clone(),
                given: values.clone(),
                visible: true,
            };
            self.include(path, &at.key("include").index(i), context, parts);
        }
        for (i, table) in file.assembly.iter().flatten().enumerate() {
            self.assemble(table, &at.key("assembly").index(i), parts);
        }
        self.meshes(&mut file, &at);
        let placement = self.context.placement.clone();
        placement.rename(&mut file, &at, &mut self.problems);
        take(&file, &at, parts);
        Ok(file)
    }

    /// Puts the caller's values and those of expressions into a tree; the values of its parameters.
    fn prepare(&mut self, tree: &mut Node, at: &At) -> Values {
        let (prefix, problems) = (&self.context.placement.prefix, &mut self.problems);
        overrides::apply(&mut self.overrides, tree, prefix, at, problems);
        let Context { given, visible, .. } = &self.context;
        let values = parameters::values(tree, given, *visible, at, problems);
        if let Value::Table(entries) = &mut tree.value {
            for entry in entries.iter_mut().filter(|e| e.key != "parameters") {
                parameters::expand(&mut entry.node, &values, &at.key(&entry.key), problems);
            }
        }
        values
    }

    /// Reads a sub-assembly.
    fn assemble(&mut self, table: &crate::format::Assembly, at: &At, parts: &mut Parts) {
        let placement = self.context.placement.of(table, at, &mut self.problems);
        let tree = &self.documents[at.document].tree;
        let given = match tree.find(&at.key("parameters").path).map(|n| &n.value) {
            Some(Value::Table(entries)) => entries
                .iter()
                .map(|e| (e.key.clone(), e.node.value.clone()))
                .collect(),
            _ => Values::new(),
        };
        let first = self.documents.len();
        let names: Vec<String> = given.keys().cloned().collect();
        let context = Context {
            placement,
            given,
            visible: false,
        };
        let Some(path) = self.include(&table.file, &at.key("file"), context, parts) else {
            return;
        };
        self.unknown_parameters(&names, first, at);
        // The same file again brings the same materials: they are in the scene once.
        if self.shared.contains(&path) {
            parts.materials.retain(|m| m.at.document < first);
            parts.pairs.retain(|p| p.at.document < first);
        }
        self.shared.push(path);
    }

    /// Reports values that a sub-assembly has no parameter for.
    fn unknown_parameters(&mut self, names: &[String], document: usize, at: &At) {
        let table = self.documents.get(document).map(|d| &d.tree);
        let known: Vec<&str> = match table
            .and_then(|t| t.get("parameters"))
            .map(|e| &e.node.value)
        {
            Some(Value::Table(entries)) => entries.iter().map(|e| e.key.as_str()).collect(),
            _ => Vec::new(),
        };
        for name in names.iter().filter(|n| !known.contains(&n.as_str())) {
            let help = match nearest(name, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if known.is_empty() => "that file has no [parameters]".into(),
                None => format!("its parameters: {}", known.join(", ")),
            };
            let at = at.key("parameters").key(name);
            self.problems
                .error(&at, "no such parameter in that file", help);
        }
    }

    /// Reads another file; its true path if it could be read.
    fn include(
        &mut self,
        written: &str,
        at: &At,
        context: Context,
        parts: &mut Parts,
    ) -> Option<PathBuf> {
        let path = self.resolve(written, at)?;
        let name = path.display().to_string();
        let source = match read_text(&path, &name, false) {
            Ok(text) => Source::new(name, text),
            Err(e) => {
                self.problems
                    .error(at, format!("{written:?} {}", e.reason), e.help);
                return None;
            }
        };
        let own = path.canonicalize().unwrap_or_else(|_| path.clone());
        self.chain.push(own.clone());
        let outer = std::mem::replace(&mut self.context, context);
        let index = self.documents.len();
        match self.document(source, Format::of(&path), parts) {
            Ok(file) => self.only_parts(&file, &At::root(index)),
            Err(errors) => self.others.extend(errors),
        }
        self.context = outer;
        self.chain.pop();
        Some(own)
    }

    /// Puts the points and triangles of mesh files in the place of their paths.
    fn meshes(&mut self, file: &mut SceneFile, at: &At) {
        fn all<'a>(body: &'a mut OneOrMany<Body>, at: &At, out: &mut Vec<(&'a mut Body, At)>) {
            match body {
                OneOrMany::One(b) => out.push((b, at.clone())),
                OneOrMany::Many(list) => {
                    out.extend(list.iter_mut().enumerate().map(|(k, b)| (b, at.index(k))));
                }
            }
        }
        let mut bodies: Vec<(&mut Body, At)> = Vec::new();
        let place = |key: &str, i: usize| at.key(key).index(i);
        for (i, b) in file.body.iter_mut().flatten().enumerate() {
            bodies.push((b, place("body", i)));
        }
        for (i, g) in file.grid.iter_mut().flatten().enumerate() {
            all(&mut g.body, &place("grid", i).key("body"), &mut bodies);
        }
        for (i, g) in file.stack.iter_mut().flatten().enumerate() {
            all(&mut g.body, &place("stack", i).key("body"), &mut bodies);
        }
        for (i, g) in file.pyramid.iter_mut().flatten().enumerate() {
            all(&mut g.body, &place("pyramid", i).key("body"), &mut bodies);
        }
        for (i, g) in file.fill.iter_mut().flatten().enumerate() {
            all(&mut g.body, &place("fill", i).key("body"), &mut bodies);
        }
        for (i, g) in file.chain.iter_mut().flatten().enumerate() {
            all(&mut g.body, &place("chain", i).key("body"), &mut bodies);
        }
        for (body, at) in bodies {
            if let Some(s) = &mut body.shape {
                self.mesh(s, &at.key("shape"));
            }
            for (k, s) in body.shapes.iter_mut().flatten().enumerate() {
                self.mesh(&mut s.shape, &at.key("shapes").index(k));
            }
        }
    }

    fn mesh(&mut self, shape: &mut Shape, at: &At) {
        let at = at.key(shape.name());
        let (written, unit, scale, merging, given) = match shape {
            Shape::Hull(h) => (&h.file, &h.unit, h.scale, None, h.points.is_some()),
            Shape::Mesh(m) => {
                let given = m.vertices.is_some() || m.triangles.is_some();
                (&m.file, &m.unit, m.scale, m.merge, given)
            }
            _ => return,
        };
        let (unit, scaled) = (
            unit.clone(),
            [
                ("unit", unit.is_some()),
                ("scale", scale.is_some()),
                ("merge", merging.is_some()),
            ],
        );
        let Some(written) = written.clone() else {
            if let Some((key, _)) = scaled.iter().find(|s| s.1) {
                let help = "remove it, or give a file";
                self.problems
                    .error(&at.key(key), "is about a file, and there is none", help);
            }
            return;
        };
        let at_file = at.key("file");
        if given {
            let help = "keep the file, or what is written here";
            self.problems
                .error(&at_file, "both a file and points or triangles", help);
            return;
        }
        let Some(metres) = self.metres(unit.as_deref(), &at.key("unit")) else {
            return;
        };
        let (scale, merging) = (scale.unwrap_or(1.0), merging.unwrap_or(0.0));
        let factor = "factor on the coordinates of the file";
        if !positive(scale, LARGE, factor, &at.key("scale"), &mut self.problems) {
            return;
        }
        let wide = "distance in metres up to which vertices are one";
        if merging != 0.0 && !positive(merging, LARGE, wide, &at.key("merge"), &mut self.problems) {
            return;
        }
        let Some(mut found) = self.mesh_file(&written, &at_file) else {
            return;
        };
        for v in &mut found.vertices {
            *v = v.map(|x| x * metres * scale);
        }
        if merging > 0.0
            && let Err(e) = mesh_file::merge(&mut found, merging)
        {
            let help = "give a distance that the file's roundings have, or leave it out";
            self.problems.error(&at.key("merge"), e, help);
            return;
        }
        match shape {
            Shape::Hull(h) => h.points = Some(found.vertices),
            Shape::Mesh(m) => {
                m.vertices = Some(found.vertices);
                m.triangles = Some(found.triangles);
            }
            _ => {}
        }
    }

    /// Metres of a unit of length by its name.
    fn metres(&mut self, unit: Option<&str>, at: &At) -> Option<f64> {
        match unit.unwrap_or("m") {
            "m" => Some(1.0),
            "cm" => Some(0.01),
            "mm" => Some(0.001),
            "in" => Some(0.0254),
            "ft" => Some(0.3048),
            other => {
                let help =
                    "write \"m\", \"cm\", \"mm\", \"in\" or \"ft\"; scale is for other units";
                self.problems
                    .error(at, format!("unknown unit {other:?}"), help);
                None
            }
        }
    }

    /// Vertices and triangles of a mesh file, and of what it names beside it.
    fn mesh_file(&mut self, written: &str, at: &At) -> Option<MeshFile> {
        let path = self.resolve(written, at)?;
        let bytes = read_file(&path, MESH_FILE_MAX).map_err(|e| format!("cannot be read: {e}"));
        let mut beside = |name: &str| {
            // Relative to the mesh file, and kept within the folder like every other path of the scene.
            let base = Path::new(written).parent().unwrap_or(Path::new(""));
            let name = base.join(name).to_string_lossy().into_owned();
            let path = self.resolve(&name, at).ok_or("may not be read")?;
            read_file(&path, MESH_FILE_MAX).map_err(|e| format!("cannot be read: {e}"))
        };
        match bytes.and_then(|bytes| mesh_file::parse(&path, &bytes, &mut beside)) {
            Ok(found) => Some(found),
            Err(reason) => {
                let help = format!("meshes are {} files", mesh_file::ENDINGS);
                self.problems
                    .error(at, format!("{written:?} {reason}"), help);
                None
            }
        }
    }

    /// The path of an included file, if it may be read.
    fn resolve(&mut self, written: &str, at: &At) -> Option<PathBuf> {
        let mut refuse = |reason: String, help: &str| {
            self.problems.error(at, reason, help);
            None
        };
        let Some(folder) = &self.options.folder else {
            return refuse(
                "this scene has no folder to include from".into(),
                "load it from a file",
            );
        };
        // Paths are relative to the file they stand in.
        let base = self.chain.last().and_then(|p| p.parent()).unwrap_or(folder);
        let path = base.join(written);
        let root = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let outside = format!("{written:?} leaves the folder of the scene");
        let outside_help =
            "copy the file beside the scene, or run with --allow-outside if you trust the scene";
        // Whether there is something outside is nobody's business: what leaves the folder as it is written is not looked for.
        let base = base.canonicalize().unwrap_or_else(|_| base.to_path_buf());
        if !self.options.allow_outside && !stays_inside(&base, written, &root) {
            return refuse(outside, outside_help);
        }
        let Ok(canonical) = path.canonicalize() else {
            return refuse(
                format!("{written:?} does not exist"),
                "paths are relative to the file they stand in",
            );
        };
        if !canonical.starts_with(&root) && !self.options.allow_outside {
            return refuse(outside, outside_help);
        }
        if let Some(first) = self.chain.iter().position(|p| *p == canonical) {
            let circle = self.chain[first..].iter().chain([&canonical]);
            let names = circle.map(|p| p.file_name().unwrap_or_default().to_string_lossy());
            let names: Vec<_> = names.collect();
            let reason = format!("a circle of includes: {}", names.join(" → "));
            return refuse(reason, "remove one of them");
        }
        if self.chain.len() > INCLUDES_MAX {
            return refuse(
                format!("files that include each other more than {INCLUDES_MAX} deep"),
                "include them from fewer files",
            );
        }
        Some(path)
    }

    /// An included file brings parts, not settings.
    fn only_parts(&mut self, file: &SceneFile, at: &At) {
        for (key, given) in [
            ("world", file.world.is_some()),
            ("method", file.method.is_some()),
            ("record", file.record.is_some()),
            ("camera", file.camera.is_some()),
        ] {
            if given {
                let help = "keep it in the main file";
                self.problems.error(
                    &at.key(key),
                    "an included file brings materials, bodies and joints, no settings",
                    help,
                );
            }
        }
    }
}

/// Whether a path, as it is written, never leaves a folder on its way: links are not looked at.
fn stays_inside(base: &Path, written: &str, root: &Path) -> bool {
    let mut at = base.to_path_buf();
    Path::new(written).components().all(|part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                at.pop();
            }
            Component::Normal(name) => at.push(name),
            Component::RootDir | Component::Prefix(_) => at = PathBuf::from(written),
        }
        at.starts_with(root)
    })
}

const fn is_version(value: &Value) -> bool {
    // A value of another kind is a type error, reported by the reader.
    !matches!(value, Value::Number { integer: Some(n), .. } if *n != VERSION as i64)
}

/// A file of another version: its other fields may mean anything, so nothing is said about them.
fn version_only(tree: &Node, at: &At, problems: &mut Problems) -> SceneFile {
    let at = at.key("version");
    let version = tree
        .get("version")
        .map_or(0, |e| u64::read(&e.node, &at, problems));
    problems.error(
        &at,
        format!("version {version} of the scene format; this program reads version {VERSION}"),
        "write version = 1, or use a newer program",
    );
    SceneFile {
        version,
        ..SceneFile::default()
    }
}

/// Refuses, with the reason, what the format knows but this version does not have.
fn refuse_known(tree: &Node, at: &At, problems: &mut Problems) {
    if tree.get("version").is_none() && matches!(tree.value, Value::Table(_)) {
        let written = problems.field(at, "version").replace('…', "1");
        let start = tree.span.start..tree.span.start;
        problems.error_at(
            &at.key("version"),
            start,
            "missing",
            format!("begin the file with {written}"),
        );
    }
    let Some(method) = tree.get("method").map(|e| &e.node) else {
        return;
    };
    for name in tippe::METHOD_NAMES {
        if let Some(entry) = method
            .get(name)
            .filter(|_| tippe::Method::from_name(name).is_none())
        {
            let reason = format!("this version has no method {name:?} yet");
            problems.error_at(
                &at.key("method").key(name),
                entry.key_span.clone(),
                reason,
                "remove its parameters",
            );
        }
    }
}

/// Adds the tables of one file.
fn take(file: &SceneFile, at: &At, parts: &mut Parts) {
    fn add<T: Clone>(list: Option<&Vec<T>>, at: &At, key: &str, out: &mut Vec<Item<T>>) {
        for (i, value) in list.into_iter().flatten().enumerate() {
            out.push(Item {
                value: value.clone(),
                at: at.key(key).index(i),
            });
        }
    }
    add(file.material.as_ref(), at, "material", &mut parts.materials);
    add(file.pair.as_ref(), at, "pair", &mut parts.pairs);
    add(file.body.as_ref(), at, "body", &mut parts.bodies);
    add(file.grid.as_ref(), at, "grid", &mut parts.grids);
    add(file.stack.as_ref(), at, "stack", &mut parts.stacks);
    add(file.pyramid.as_ref(), at, "pyramid", &mut parts.pyramids);
    add(file.fill.as_ref(), at, "fill", &mut parts.fills);
    add(file.chain.as_ref(), at, "chain", &mut parts.chains);
    add(file.joint.as_ref(), at, "joint", &mut parts.joints);
    add(file.sensor.as_ref(), at, "sensor", &mut parts.sensors);
    add(file.program.as_ref(), at, "program", &mut parts.programs);
    let articulations = &mut parts.articulations;
    add(
        file.articulation.as_ref(),
        at,
        "articulation",
        articulations,
    );
}
