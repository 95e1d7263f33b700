//! `tippe render`: pictures and short films of a scene, without a display and without a browser.
//!
//! Reads: a scene file.  Writes: PNG files.
//! Called by: `main`.
//! Source: the pictures are those of `tippe-render`; animations are APNG, which every browser plays.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use tippe_render::{EYE_DEG, Look, Picture, Stage, encoder as encoder_to};
use tippe_scene::{LoadOptions, Scene};

use crate::Outcome;
use crate::format::{number, parse_seconds};
use crate::load;
use crate::output::{note, out};
use crate::progress;

/// Most pixels of a picture.
const PIXELS_MAX: u64 = 40_000_000;
/// Width and height of a picture in the gallery.
const THUMBNAIL: (usize, usize) = (400, 250);
/// Most frames of a film.
const FRAMES_MAX: u64 = 100_000;

/// Flags of `tippe render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    /// Scene file, TOML or JSON.
    pub scene: PathBuf,
    /// Method that answers contacts, instead of the scene's.
    #[arg(long, value_name = "M")]
    pub method: Option<String>,
    /// Step length [s], such as 0.001 or 1/60, instead of the scene's.
    #[arg(long, value_name = "H", value_parser = parse_seconds)]
    pub dt: Option<f64>,
    /// Time to simulate [s], instead of the scene's; a picture shows the end.
    #[arg(long, value_name = "T", value_parser = parse_seconds)]
    pub seconds: Option<f64>,
    /// Start of frames or animation [s].
    #[arg(long, value_name = "T", value_parser = parse_seconds)]
    pub from: Option<f64>,
    /// One picture of the end.
    #[arg(long, value_name = "FILE.png", required_unless_present_any = ["frames", "animation"])]
    pub picture: Option<PathBuf>,
    /// A folder of pictures, frame-00000.png and on.
    #[arg(long, value_name = "DIR")]
    pub frames: Option<PathBuf>,
    /// One animated PNG.
    #[arg(long, value_name = "FILE.png")]
    pub animation: Option<PathBuf>,
    /// Pictures a second of film.
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=240))]
    pub fps: u16,
    /// Simulated seconds in a second of film.
    #[arg(long, value_name = "X", default_value = "1", value_parser = parse_seconds)]
    pub speed: f64,
    /// Width and height in pixels.
    #[arg(long, value_name = "WxH", default_value = "960x600", value_parser = parse_size)]
    pub size: (u32, u32),
    /// Direction the eye looks from: degrees about z from x, and above the ground.
    /// That of the scene's camera if not given, or -63,24.
    #[arg(long, value_name = "YAW,UP", value_parser = parse_pair, allow_hyphen_values = true)]
    pub eye: Option<(f64, f64)>,
    /// How much nearer than to see everything; that of the scene's camera if not given.
    #[arg(long, value_name = "X", value_parser = parse_seconds)]
    pub zoom: Option<f64>,
    /// Draw contact points and force arrows.
    #[arg(long)]
    pub contacts: bool,
    /// Dark background.
    #[arg(long)]
    pub dark: bool,
    /// Put a value into the scene by path, in place of the file's: body.block.mass=2, parameters.radius=0.1, method.name=iterative.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Let the scene include files outside its own folder.
    #[arg(long)]
    pub allow_outside: bool,
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let bad = || "write width and height such as 960x600, 16 to 10000 each".to_owned();
    let (w, h) = text.split_once('x').ok_or_else(bad)?;
    let side = |s: &str| s.parse().ok().filter(|n| (16..=10_000).contains(n));
    let size: (u32, u32) = side(w).zip(side(h)).ok_or_else(bad)?;
    if u64::from(size.0) * u64::from(size.1) > PIXELS_MAX {
        return Err(format!("at most {PIXELS_MAX} pixels"));
    }
    Ok(size)
}

fn parse_pair(text: &str) -> Result<(f64, f64), String> {
    let bad = || "write two angles in degrees such as -63,24".to_owned();
    let (a, b) = text.split_once(',').ok_or_else(bad)?;
    let angle = |s: &str| s.trim().parse::<f64>().ok().filter(|x| x.abs() <= 360.0);
    let pair = angle(a).zip(angle(b)).ok_or_else(bad)?;
    if pair.1.abs() > 89.0 {
        return Err("the eye must look from less than 89° above or below the ground".into());
    }
    Ok(pair)
}

