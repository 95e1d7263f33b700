//! The scenes with adaptive trees show what their texts say.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use tippe::{ArticulationId, BodyId, World};
use tippe_scene::{LoadOptions, Scene, load_file};

fn scene(name: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    load_file(&path.join(name), &LoadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn only_tree(world: &World) -> ArticulationId {
    world.articulation_ids().next().unwrap()
}

/// The links whose names contain a word.
fn links(world: &World, word: &str) -> Vec<BodyId> {
    let named = world.bodies().filter(|b| b.1.name.contains(word));
    named.map(|b| b.0).collect()
}

#[test]
fn ab_33_only_the_legs_in_touch_of_the_creature_are_active() {
    let mut scene = scene("adaptive-creature.toml");
    let (landed, steps) = (250, 1000);
    let legs: Vec<Vec<BodyId>> = (0..6)
        .flat_map(|i| ["l", "r"].map(|side| format!("{i}{side}")))
        .map(|leg| links(&scene.world, &leg))
        .collect();
    let (mut touched, mut held, mut hung, mut locked) = (0, 0, 0, 0);
    for k in 0..steps {
        scene.world.step(scene.dt).unwrap();
        for leg in legs.iter().filter(|_| k > landed) {
            assert_eq!(leg.len(), 3);
            let touches = scene
                .world
                .contacts()
                .iter()
                .any(|c| leg.contains(&c.body_a) || leg.contains(&c.body_b));
            let moves = leg
                .iter()
                .filter(|l| !scene.world.is_locked(**l).unwrap())
                .count();
            if touches {
                (touched, held) = (touched + 3, held + 3 - moves);
            } else {
                (hung, locked) = (hung + 3, locked + 3 - moves);
            }
        }
    }
    println!("in touch: {held} of {touched} joints locked; not: {locked} of {hung}");
    assert!(touched > 1000 && 5 * held < touched);
    assert!(hung > 1000 && 10 * locked > 9 * hung);
}

#[test]
fn ab_33_the_moving_joints_of_the_curtain_follow_the_ball() {
    let mut scene = scene("adaptive-curtain.toml");
    let id = only_tree(&scene.world);
    let links = scene.world.link_bodies(id).unwrap();
    let steps = if cfg!(debug_assertions) { 700 } else { 1500 };
    for _ in 0..steps {
        scene.world.step(scene.dt).unwrap();
    }
    let ball = scene.world.bodies().next().unwrap().2.position;
    let moving: Vec<f64> = links
        .iter()
        .filter(|l| !scene.world.is_locked(**l).unwrap())
        .map(|l| scene.world.pose(*l).unwrap().position.x - ball.x)
        .collect();
    let near = moving.iter().filter(|x| x.abs() < 0.6).count();
    println!(
        "{} joints move, {near} of them next to the ball",
        moving.len()
    );
    assert!(moving.len() < 400 && 2 * near > moving.len());
}
