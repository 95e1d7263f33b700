//! The stage: eye, lamp, colours and meshes that all pictures of one run share; and the drawing of one.
//!
//! Reads: a world as it is now.  Writes: a picture.
//! Called by: users; `Render`.
//! Source: the look of the page: sky from above, a warm lamp with shadow, a rim; walls in the way turn to glass.

use std::collections::BTreeMap;
use std::sync::Arc;

use tippe::{BodyId, BodyKind, Pose, Shape, Vec3, World};

use super::arrow::Sheet;
use super::extent;
use super::eye::Eye;
use super::ground::{Ground, Surroundings};
use super::mesh::{Pattern, Triangle, triangles};
use super::raster::{Colour, Item, Picture, SAMPLES, Samples, Shadow, develop, linear, mix};

/// Cells along a side of the shadow map: twice as many as the picture is wide, up to this.
const SHADOW_MAX: usize = 1536;
const PALETTE: [&str; 8] = [
    "e8743b", "3d8bd4", "2fa67c", "e9b63a", "b765b3", "6cc3e6", "c9545d", "7c8a3e",
];
const RAMP: [&str; 6] = ["3b6fd4", "3fa7c4", "58b98a", "c9c454", "ee9a45", "d9534a"];
const FIXED: [f64; 3] = [0.62, 0.64, 0.68];
const PRESCRIBED: [f64; 3] = [0.5, 0.53, 0.6];

/// What the user wants to see.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Pixels.
    pub size: (usize, usize),
    /// Direction of the eye [rad].
    pub eye: (f64, f64),
    /// How much nearer than to see everything.
    pub zoom: f64,
    /// Contact points and forces.
    pub contacts: bool,
    /// Dark background.
    pub dark: bool,
}

struct Part {
    body: BodyId,
    local: Pose,
    mesh: Arc<(Vec<Triangle>, Pattern)>,
    half: Vec3,
    tones: [Colour; 2],
    fixed: bool,
    sensor: bool,
}

/// What all pictures of one run share.
pub struct Stage {
    look: Look,
    eye: Eye,
    around: Surroundings,
    parts: Vec<Part>,
    center: Vec3,
    radius: f64,
    low: f64,
    /// The only body that moves, and where it was last: the eye goes along.
    follow: Option<(BodyId, Vec3)>,
    force: f64,
    reach: f64,
}

fn hex(text: &str) -> [f64; 3] {
    [0, 2, 4].map(|i| f64::from(u8::from_str_radix(&text[i..i + 2], 16).unwrap_or(128)) / 255.0)
}

fn ramp(t: f64) -> [f64; 3] {
    let x = t.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let i = (x.floor() as usize).min(RAMP.len() - 2);
    let (a, b) = (hex(RAMP[i]), hex(RAMP[i + 1]));
    [0, 1, 2].map(|k| a[k] + (b[k] - a[k]) * (x - i as f64))
}

/// Colours of the bodies: a palette for few, by height at the start for many.
fn colours(world: &World) -> BTreeMap<BodyId, [f64; 3]> {
    let fixed = |id: &BodyId| world.body(*id).is_ok_and(|b| b.kind == BodyKind::Fixed);
    let height = |id: &BodyId| world.pose(*id).map_or(0.0, |p| p.position.z);
    let mut moving: Vec<BodyId> = world
        .body_ids()
        .filter(|id| world.body(*id).is_ok_and(tippe::Body::is_dynamic))
        .collect();
    let few = moving.len() <= 16;
    if !few {
        moving.sort_by(|a, b| height(a).total_cmp(&height(b)).then(a.cmp(b)));
    }
    let last = moving.len().saturating_sub(1).max(1) as f64;
    let mut all: BTreeMap<BodyId, [f64; 3]> = world
        .body_ids()
        .map(|id| (id, if fixed(&id) { FIXED } else { PRESCRIBED }))
        .collect();
    for (rank, id) in moving.iter().enumerate() {
        let colour = if few {
            hex(PALETTE[rank % PALETTE.len()])
        } else {
            ramp(rank as f64 / last)
        };
        all.insert(*id, colour);
    }
    all
}

/// Half the sizes of a shape's box in its own frame.
fn half(shape: &Shape) -> Vec3 {
    let b = shape.bounds(&Pose::IDENTITY);
    b.max.abs().max(b.min.abs())
}

