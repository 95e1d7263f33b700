//! Writes the meshes of `scenes/meshes` that are turned or threaded: `cargo run -p tippe-scene --example mesh_solids -- scenes/meshes`.

#[path = "../../tippe/tests/geometry_support/solids.rs"]
mod solids;

use solids::Parts;
use std::fmt::Write;

fn obj(parts: &Parts) -> String {
    let mut out = String::from("# made by crates/tippe-scene/examples/mesh_solids.rs, in metres\n");
    for v in &parts.0 {
        let _ = writeln!(out, "v {:.6} {:.6} {:.6}", v.x, v.y, v.z);
    }
    for t in &parts.1 {
        let _ = writeln!(out, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1);
    }
    out
}

fn main() -> std::io::Result<()> {
    let folder = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "scenes/meshes".into());
    let (lead, turns) = (0.04, 24);
    for (name, parts) in [
        ("bowl", solids::bowl(0.3, 1.2, 0.02, 48, 14)),
        ("torus", solids::torus(0.07, 0.03, 24, 12)),
        ("cup", solids::cup(0.05, 0.08, 0.008, 24)),
        ("bolt", solids::bolt(0.025, 0.008, lead, 0.12, turns, turns)),
        (
            "nut",
            solids::nut(0.045, 0.025, 0.008, 0.001, lead, 0.04, turns, turns),
        ),
    ] {
        std::fs::write(format!("{folder}/{name}.obj"), obj(&parts))?;
    }
    Ok(())
}
