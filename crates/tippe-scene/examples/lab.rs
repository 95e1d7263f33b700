//! Throw-away: times of steps.
use std::fs::read_to_string;
fn cpu() -> f64 {
    let s = read_to_string("/proc/thread-self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-6
}
fn main() {
    // lab METHOD SECONDS DT SCENE...
    let a: Vec<String> = std::env::args().skip(1).collect();
    let seconds: f64 = a[1].parse().unwrap();
    let dt: f64 = a[2].parse().unwrap_or(0.0);
    let verbose = std::env::var("V").is_ok();
    println!("{:<22} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7} {:>6} {:>5} {:>9} {:>9} {:>9}", "scene","steps","mean","p50","p99","max","max10","fact/s","swp/s","caps%","subst","compl","stick","gained/scale");
    for p in &a[3..] {
        let o = tippe_scene::LoadOptions { method: Some(a[0].clone()), ..Default::default() };
        let Ok(mut s) = tippe_scene::load_file(std::path::Path::new(p), &o) else { println!("{p} bad"); continue };
        let h = if dt > 0.0 { dt } else { s.dt };
        let n = (seconds / h).round() as usize;
        let mut t = Vec::new(); let mut ct = 0f64;
        let (mut f, mut sw, mut caps, mut sub, mut c, mut st, mut g, mut sc) = (0u64,0u64,0u64,0u64,0f64,0f64,0f64,0f64);
        for k in 0..n {
            let b = cpu(); let w = std::time::Instant::now();
            let r = match s.world.step(h) { Ok(r) => r, Err(e) => { println!("{p} step {k}: {e}"); break } };
            let e = w.elapsed().as_secs_f64()*1e3; ct += cpu() - b;
            t.push(e);
            if verbose { println!("{k} {e:.3} ms n={} sw={} caps={} sub={} c={} compl={:.2e} stick={:.2e}", r.work.newton_steps, r.work.sweeps, r.work.caps_open(), r.work.substeps, s.world.contacts().len(), r.residuals.complementarity, r.residuals.stick_slip); }
            f += u64::from(r.work.newton_steps); sw += u64::from(r.work.sweeps); caps += u64::from(r.work.caps_open()>0); sub += u64::from(r.work.substeps);
            c = c.max(r.residuals.complementarity); st = st.max(r.residuals.stick_slip);
            g += r.energy.gained; sc = sc.max(r.energy_scale);
        }
        if t.is_empty() { continue }
        let mean = ct / t.len() as f64;
        let late = t.iter().skip(10).fold(0f64, |a,b| a.max(*b));
        let max = t.iter().fold(0f64, |a,b| a.max(*b));
        let k = t.len();
        t.sort_by(f64::total_cmp);
        let q = |x: f64| t[((k as f64*x) as usize).min(k-1)];
        let name = std::path::Path::new(p).file_stem().unwrap().to_string_lossy().to_string();
        println!("{:<22} {:>6} {:>8.3} {:>8.3} {:>8.2} {:>8.2} {:>8.2} {:>7.1} {:>7.1} {:>6.1} {:>5.1} {:>9.1e} {:>9.1e} {:>9.1e}", name, k, mean, q(0.5), q(0.99), max, late, f as f64/k as f64, sw as f64/k as f64, 100.0*caps as f64/k as f64, sub as f64/k as f64, c, st, g/sc);
    }
}
