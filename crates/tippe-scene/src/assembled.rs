//! A scene with its bodies where assembling put them.
//!
//! Reads: the world of a scene.  Writes: the resolved scene.
//! Called by: users (`tippe assemble`).
//! Source: docs/assembly.md.

use crate::load::Scene;

impl Scene {
    /// Brings the written form of the scene to where its bodies are now, so that `explain` writes them there.
    ///
    /// # Errors
    /// Names of bodies that moved but are written by a generator, which has no place for each.
    pub fn write_poses(&mut self) -> Result<(), Vec<String>> {
        let mut left_out = Vec::new();
        for (name, id) in &self.names {
            let (Ok(pose), Ok(body)) = (self.world.pose(*id), self.world.body(*id)) else {
                continue;
            };
            if pose == body.pose_start {
                continue;
            }
            let written = self.resolved.body.iter_mut().flatten();
            match written.into_iter().find(|b| b.name.as_ref() == Some(name)) {
                Some(body) => {
                    body.position = Some(pose.position.to_array());
                    let q = pose.rotation;
                    body.rotation = Some([q.w, q.x, q.y, q.z]);
                    body.rotation_deg = None;
                }
                None => left_out.push(name.clone()),
            }
        }
        if left_out.is_empty() {
            Ok(())
        } else {
            Err(left_out)
        }
    }
}
