//! The hybrid body: a tree whose joints are those that move, and whose links are the rigid pieces between them.
//!
//! Reads: `Model`, `Assembly` (rigid pieces), which joints move.  Writes: `Hybrid`, with a `Model` of its own.
//! Called by: `body`, `lock`, `impact`.
//! Source: [Redon05]; [Articulated] slides 44–46. The hybrid body is an ordinary model, so that dynamics,
//! integrators, impulses, constraints and limits are those of every other tree, at the cost of the moving joints alone.

use super::assembly::Assembly;
use super::plan::NONE;
use super::select::Region;
use crate::articulated::error::TreeError;
use crate::articulated::inertia::RigidInertia;
use crate::articulated::joint::{Joint, Plain};
use crate::articulated::kinematics::kinematics;
use crate::articulated::load::Load;
use crate::articulated::model::{Link, LinkDesc, Model, Node, Sprung, WORLD};
use crate::articulated::spatial::{Frame, transposed_times};
use crate::articulated::work::Work;
use crate::articulated::{Touch, collision::LinkPoint};
use crate::math::{Mat3, Pose, Vec3};
use crate::shape::mass::MassProperties;

/// A maximal rigid piece of the assembly, and the link of the hybrid body it is part of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Node of the plan.
    pub node: u32,
    /// Link of the hybrid body.
    pub body: u32,
    /// Frame of the piece's base in that link.
    pub frame: Frame,
}

/// A tree with part of its joints locked.
#[derive(Clone, Debug)]
pub(super) struct Hybrid {
    /// Link 0 is the world; link k is what joint k of this model carries.
    pub model: Model,
    pub work: Work,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    /// By joint of this model: the model node it is; 0 for the world.
    pub nodes: Vec<u32>,
    /// Places of `q` and `v` among those of the whole tree.
    pub q_at: Vec<u32>,
    pub v_at: Vec<u32>,
    pub pieces: Vec<Piece>,
    region: Region,
    /// By model node: the joint of this model, or `NONE`.
    joint_of: Vec<u32>,
    /// By node of the plan: its place among the pieces, or `NONE`.
    piece_of: Vec<u32>,
}

impl Hybrid {
    /// The tree in which the joints of `region` move. Needs `Assembly::sync`.
    pub fn new(model: &Model, assembly: &Assembly, region: &Region) -> Self {
        let mut empty = model_of(model, 0);
        let nothing = MassProperties {
            mass: 0.0,
            center: Vec3::ZERO,
            inertia: Mat3::ZERO,
        };
        let world = LinkDesc::new(None, Joint::Fixed, Pose::IDENTITY, nothing);
        empty.descs.push(world);
        empty.links.push(Link {
            node: WORLD as u32,
            frame: Frame::IDENTITY,
            q: 0,
            v: 0,
        });
        let mut h = Self {
            work: Work::new(&empty),
            model: empty,
            q: Vec::new(),
            v: Vec::new(),
            nodes: vec![WORLD as u32],
            q_at: Vec::new(),
            v_at: Vec::new(),
            pieces: Vec::new(),
            region: region.clone(),
            joint_of: vec![NONE; model.nodes.len()],
            piece_of: vec![NONE; assembly.plan.nodes.len()],
        };
        h.joint_of[WORLD] = 0;
        h.collect(assembly);
        // Base first: what carries a piece has its seat already.
        for k in 0..h.pieces.len() {
            let seat = h.seat(model, assembly, h.pieces[k].node as usize);
            (h.pieces[k].body, h.pieces[k].frame) = seat;
        }
        for k in 1..h.nodes.len() {
            h.add_joint(model, assembly, k);
        }
        for piece in &h.pieces {
            let carrier = &mut h.model.nodes[piece.body as usize];
            let own = &assembly.rigid[piece.node as usize].inertia;
            carrier.inertia = carrier.inertia.plus(&own.carried(&piece.frame));
        }
        h.work = Work::new(&h.model);
        h
    }