/// Simulates and draws.
///
/// # Errors
/// Files cannot be written.
pub fn render(args: &RenderArgs) -> Result<Outcome> {
    let options = LoadOptions {
        method: args.method.clone(),
        dt: args.dt,
        seconds: args.seconds,
        allow_outside: args.allow_outside,
        set: args.set.clone(),
        ..LoadOptions::default()
    };
    let Some(mut scene) = load::load(&args.scene, &options) else {
        return Ok(Outcome::BadInput);
    };
    let from = args.from.unwrap_or(0.0);
    let interval = args.speed / f64::from(args.fps);
    let count = ((scene.seconds - from) / interval + 1e-9).floor().max(0.0) as u64 + 1;
    let film = args.frames.is_some() || args.animation.is_some();
    if film && count > FRAMES_MAX {
        note(&format!("error: {count} frames; at most {FRAMES_MAX}"));
        return Ok(Outcome::BadInput);
    }
    if let Some(dir) = &args.frames {
        fs::create_dir_all(dir)
            .with_context(|| format!("cannot make the folder {}", dir.display()))?;
    }
    let (yaw, up) = args.eye.unwrap_or_else(|| eye(&scene));
    let look = Look {
        size: (args.size.0 as usize, args.size.1 as usize),
        eye: (yaw.to_radians(), up.to_radians()),
        zoom: args.zoom.or(scene.camera.map(|c| c.zoom)).unwrap_or(1.0),
        contacts: args.contacts,
        dark: args.dark,
    };
    let mut stage = Stage::new(&scene.world, &scene.colours, look);
    let mut animation = match &args.animation {
        Some(path) => Some(Animation::start(path, args, count)?),
        None => None,
    };
    let mut drawn = 0;
    let steps = scene.step_count();
    let bar = progress::bar(steps, "steps");
    for step in 0..=steps {
        if step > 0
            && let Err(e) = scene.world.step(scene.dt)
        {
            bar.finish_and_clear();
            let time = number(scene.world.time());
            note(&format!("error: the simulation stopped at {time} s: {e}"));
            return Ok(Outcome::Failed);
        }
        bar.set_position(step);
        while film && drawn < count && scene.world.time() >= from + interval * drawn as f64 - 1e-9 {
            let picture = stage.draw(&scene.world);
            if let Some(dir) = &args.frames {
                write(&dir.join(format!("frame-{drawn:05}.png")), &picture)?;
            }
            if let Some(animation) = &mut animation {
                animation.add(&picture)?;
            }
            drawn += 1;
        }
    }
    bar.finish_and_clear();
    if let Some(animation) = animation {
        // Rounding may have left a frame out.
        let last = stage.draw(&scene.world);
        animation.finish(&last)?;
    }
    if let Some(path) = &args.picture {
        // A picture on its own shows what there is at its time; one beside a film has the film's view.
        if !film {
            stage.frame(&scene.world);
        }
        write(path, &stage.draw(&scene.world))?;
    }
    out(&said(args, &scene, drawn))?;
    Ok(Outcome::Done)
}

fn said(args: &RenderArgs, scene: &Scene, drawn: u64) -> String {
    let mut text = String::new();
    if let Some(path) = &args.picture {
        text += &format!("{} at {} s\n", path.display(), number(scene.world.time()));
    }
    if let Some(path) = &args.animation {
        text += &format!("{}, {drawn} frames\n", path.display());
    }
    if let Some(dir) = &args.frames {
        text += &format!("{}, {drawn} frames\n", dir.display());
    }
    text
}

/// A small picture of a scene at its start, as PNG.
///
/// # Errors
/// The picture cannot be written, which would be a bug.
pub fn thumbnail(scene: &Scene) -> Result<Vec<u8>> {
    let (yaw, up) = eye(scene);
    let look = Look {
        size: THUMBNAIL,
        eye: (yaw.to_radians(), up.to_radians()),
        zoom: scene.camera.map_or(1.0, |c| c.zoom),
        contacts: false,
        dark: false,
    };
    let picture = Stage::new(&scene.world, &scene.colours, look).draw(&scene.world);
    Ok(picture.png()?)
}

/// Where a scene is looked at from, in degrees.
fn eye(scene: &Scene) -> (f64, f64) {
    scene.camera.map_or(EYE_DEG, |c| (c.yaw_deg, c.up_deg))
}

fn encoder(path: &Path, size: (u32, u32)) -> Result<png::Encoder<'static, BufWriter<File>>> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(encoder_to(BufWriter::new(file), size))
}

/// Writes a PNG file.
fn write(path: &Path, picture: &Picture) -> Result<()> {
    fs::write(path, picture.png()?).with_context(|| format!("cannot write {}", path.display()))
}

/// An animated PNG that grows.
struct Animation {
    writer: png::Writer<BufWriter<File>>,
    left: u64,
}

impl Animation {
    fn start(path: &Path, args: &RenderArgs, count: u64) -> Result<Self> {
        let mut encoder = encoder(path, args.size)?;
        encoder.set_animated(u32::try_from(count)?, 0)?;
        encoder.set_frame_delay(1, args.fps)?;
        Ok(Self {
            writer: encoder.write_header()?,
            left: count,
        })
    }

    fn add(&mut self, picture: &Picture) -> Result<()> {
        if self.left > 0 {
            self.writer.write_image_data(&picture.bytes)?;
            self.left -= 1;
        }
        Ok(())
    }

    fn finish(mut self, last: &Picture) -> Result<()> {
        while self.left > 0 {
            self.add(last)?;
        }
        self.writer.finish()?;
        Ok(())
    }
}
