fn main() {
    let seconds: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let scene = tippe_scene::load_file(std::path::Path::new("scenes/funnel.toml"), &Default::default()).unwrap();
    let mut world = scene.world;
    let mut worst = 0.0f64;
    let mut sum = 0.0;
    for i in 0..(seconds * 60.0) as usize {
        let r = world.step(1.0 / 60.0).unwrap();
        worst = worst.max(r.penetration_found);
        sum += r.penetration_found;
        if i % 60 == 59 { println!("t {:.2} found {:.4} worst {:.4} mean {:.4} substeps {}", r.time, r.penetration_found, worst, sum / (i + 1) as f64, r.work.substeps); }
    }
    println!("hash {:x} ledger {:?}", world.hash(), world.ledger());
}
