use std::time::Instant;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let mut s = tippe_scene::load_file(
        std::path::Path::new(&a[1]),
        &tippe_scene::LoadOptions::default(),
    )
    .map_err(|e| e.to_string())
    .unwrap();
    let n: usize = a[2].parse().unwrap();
    let every: usize = a.get(3).map_or(1, |x| x.parse().unwrap());
    let mut sum = 0.0;
    let mut t10 = 0.0;
    for i in 0..n {
        let t = Instant::now();
        let r = s.world.step(s.dt).unwrap();
        let ms = t.elapsed().as_secs_f64() * 1e3;
        sum += ms;
        t10 += ms;
        if (i + 1) % every == 0 {
            println!(
                "{i:4} {:8.2}ms parts {:2} sweeps {:5} newton {:5} caps {:3} contacts {:4} pen {:.1e} comp {:.1e} stick {:.1e} jp {:.1e} jv {:.1e} ke {:.3e} unexpl {:.2e}",
                t10 / every as f64,
                r.work.substeps,
                r.work.sweeps,
                r.work.newton_steps,
                r.work.caps_hit,
                r.contacts,
                r.penetration,
                r.residuals.complementarity,
                r.residuals.stick_slip,
                r.residuals.joint_position,
                r.residuals.joint_velocity,
                r.energy.kinetic,
                r.energy.unexplained
            );
            t10 = 0.0;
        }
    }
    println!("mean {:.3} ms hash {:#x}", sum / n as f64, s.world.hash());
}
