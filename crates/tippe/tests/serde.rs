//! Ids, descriptions and reports of the library go through serde and come back as they were.

#![allow(
    clippy::unwrap_used,
    reason = "a test may stop at what it does not expect"
)]

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use tippe::articulated::{Joint, LinkDesc};
use tippe::shape::mass::MassProperties;
use tippe::{
    ArticulationDesc, BodyDesc, Driven, JointDesc, LinkBodyDesc, Mat3, Pose, Program, SensorDesc,
    SensorKind, Shape, Signal, StepReport, Surface, Vec3, World,
};

fn again<T: Serialize + DeserializeOwned>(value: &T) -> T {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

fn same<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    assert_eq!(again(value), *value);
}

#[test]
fn ids_descriptions_and_reports_go_through_serde() {
    let mut world = World::default();
    let desc = BodyDesc::dynamic(Shape::Sphere { radius: 0.1 }, Vec3::Z).named("ball");
    same(&desc);
    let body = world.add_body(&desc).unwrap();
    same(&body);
    assert_eq!(world.pose(again(&body)).unwrap().position, Vec3::Z);
    let joint = JointDesc::hinge(&world, None, body, Vec3::ZERO, Vec3::X).unwrap();
    same(&joint);
    same(&world.add_joint(&again(&joint)).unwrap());
    let sensor = SensorDesc {
        name: "pose".into(),
        kind: SensorKind::Pose {
            body,
            place: Pose::IDENTITY,
        },
    };
    same(&sensor);
    same(&world.add_sensor(sensor).unwrap());
    same(&Program {
        driven: Driven::Gravity,
        signal: Signal::Sine {
            offset: Vec3::Z,
            amplitude: Vec3::X,
            frequency: 2.0,
            phase: 0.5,
        },
    });
    same(&Surface::new(0.5, 0.25));
    let report = world.step(0.01).unwrap();
    let back: StepReport = again(&report);
    assert_eq!(format!("{back:?}"), format!("{report:?}"));
    let mass = MassProperties {
        mass: 2.0,
        center: Vec3::X,
        inertia: Mat3::IDENTITY,
    };
    let hinge = Joint::Revolute { axis: Vec3::Y };
    let link = LinkDesc::new(None, hinge, Pose::IDENTITY, mass);
    let tree = ArticulationDesc {
        name: "arm".into(),
        links: vec![LinkBodyDesc::new(link)],
        ..ArticulationDesc::default()
    };
    assert_eq!(format!("{:?}", again(&tree)), format!("{tree:?}"));
}