impl Stage {
    /// A stage for a world as it is now, with colours of some bodies (red, green, blue, 0 to 1); the others have colours by kind and size.
    #[must_use]
    pub fn new(world: &World, given: &[(BodyId, [f64; 3])], look: Look) -> Self {
        let mut colours = colours(world);
        colours.extend(given.iter().copied());
        let mut meshes: BTreeMap<String, Arc<(Vec<Triangle>, Pattern)>> = BTreeMap::new();
        let mut parts = Vec::new();
        for id in world.body_ids() {
            let Ok(body) = world.body(id) else { continue };
            let colour = colours.get(&id).copied().unwrap_or(FIXED);
            for s in &body.shapes {
                if matches!(s.shape, Shape::HalfSpace { .. }) {
                    continue;
                }
                let mesh = meshes
                    .entry(format!("{:?}", s.shape))
                    .or_insert_with(|| Arc::new(triangles(&s.shape)));
                let lighter = if mesh.1 == Pattern::Octants {
                    0.28
                } else {
                    0.16
                };
                parts.push(Part {
                    body: id,
                    local: s.pose,
                    mesh: Arc::clone(mesh),
                    half: half(&s.shape),
                    tones: [
                        linear(colour),
                        linear(colour.map(|c| c + (1.0 - c) * lighter)),
                    ],
                    fixed: body.kind == BodyKind::Fixed,
                    sensor: s.sensor,
                });
            }
        }
        let moving: Vec<BodyId> = world
            .body_ids()
            .filter(|id| world.body(*id).is_ok_and(tippe::Body::is_dynamic))
            .collect();
        let mean = moving
            .iter()
            .filter_map(|id| Some(world.body(*id).ok()?.mass))
            .sum::<f64>()
            / moving.len().max(1) as f64;
        let mut sizes: Vec<f64> = parts
            .iter()
            .filter(|p| !p.fixed)
            .map(|p| 2.0 * p.half.max_element())
            .collect();
        sizes.sort_by(f64::total_cmp);
        let follow = match moving[..] {
            [one] => world.body_state(one).ok().map(|s| (one, s.position)),
            _ => None,
        };
        let mut stage = Self {
            look,
            eye: Eye::around(look.eye, &[], look.size, look.zoom),
            around: Surroundings::new(look.dark),
            parts,
            center: Vec3::ZERO,
            radius: 1.0,
            low: 0.0,
            follow,
            force: (mean * world.gravity().length()).max(1e-12),
            reach: 0.9 * sizes.get(sizes.len() / 2).copied().unwrap_or(1.0),
        };
        stage.frame(world);
        stage
    }

    /// Places the eye so that the scene as it is now fills the picture.
    pub fn frame(&mut self, world: &World) {
        let points = extent::points(world, true);
        let (low, high) = extent::bounds(&points).unwrap_or((-Vec3::ONE, Vec3::ONE));
        let Look {
            eye,
            size: (w, h),
            zoom,
            ..
        } = self.look;
        self.eye = Eye::around(eye, &points, (w * SAMPLES, h * SAMPLES), zoom);
        self.center = (low + high) / 2.0;
        self.radius = (0.5 * (high - low).length()).max(1e-6);
        self.low = low.z;
        if let Some((id, was)) = &mut self.follow
            && let Ok(state) = world.body_state(*id)
        {
            *was = state.position;
        }
    }

    /// Draws the scene as it is now.
    #[must_use]
    pub fn draw(&mut self, world: &World) -> Picture {
        if let Some((id, was)) = self.follow
            && let Ok(state) = world.body_state(id)
        {
            let shift = state.position - was;
            self.eye.shift(shift);
            self.center += shift;
            self.follow = Some((id, state.position));
        }
        let points = self.watched(world);
        let (mut solid, mut glass) = (Vec::new(), Vec::new());
        for part in &self.parts {
            let Ok(pose) = world.pose(part.body) else {
                continue;
            };
            let item = Item {
                mesh: &part.mesh.0,
                pose: pose.compose(&part.local),
                tones: part.tones,
                pattern: part.mesh.1,
                half: part.half,
            };
            let wall = part.fixed && part.half.max_element() > 0.25 * self.radius;
            let clear = part.sensor
                || wall
                    && points
                        .iter()
                        .filter(|p| blocks(&item, self.eye.position, **p))
                        .count()
                        >= 2;
            if clear { &mut glass } else { &mut solid }.push(item);
        }
        let lamp = Vec3::new(0.45, -0.5, 1.0).normalize();
        let mut shadow = Shadow::new(
            lamp,
            self.center,
            self.radius,
            SHADOW_MAX.min(2 * self.look.size.0),
        );
        let mut samples = Samples::new(self.look.size);
        for item in &solid {
            shadow.draw(item);
            samples.draw(item, &self.eye);
        }
        let grounds = self.grounds(world);
        let mut light = self.light(&samples, &shadow, lamp, &grounds);
        let mut sheet = Sheet {
            light: &mut light,
            width: samples.width,
            height: samples.height,
        };
        for item in &glass {
            self.outline(item, &mut sheet);
        }
        self.threads(world, &samples, &mut sheet);
        if self.look.contacts {
            sheet.contacts(
                world.contacts(),
                &self.eye,
                self.reach,
                self.force,
                self.look.dark,
            );
        }
        develop(&light, samples.width, samples.height)
    }

    /// Points of the moving bodies that no wall should hide.
    fn watched(&self, world: &World) -> Vec<Vec3> {
        let Some((low, high)) = extent::bounds(&extent::points(world, false)) else {
            return Vec::new();
        };
        let (middle, half) = ((low + high) / 2.0, (high - low) * 0.3);
        let corner = |k: u32| {
            let side = |bit: u32| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
            middle + half * Vec3::new(side(0), side(1), side(2))
        };
        (0..8).map(corner).chain([middle]).collect()
    }

