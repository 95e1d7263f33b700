//! Pictures of a world, without a display and without a browser.
//!
//! Reads: a world as it is now.  Writes: pictures; PNG bytes.
//! Called by: users; the command's `render`, gallery and films.
//! Source: a software rasteriser of our own, with the look of the page.
//!
//! ```
//! use tippe::{BodyDesc, Shape, Vec3, World};
//! use tippe_render::{Look, Render};
//!
//! let mut world = World::default();
//! world.add_body(&BodyDesc::dynamic(Shape::Sphere { radius: 0.5 }, Vec3::Z))?;
//! let look = Look { size: (160, 100), ..Look::default() };
//! let picture = world.render(&look);
//! assert_eq!(picture.bytes.len(), 3 * 160 * 100);
//! assert!(picture.png()?.starts_with(b"\x89PNG"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrow;
mod extent;
mod eye;
mod ground;
mod mesh;
mod raster;
mod stage;

use std::io::Write;

pub use raster::Picture;
pub use stage::{Look, Stage};
use tippe::World;

/// Where pictures are looked at from unless told otherwise: degrees about z from x, and above the ground.
pub const EYE_DEG: (f64, f64) = (-63.0, 24.0);

/// Draws itself.
pub trait Render {
    /// A picture of what is there now, all of it in view. For a film with one view keep a [`Stage`].
    fn render(&self, look: &Look) -> Picture;
}

impl Render for World {
    fn render(&self, look: &Look) -> Picture {
        Stage::new(self, &[], *look).draw(self)
    }
}

impl Default for Look {
    fn default() -> Self {
        Self {
            size: (960, 600),
            eye: (EYE_DEG.0.to_radians(), EYE_DEG.1.to_radians()),
            zoom: 1.0,
            contacts: false,
            dark: false,
        }
    }
}

impl Picture {
    /// The picture as the bytes of a PNG file.
    ///
    /// # Errors
    /// The picture has no pixels, or not as many as it says.
    pub fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let size = (self.width as u32, self.height as u32);
        let mut writer = encoder(&mut bytes, size).write_header()?;
        writer.write_image_data(&self.bytes)?;
        writer.finish()?;
        Ok(bytes)
    }
}

/// An encoder for pictures of a size, for files and animations.
pub fn encoder<W: Write>(out: W, (w, h): (u32, u32)) -> png::Encoder<'static, W> {
    let mut encoder = png::Encoder::new(out, w, h);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    encoder
}
