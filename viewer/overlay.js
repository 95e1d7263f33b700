// What is drawn over the bodies: contact forces, normals, friction cones, joints, velocities, boxes, pairs.
//
// Reads: contacts, joints, poses.  Writes: lists of numbers for the renderer, and the arrows as data.
// Called by: pane.

import { SOLIDS, kindOf } from './shapes.js';
import { add, cross, dot, len, mul, sub, turn, unit } from './vec.js';

const STICK = [0.13, 0.62, 0.42, 1];
const SLIP = [0.93, 0.42, 0.13, 1];
const CHOSEN = [0.95, 0.75, 0.1, 1];
const JOINT = [0.45, 0.35, 0.8, 1];
const SPEED = [0.2, 0.5, 0.9, 1];
const SPIN = [0.75, 0.3, 0.7, 1];
const BOX = [0.5, 0.55, 0.65, 0.8];
const PAIR = [0.8, 0.5, 0.2, 0.9];
const NEAR = [0.5, 0.55, 0.65, 0.9];
const IMPACT = [0.85, 0.2, 0.45];
const IMPACT_LASTS = 0.4; // an impact fades away [s]
const PAIRS_MAX = 20000; // drawn, at most
const LONGEST = 8; // an arrow is at most this many times the reference length

// Layers and what they are called.
export const LAYERS = {
  contacts: 'contact points',
  forces: 'contact forces',
  normals: 'normals',
  cones: 'friction cones',
  joints: 'skeleton',
  reactions: 'joint reactions',
  centers: 'centres of mass',
  velocities: 'velocities',
  momenta: 'momenta',
  impacts: 'impacts',
  boxes: 'bounding boxes',
  pairs: 'pairs',
};

export class Overlay {
  constructor() {
    this.arrows = [];
    this.marks = [];
    this.lines = [];
    this.near = 0; // pairs of boxes that overlap without touching
    this.shown = []; // force arrows as data: from, force [N], vector [m]
  }

  arrow(from, to, colour, width, head = 1) {
    this.arrows.push(...from, ...to, ...colour, width, head);
  }

  line(a, b, colour) {
    this.lines.push(...a, ...colour, ...b, ...colour);
  }

  mark(p, colour, kind, size) {
    this.marks.push(...p, ...colour, kind, size);
  }

  // `look`: layers, reference force [N], momentum [N·s] and length [m], pixels a unit, the chosen contact; `scale`: metres of arrow for a unit.
  contacts(list, look, friction, scale) {
    for (const c of list) {
      const chosen = c.key === look.chosen;
      const colour = chosen ? CHOSEN : c.sliding ? SLIP : STICK;
      if (look.layers.forces) {
        let along = mul(c[look.arrow], scale);
        const limit = LONGEST * look.length;
        const cut = len(along) > limit;
        if (cut) along = mul(along, limit / len(along));
        // The force on B, drawn so that its arrow leaves the contact into B.
        if (len(along) > 1e-3 * look.length) {
          this.arrow(c.point, add(c.point, along), colour, (chosen ? 4 : 2.6) * look.scale);
          this.shown.push({ key: c.key, from: c.point, force: c[look.arrow], along, cut });
        }
      }
      if (look.layers.normals) this.arrow(c.point, add(c.point, mul(c.normal, 0.6 * look.length)), [0.35, 0.4, 0.5, 0.9], 1.4 * look.scale);
      if (look.layers.cones) this.cone(c, look, friction(c));
      if (look.layers.contacts || chosen) this.mark(c.point, colour, c.sliding ? 1 : 0, chosen ? 15 : look.mark(c.point) * (c.sliding ? 1.35 : 1));
    }
  }