    fn grounds(&self, world: &World) -> Vec<Ground> {
        let mut all: Vec<Ground> = extent::floors(world)
            .map(|(point, normal)| Ground {
                point,
                normal,
                faint: false,
            })
            .collect();
        if all.is_empty() {
            all.push(Ground {
                point: Vec3::Z * self.low,
                normal: Vec3::Z,
                faint: true,
            });
        }
        all
    }

    /// Light that reaches the eye from every sample.
    fn light(
        &self,
        samples: &Samples,
        shadow: &Shadow,
        lamp: Vec3,
        grounds: &[Ground],
    ) -> Vec<Colour> {
        let mut light = Vec::with_capacity(samples.all.len());
        for y in 0..samples.height {
            let sky = self.around.sky(y as f32 / samples.height as f32);
            for x in 0..samples.width {
                let sample = &samples.all[y * samples.width + x];
                let along = self.eye.ray(x as f64 + 0.5, y as f64 + 0.5);
                let at = |depth: f64| self.eye.position + along * depth;
                let mut colour = sky;
                if sample.depth.is_finite() {
                    let normal = Vec3::from_array(sample.normal.map(f64::from));
                    colour = shade(
                        sample.colour,
                        at(f64::from(sample.depth)),
                        normal,
                        lamp,
                        shadow,
                        self.eye.position,
                    );
                }
                for g in grounds {
                    let Some(t) = g
                        .meet(self.eye.position, along)
                        .filter(|t| (*t as f32) < sample.depth)
                    else {
                        continue;
                    };
                    let p = at(t);
                    let slope = (-along.dot(g.normal) / along.length()).max(0.12);
                    let pixel = SAMPLES as f64 * self.eye.pixel(t) / slope.sqrt();
                    colour = g.paint(
                        &self.around,
                        (p, self.center, self.radius),
                        pixel,
                        shadow.light(p, g.normal),
                        colour,
                    );
                }
                light.push(colour);
            }
        }
        light
    }

    /// Rods, ropes and threads, where no body hides them.
    fn threads(&self, world: &World, samples: &Samples, sheet: &mut Sheet) {
        const PARTS: u32 = 48;
        let ink = linear([0.35, 0.38, 0.44]);
        for (a, b) in extent::threads(world) {
            let at = |k: u32| self.eye.see(a.lerp(b, f64::from(k) / f64::from(PARTS)));
            for k in 0..PARTS {
                let (p, q) = (at(k), at(k + 1));
                let hidden = samples
                    .depth_at(p.x, p.y)
                    .is_none_or(|d| f64::from(d) < 0.999 * p.depth);
                if !hidden && p.depth > self.eye.near {
                    sheet.stroke((p.x, p.y), (q.x, q.y), 1.3 * SAMPLES as f64, ink, 0.9);
                }
            }
        }
    }

    /// A wall in the way: its edges only, very light.
    fn outline(&self, item: &Item, sheet: &mut Sheet) {
        let ink = linear([0.45, 0.48, 0.55]);
        let corner = |k: u32| {
            let side = |bit: u32| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let s = self.eye.see(
                item.pose
                    .point(item.half * Vec3::new(side(0), side(1), side(2))),
            );
            (s.depth > self.eye.near).then_some((s.x, s.y))
        };
        for k in 0..8_u32 {
            for bit in [1, 2, 4] {
                if k & bit == 0
                    && let (Some(a), Some(b)) = (corner(k), corner(k | bit))
                {
                    sheet.stroke(a, b, 1.1 * SAMPLES as f64, ink, 0.35);
                }
            }
        }
    }
}

fn shade(colour: Colour, p: Vec3, normal: Vec3, lamp: Vec3, shadow: &Shadow, eye: Vec3) -> Colour {
    let toward = (eye - p).normalize_or(Vec3::Z);
    let facing = normal.dot(lamp).max(0.0) as f32;
    let lit = if facing > 0.0 {
        facing * shadow.light(p, normal)
    } else {
        0.0
    };
    let sky = (0.5 + 0.5 * normal.z) as f32;
    let rim = (1.0 - normal.dot(toward).max(0.0)) as f32;
    let glance = normal.dot((lamp + toward).normalize_or(Vec3::Z)).max(0.0);
    let shine = libm::pow(glance, 40.0) as f32 * lit;
    let ambient = mix([0.22, 0.2, 0.2], [0.42, 0.47, 0.56], sky);
    let warm = [1.0, 0.95, 0.86];
    [0, 1, 2].map(|k| {
        colour[k] * (1.05 * warm[k] * lit + ambient[k]) + 0.25 * shine + 0.06 * rim * rim * rim
    })
}

/// Whether the box of an item lies between the eye and a point.
fn blocks(item: &Item, eye: Vec3, point: Vec3) -> bool {
    let from = item.pose.point_to_local(eye);
    let d = item.pose.point_to_local(point) - from;
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for k in 0..3 {
        let (a, b) = (
            (-item.half[k] - from[k]) / d[k],
            (item.half[k] - from[k]) / d[k],
        );
        if a.is_nan() || b.is_nan() {
            continue;
        }
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    enter < leave && leave < 0.999
}