    /// The open part of the assembly, from the whole inwards: joints that move in the order of the model, pieces in that
    /// of their bases, links before their copies.
    fn collect(&mut self, assembly: &Assembly) {
        let mut open = vec![assembly.plan.root()];
        while let Some(i) = open.pop() {
            let (p, l, r) = assembly.parts(i);
            if p.is_leaf() || !self.region.open[i] {
                self.pieces.push(Piece {
                    node: i as u32,
                    body: 0,
                    frame: Frame::IDENTITY,
                });
                continue;
            }
            if self.region.moves[i] {
                self.nodes.push(p.joint);
            }
            open.push(l);
            open.push(r);
        }
        self.nodes[1..].sort_unstable();
        let nodes = &assembly.plan.nodes;
        let base = |p: &Piece| (nodes[p.node as usize].base, nodes[p.node as usize].copied);
        self.pieces.sort_unstable_by_key(|p| (base(p), p.node));
        for (k, piece) in self.pieces.iter().enumerate() {
            self.piece_of[piece.node as usize] = k as u32;
        }
        for (k, &node) in self.nodes.iter().enumerate() {
            self.joint_of[node as usize] = k as u32;
        }
    }

    fn add_joint(&mut self, model: &Model, assembly: &Assembly, k: usize) {
        let node = model.nodes[self.nodes[k] as usize];
        let (parent, frame) = self.place_of(assembly, node.parent as usize);
        let m = &mut self.model;
        let (q, v) = (m.position_count, m.freedom_parents.len());
        let slot = match node.joint {
            Plain::Hinge | Plain::Slider => 0,
            Plain::Ball => m.ball_count,
            Plain::Free => m.free_count,
        };
        m.ball_count += usize::from(node.joint == Plain::Ball);
        m.free_count += usize::from(node.joint == Plain::Free);
        let up = &m.nodes[parent as usize];
        let mut before = if parent as usize == WORLD {
            crate::articulated::model::NONE
        } else {
            up.v + up.joint.freedom_count() as u32 - 1
        };
        for d in 0..node.joint.freedom_count() {
            m.freedom_parents.push(before);
            m.freedom_nodes.push(k as u32);
            m.viscous.push(model.viscous[node.v as usize + d]);
            m.armature.push(model.armature[node.v as usize + d]);
            before = (v + d) as u32;
            self.v_at.push(node.v + d as u32);
        }
        for d in 0..node.joint.position_count() {
            self.q_at.push(node.q + d as u32);
        }
        let springs = springs_of(model, node.v);
        m.springs.extend(springs.iter().map(|s| Sprung {
            q: q as u32,
            v: v as u32,
            ..*s
        }));
        m.position_count += node.joint.position_count();
        m.descs.push(model.descs[node.link as usize].clone());
        m.links.push(Link {
            node: k as u32,
            frame: Frame::IDENTITY,
            q: q as u32,
            v: v as u32,
        });
        m.nodes.push(Node {
            parent,
            q: q as u32,
            v: v as u32,
            slot: slot as u32,
            link: k as u32,
            placement: frame.compose(&node.placement),
            inertia: RigidInertia::default(),
            ..node
        });
    }

    /// The link of the hybrid body that a model node is part of, and the frame of the node in it.
    pub fn place_of(&self, assembly: &Assembly, node: usize) -> (u32, Frame) {
        let mut at = assembly.plan.leaf_of[node] as usize;
        let mut frame = Frame::IDENTITY;
        // Up to the rigid piece.
        loop {
            let up = assembly.plan.nodes[at].parent;
            if up == NONE || self.region.open[up as usize] {
                break;
            }
            let (p, l, r) = assembly.parts(up as usize);
            if at == r {
                let base = assembly.rigid[l].tip.compose(&assembly.joint_frame(&p));
                frame = base.compose(&frame);
            }
            at = up as usize;
        }
        let piece = &self.pieces[self.piece_of[at] as usize];
        (piece.body, piece.frame.compose(&frame))
    }