  cone(c, look, mu) {
    const height = Math.min(LONGEST * look.length, (c.pressing / look.force) * look.length);
    if (!(height > 0)) return;
    const side = Math.abs(c.normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
    const u = unit(cross(c.normal, side));
    const v = cross(c.normal, u);
    const rim = (k) => {
      const a = (2 * Math.PI * k) / 16;
      return add(c.point, add(mul(c.normal, height), add(mul(u, Math.cos(a) * mu * height), mul(v, Math.sin(a) * mu * height))));
    };
    const colour = c.sliding ? [...SLIP.slice(0, 3), 0.7] : [...STICK.slice(0, 3), 0.7];
    for (let k = 0; k < 16; k++) {
      this.line(rim(k), rim(k + 1), colour);
      if (k % 2 === 0) this.line(c.point, rim(k), colour);
    }
  }

  joints(joints, bodies, poses, reactions, look) {
    const place = new Map(bodies.map((b, i) => [b.slot, i]));
    const at = (slot, local) => {
      if (slot === null || !place.has(slot)) return local;
      const i = place.get(slot);
      return add(position(poses, i), turn(rotation(poses, i), local));
    };
    joints.forEach((j, k) => {
      const [a, b] = [at(j.body_a, j.at_a), at(j.body_b, j.at_b)];
      const middle = (slot, fallback) => (slot === null || !place.has(slot) ? fallback : centerOf(bodies, poses, place.get(slot)));
      if (look.layers.joints) {
        this.arrow(middle(j.body_a, a), a, JOINT, 2.2 * look.scale, 0);
        this.arrow(middle(j.body_b, b), b, JOINT, 2.2 * look.scale, 0);
        if (j.kind === 'distance') this.arrow(a, b, [...JOINT.slice(0, 3), 0.6], 1.2 * look.scale, 0);
        this.mark(b, JOINT, 0, 8);
      }
      if (look.layers.reactions && reactions) {
        const force = [0, 1, 2].map((i) => reactions[6 * k + i]);
        let along = mul(force, look.length / look.force);
        if (len(along) > LONGEST * look.length) along = mul(unit(along), LONGEST * look.length);
        if (len(along) > 1e-3 * look.length) this.arrow(b, add(b, along), JOINT, 2.6 * look.scale);
      }
    });
  }

  bodies(bodies, poses, motion, look, reach) {
    bodies.forEach((body, i) => {
      if (body.kind === 'fixed') return;
      const c = centerOf(bodies, poses, i);
      if (look.layers.centers) this.mark(c, [0.15, 0.17, 0.2, 1], 1, 9);
      const v = motion.velocity(i);
      if (look.layers.velocities) {
        if (len(v) > 1e-4 * reach) this.arrow(c, add(c, mul(v, 0.15)), SPEED, 2 * look.scale);
        const w = motion.spin(i);
        if (len(w) > 1e-2) this.arrow(c, add(c, mul(w, 0.02 * reach)), SPIN, 1.6 * look.scale);
      }
      if (look.layers.momenta && body.mass > 0) {
        const p = mul(v, (body.mass * look.length) / look.momentum);
        if (len(p) > 1e-3 * look.length) this.arrow(c, add(c, mul(p, Math.min(1, (LONGEST * look.length) / len(p)))), [0.1, 0.45, 0.5, 1], 2.4 * look.scale);
      }
      if (look.layers.boxes) this.box(...bounds(body, poses, i));
    });
  }

  box(min, max) {
    if (!(min[0] <= max[0])) return;
    const corner = (k) => [k & 1 ? max[0] : min[0], k & 2 ? max[1] : min[1], k & 4 ? max[2] : min[2]];
    for (let k = 0; k < 8; k++) {
      for (const bit of [1, 2, 4]) if (!(k & bit)) this.line(corner(k), corner(k | bit), BOX);
    }
  }

  // Impacts of a moment ago, fading.
  impacts(events, time, look) {
    for (let i = events.length - 1; i >= 0; i--) {
      const e = events[i];
      if (e.time < time - 2 * IMPACT_LASTS) break;
      const age = (time - e.time) / IMPACT_LASTS;
      if (e.kind === 'impact' && age >= -1e-6 && age < 1) this.mark(e.point, [...IMPACT, 1 - age], 1, 2 * look.mark(e.point));
    }
  }

  // Bodies that touch, joined by a line, and bodies whose boxes overlap without touching, by a thin one.
  pairs(contacts, bodies, poses) {
    const place = new Map(bodies.map((b, i) => [b.slot, i]));
    const seen = new Set();
    for (const c of contacts) {
      const key = `${c.a} ${c.b}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const end = (slot) => {
        const i = place.get(slot);
        return i !== undefined && bodies[i].kind !== 'fixed' ? centerOf(bodies, poses, i) : c.point;
      };
      this.arrow(end(c.a), end(c.b), PAIR, 1.4, 0);
    }
    // Boxes by their lowest x: those that overlap are near each other in the list.
    const boxes = bodies.map((b, i) => ({ b, i, box: bounds(b, poses, i) })).filter(({ box }) => box[0][0] <= box[1][0]).sort((p, q) => p.box[0][0] - q.box[0][0]);
    let left = PAIRS_MAX;
    boxes.forEach((p, at) => {
      for (let k = at + 1; k < boxes.length && left > 0 && boxes[k].box[0][0] <= p.box[1][0]; k++) {
        const q = boxes[k];
        const apart = [1, 2].some((d) => p.box[0][d] > q.box[1][d] || q.box[0][d] > p.box[1][d]);
        const known = seen.has(`${p.b.slot} ${q.b.slot}`) || seen.has(`${q.b.slot} ${p.b.slot}`);
        if (apart || known || (p.b.kind === 'fixed' && q.b.kind === 'fixed')) continue;
        left--;
        this.line(centerOf(bodies, poses, p.i), centerOf(bodies, poses, q.i), NEAR);
        this.near++;
      }
    });
  }

  // The spring of a hand.
  hand(from, to, scale) {
    this.arrow(from, to, [0.9, 0.25, 0.35, 0.9], 2.5 * scale, 0);
    this.mark(to, [0.9, 0.25, 0.35, 1], 0, 12);
  }
}

export const position = (poses, i) => [poses[7 * i], poses[7 * i + 1], poses[7 * i + 2]];
export const rotation = (poses, i) => [poses[7 * i + 3], poses[7 * i + 4], poses[7 * i + 5], poses[7 * i + 6]];
export const centerOf = (bodies, poses, i) => add(position(poses, i), turn(rotation(poses, i), bodies[i].center));

// The box around the shapes of a body (half-spaces left out).
export function bounds(body, poses, i) {
  const min = [Infinity, Infinity, Infinity];
  const max = [-Infinity, -Infinity, -Infinity];
  const q = rotation(poses, i);
  const at = position(poses, i);
  for (const s of body.shapes) {
    const kind = kindOf(s.solid);
    if (!SOLIDS[kind]) continue;
    const half = SOLIDS[kind].half(s.solid[kind]);
    const local = [s.rotation[1], s.rotation[2], s.rotation[3], s.rotation[0]];
    const center = add(at, turn(q, s.position));
    const axes = [0, 1, 2].map((k) => turn(q, turn(local, [k === 0 ? 1 : 0, k === 1 ? 1 : 0, k === 2 ? 1 : 0])));
    for (let k = 0; k < 3; k++) {
      const e = kind === 'sphere' ? half[0] : [0, 1, 2].reduce((sum, a) => sum + Math.abs(axes[a][k]) * half[a], 0);
      min[k] = Math.min(min[k], center[k] - e);
      max[k] = Math.max(max[k], center[k] + e);
    }
  }
  return [min, max];
}

// Whether the line from the eye to a point meets a box with these half sizes.
export function blocks(half, center, q, eye, point) {
  const inverse = [-q[0], -q[1], -q[2], q[3]];
  const from = turn(inverse, sub(eye, center));
  const d = sub(turn(inverse, sub(point, center)), from);
  let [enter, leave] = [0, 1];
  for (let k = 0; k < 3; k++) {
    if (Math.abs(d[k]) < 1e-12) {
      if (Math.abs(from[k]) > half[k]) return false;
      continue;
    }
    const [a, b] = [(-half[k] - from[k]) / d[k], (half[k] - from[k]) / d[k]];
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  }
  return enter < leave && leave < 0.999 && dot(d, d) > 0;
}