    /// The link that carries a piece, and the frame of its base there.
    fn seat(&self, model: &Model, assembly: &Assembly, piece: usize) -> (u32, Frame) {
        let p = assembly.plan.nodes[piece];
        let base = p.base as usize;
        if p.copied {
            // Welded to a link of a piece nearer to the world.
            return self.place_of(assembly, base);
        }
        if self.joint_of[base] != NONE {
            return (self.joint_of[base], Frame::IDENTITY);
        }
        // Its joint is locked: it is part of whatever carries it.
        let (body, up) = self.place_of(assembly, model.nodes[base].parent as usize);
        (body, up.compose(&assembly.frames[base]))
    }

    /// Takes positions and velocities of the moving joints from those of the whole tree.
    pub fn gather(&mut self, q: &[f64], v: &[f64]) {
        self.q.clear();
        self.q.extend(self.q_at.iter().map(|i| q[*i as usize]));
        self.v.clear();
        self.v.extend(self.v_at.iter().map(|i| v[*i as usize]));
    }

    /// Gives them back.
    pub fn scatter(&self, q: &mut [f64], v: &mut [f64]) {
        for (x, i) in self.q.iter().zip(&self.q_at) {
            q[*i as usize] = *x;
        }
        for (x, i) in self.v.iter().zip(&self.v_at) {
            v[*i as usize] = *x;
        }
    }

    /// Poses and velocities of the rigid pieces.
    pub fn place(&mut self) -> Result<(), TreeError> {
        kinematics(&self.model, &self.q, &self.v, &mut self.work)
    }

    /// Turn of a piece in the axes of its base [rad/s]. Needs `place`.
    pub fn turn_of(&self, piece: &Piece) -> Vec3 {
        let w = self.work.flows[piece.body as usize].velocity.angular;
        transposed_times(&piece.frame.rotation, w)
    }

    /// A load on a link of the whole tree, as one on the hybrid body.
    pub fn load(&self, model: &Model, assembly: &Assembly, load: &Load) -> Result<Load, TreeError> {
        let link = self.link(model, assembly, load.link)?.0;
        Ok(Load { link, ..*load })
    }

    /// A contact of links of the whole tree, as one of the hybrid body.
    pub fn touch(
        &self,
        model: &Model,
        assembly: &Assembly,
        touch: &Touch,
    ) -> Result<Touch, TreeError> {
        let end = |e: Option<LinkPoint>| -> Result<Option<LinkPoint>, TreeError> {
            e.map(|e| {
                let link = self.link(model, assembly, e.link)?.0;
                Ok(LinkPoint { link, ..e })
            })
            .transpose()
        };
        Ok(Touch {
            a: end(touch.a)?,
            b: end(touch.b)?,
        })
    }

    /// The link of the hybrid body that a link of the whole tree is part of, and its frame there.
    pub fn link(
        &self,
        model: &Model,
        assembly: &Assembly,
        link: usize,
    ) -> Result<(usize, Frame), TreeError> {
        let l = model.link("link", link)?;
        let (body, frame) = self.place_of(assembly, l.node as usize);
        Ok((body as usize, frame.compose(&l.frame)))
    }
}

/// The spring of a freedom, if it has one: springs stand in the order of the freedoms.
fn springs_of(model: &Model, freedom: u32) -> &[Sprung] {
    let from = model.springs.partition_point(|s| s.v < freedom);
    let to = model.springs.partition_point(|s| s.v <= freedom);
    &model.springs[from..to]
}

/// A model without links, with the gravity of another.
fn model_of(model: &Model, links: usize) -> Model {
    Model {
        descs: Vec::with_capacity(links),
        gravity: model.gravity,
        nodes: vec![model.nodes[WORLD]],
        links: Vec::with_capacity(links),
        freedom_parents: Vec::new(),
        freedom_nodes: Vec::new(),
        viscous: Vec::new(),
        armature: Vec::new(),
        springs: Vec::new(),
        position_count: 0,
        ball_count: 0,
        free_count: 0,
    }
}
