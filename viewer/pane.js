// One view of one run: its recording, its line to the server if it is live, and what is drawn of it.
//
// Reads: a recording, settings of the page.  Writes: a canvas; orders.
// Called by: page.

import { answers, colours, islands, key } from './colours.js';
import { Connection } from './connection.js';
import { DETAILS, Renderer } from './draw.js';
import { Overlay, blocks, bounds, centerOf, position, rotation } from './overlay.js';
import { Recording } from './recording.js';
import { SOLIDS, kindOf } from './shapes.js';
import { meanContacts } from './statistics.js';
import { add, back, dot, len, mul, quatMul, sub, turn, unit } from './vec.js';

const GRAVITY = 9.81;
const COST_STEPS = 20; // steps that the cost of a step is the mean of

export class Pane {
  // `on.news()`: more of the recording; `on.answer(a)`, `on.line(state)`: from the server.
  constructor(canvas, camera, settings, on) {
    this.canvas = canvas;
    this.camera = camera;
    this.settings = settings;
    this.on = on;
    this.renderer = new Renderer(canvas);
    this.recording = null;
    this.connection = null;
    this.stopped = '';
    this.paused = false; // the server says that the run rests, by the last order to do so, on its last frame
    this.order = 0; // number of that order
    this.opening = 0; // runs that were asked for and have not begun
    this.asked = 0;
    this.since = 0; // when the server last sent something or was asked for it [ms]
    this.colourKey = '';
    this.chosen = null; // { body } or { contact }
    this.hand = null;
    this.follow = null; // place of a body in the list
    this.index = 0; // place of the frame that is shown
    this.kept = [{ frame: null }, { frame: null }]; // two frames with their poses unpacked
    this.paint = { version: 0 };
    this.stage = { center: [0, 0, 0], radius: 1, low: 0 };
  }

  get live() {
    return this.connection !== null;
  }

  get ready() {
    return this.recording !== null && this.recording.frames.length > 0;
  }

  // Whether nothing more will come by itself.
  get atRest() {
    return !this.live || (!this.opening && (this.paused || this.stopped !== ''));
  }

  // Whether its run can be told to go on.
  get runs() {
    return this.live && this.ready && !this.opening && this.stopped === '';
  }

  // Its step [s].
  get dt() {
    return this.recording?.header?.dt ?? 0;
  }

  // How far it has come [s].
  get end() {
    return this.ready && !this.opening ? this.recording.duration : 0;
  }

  // Whether the server has something to do for this page.
  get awaited() {
    return this.runs && (this.asked > this.end + 1e-9 || (this.asked === 0 && this.order > 0 && !this.paused));
  }

  // For how long nothing has come although something is awaited [s], what the last steps took [ms], simulated seconds a second.
  get cost() {
    const last = (this.recording?.wall ?? []).slice(-COST_STEPS);
    const ms = last.reduce((a, b) => a + b, 0) / Math.max(1, last.length);
    return { wait: this.awaited ? (performance.now() - this.since) / 1000 : 0, ms, factor: ms > 0 ? (1000 * this.dt) / ms : 0 };
  }

  // Runs a scene on the server.
  open(order) {
    if (!this.connection) {
      this.connection = new Connection({
        bytes: (b) => this.take(b),
        answer: (a) => this.answer(a),
        line: (s) => {
          if (s === 'lost') this.opening = this.connection.pending ? 1 : 0;
          this.on.line(s);
        },
      });
      this.connection.taken = () => (this.recording ? this.recording.length : 0);
    }
    this.opening++;
    this.connection.open(order);
  }

  answer(a) {
    if (a.say === 'opened') this.run = a.run; // bytes that come until then are of the run before
    if (['opened', 'faults', 'refused'].includes(a.say)) this.opening = Math.max(0, this.opening - 1);
    if (a.say === 'opened' && a.offset === 0) {
      this.recording = new Recording();
      this.bytes = [];
      this.loaded = null;
      this.stopped = '';
      this.asked = 0;
      this.index = 0;
      this.hand = null;
    }
    if (a.say === 'status') [this.stopped, this.paused] = [a.stopped, a.paused && a.order === this.order];
    this.on.answer(a);
  }

  take(bytes) {
    if (!this.recording) return;
    this.since = performance.now();
    this.bytes.push(bytes);
    const news = this.recording.push(bytes);
    // The server keeps back what is more than a window ahead of this.
    this.send({ do: 'took', run: this.run, offset: this.recording.length });
    if (news) this.on.news();
  }

  // Shows a recording that is all there.
  replay(bytes) {
    this.recording = new Recording();
    this.bytes = [bytes];
    this.loaded = null;
    this.recording.push(bytes);
    this.recording.end();
    this.on.news();
  }

  send(order) {
    if (this.connection) this.connection.send(order);
  }

  // Asks the server to simulate up to a time, not more than twice for a frame; `end` is where the run ends.
  until(time, end) {
    if (time > this.asked + 0.5 / (this.recording?.header?.rate || 60) || (time > this.asked + 1e-9 && time >= end)) {
      if (!this.awaited) this.since = performance.now();
      this.asked = time;
      this.paused = false;
      this.send({ do: 'until', time });
    }
  }

  // Stops the server where it is, or at a later time; a frame shows where.
  halt(at = null) {
    this.rest({ do: 'pause', at });
  }

  // One step of the engine, no more.
  step() {
    this.rest({ do: 'step', count: 1 });
  }

  rest(order) {
    this.since = performance.now();
    this.asked = 0;
    this.paused = false;
    this.send({ ...order, order: ++this.order });
  }

  // Prepares for a new list of bodies.
  load(list) {
    const { recording } = this;
    this.bodies = recording.lists[list];
    this.places = new Map(this.bodies.map((b, i) => [b.slot, i]));
    this.renderer.batches.load(this.bodies);
    const first = recording.frames.find((f) => f.list === list);
    this.start = recording.poses(first).slice();
    const masses = this.bodies.map((b) => b.mass).filter((m) => m > 0);
    const g = len(recording.header.gravity) || GRAVITY;
    const mean = masses.reduce((a, b) => a + b, 0) / Math.max(1, masses.length);
    this.force = mean * g || 1;
    this.momentum = mean * Math.sqrt(g * this.size(this.start)) || 1;
    this.length = 0.9 * this.size(this.start);
    this.surfaces = new Map();
    for (const s of recording.header.surfaces || []) {
      this.surfaces.set(s.materials.join('\n'), s);
      this.surfaces.set([...s.materials].reverse().join('\n'), s);
    }
    // Places of bodies that are not fixed and how far they reach, for a quick look at where they all are.
    const reach = (b) => Math.max(0, ...b.shapes.filter((s) => SOLIDS[kindOf(s.solid)]).map((s) => len(s.position) + len(SOLIDS[kindOf(s.solid)].half(s.solid[kindOf(s.solid)]))));
    this.crowd = this.bodies.map((b, i) => ({ i, reach: reach(b) })).filter(({ i }) => this.bodies[i].kind !== 'fixed');
    this.paint.of = null;
    this.loaded = list;
  }

  // Typical size of a moving body [m].
  size(poses) {
    const sizes = this.bodies
      .map((b, i) => (answers(b) ? sub(bounds(b, poses, i)[1], bounds(b, poses, i)[0]) : null))
      .filter((s) => s && Number.isFinite(s[0]))
      .map((s) => Math.max(...s))
      .sort((a, b) => a - b);
    return sizes.length ? sizes[Math.floor(sizes.length / 2)] : 1;
  }

  // The box that holds the moving bodies, and near ones that do not move; null if there is none.
  extent(poses, withFixed) {
    const min = [Infinity, Infinity, Infinity];
    const max = [-Infinity, -Infinity, -Infinity];
    const grow = ([a, b]) => {
      for (let k = 0; k < 3; k++) {
        if (Number.isFinite(a[k]) && Number.isFinite(b[k])) {
          min[k] = Math.min(min[k], a[k]);
          max[k] = Math.max(max[k], b[k]);
        }
      }
    };
    this.bodies.forEach((b, i) => b.kind !== 'fixed' && grow(bounds(b, poses, i)));
    const none = !(min[0] <= max[0]);
    if (withFixed) {
      const reach = none ? Infinity : 1.1 * Math.max(...sub(max, min));
      const [low, high] = none ? [[-Infinity, -Infinity, -Infinity], [Infinity, Infinity, Infinity]] : [min.map((x) => x - reach), max.map((x) => x + reach)];
      this.bodies.forEach((b, i) => {
        if (b.kind !== 'fixed') return;
        const [a, c] = bounds(b, poses, i);
        if (a[0] <= c[0]) grow([a.map((x, k) => Math.max(x, low[k])), c.map((x, k) => Math.min(x, high[k]))].map((v) => v));
      });
      // The floor below, if it is near.
      for (const p of this.floors(poses)) {
        const middle = mul(add(min, max), 0.5);
        const foot = sub(middle, mul(p.normal, dot(p.normal, sub(middle, p.point))));
        if (!none && len(sub(foot, middle)) < 2 * reach) grow([foot, foot]);
      }
    }
    return min[0] <= max[0] ? [min, max] : null;
  }

  floors(poses) {
    return this.renderer.batches.planes.map((p) => {
      const q = rotation(poses, p.body);
      return { point: add(position(poses, p.body), turn(q, p.position)), normal: turn(q, p.normal) };
    });
  }

  // Points the camera at the scene.
  fit() {
    if (!this.ready) return;
    if (this.loaded === null) this.load(this.recording.frames[0].list);
    const { frames } = this.recording;
    const min = [Infinity, Infinity, Infinity];
    const max = [-Infinity, -Infinity, -Infinity];
    // Over the whole recording, as far as there is one.
    const picks = [0, 0.25, 0.5, 0.75, 1].map((p) => frames[Math.floor(p * (frames.length - 1))]).filter((f) => f.list === this.loaded);
    for (const f of this.live ? [frames[0]] : picks) {
      const box = this.extent(this.recording.poses(f), true);
      if (!box) continue;
      for (let k = 0; k < 3; k++) {
        min[k] = Math.min(min[k], box[0][k]);
        max[k] = Math.max(max[k], box[1][k]);
      }
    }
    if (!(min[0] <= max[0])) return;
    this.camera.fit(min, max);
    this.stage = { center: this.camera.target, radius: this.camera.reach, low: min[2] };
    // A body that is alone would soon be out of sight.
    const moving = this.bodies.map((b, i) => i).filter((i) => answers(this.bodies[i]));
    this.follow = moving.length === 1 && this.live ? moving[0] : null;
  }

  // Poses at a time between two frames.
  blend(index, time) {
    const { frames } = this.recording;
    const [a, b] = [frames[index], frames[index + 1]];
    const t = b && b.list === a.list && time > a.time ? Math.min(1, (time - a.time) / (b.time - a.time)) : 0;
    if (t < 1e-3) return this.unpacked(a, b);
    const [p, q] = [this.unpacked(a, b), this.unpacked(b, a)];
    if (!(this.between?.length >= p.length)) this.between = new Float32Array(p.length);
    const out = this.between;
    for (let at = 0; at < (7 * a.packed.length) / 16; at += 7) {
      const s = p[at + 3] * q[at + 3] + p[at + 4] * q[at + 4] + p[at + 5] * q[at + 5] + p[at + 6] * q[at + 6] < 0 ? -t : t;
      for (let k = at; k < at + 3; k++) out[k] = p[k] + t * (q[k] - p[k]);
      let n = 0;
      for (let k = at + 3; k < at + 7; k++) {
        out[k] = (1 - t) * p[k] + s * q[k];
        n += out[k] * out[k];
      }
      n = 1 / Math.sqrt(n || 1);
      for (let k = at + 3; k < at + 7; k++) out[k] *= n;
    }
    return out;
  }

  // The poses of a frame. Two frames are kept unpacked, for the time between them is drawn several times: `beside` is not thrown out.
  unpacked(frame, beside) {
    let kept = this.kept.find((k) => k.frame === frame);
    if (!kept) {
      kept = this.kept.find((k) => k.frame !== beside || !beside);
      kept.frame = frame;
      kept.poses = this.recording.poses(frame, kept.poses);
    }
    return kept.poses;
  }

  // The contacts of the frame that is shown.
  get contacts() {
    return this.ready ? this.recording.contacts(this.index) : [];
  }

  // Colours of all bodies, three numbers each; a new version where they have changed.
  painting(speeds, groups) {
    const { colour } = this.settings;
    const of = colour === 'body' || colour === 'material' ? colour : null;
    if (of === null || this.paint.of !== of) {
      const list = colours(colour, this.bodies, this.start, speeds, groups, this.stage.radius, (i) => this.sleeps(i), (i) => this.locks(i), this.given);
      const rgb = new Float32Array(3 * list.length);
      list.forEach((c, i) => rgb.set(c, 3 * i));
      this.paint = { of, rgb, version: this.paint.version + 1 };
    }
    return this.paint;
  }

  // Colours that the scene gives, by slot: the bodies of the file come first.
  get given() {
    return (this.recording.header.scene?.body || []).map((b) => b.colour);
  }

  // Whether a link is locked in the frame that is shown.
  locks(body) {
    return this.recording.locks(this.recording.frames[this.index], body);
  }

  // Whether a body sleeps in the frame that is shown.
  sleeps(body) {
    return this.recording.sleeps(this.recording.frames[this.index], body);
  }

  // Whether bodies of the scene may sleep, and how many do now.
  get sleep() {
    return { may: this.recording.header.scene?.world?.sleeping === true, count: this.bodies.filter((_, i) => this.sleeps(i)).length };
  }

  // Mean velocities since the frame before.
  motion(index) {
    const { frames } = this.recording;
    const other = index > 0 ? index - 1 : Math.min(1, frames.length - 1);
    const [f, g] = [frames[index], frames[other]];
    const span = f.time - g.time;
    if (!span || f.list !== g.list) return { velocity: () => [0, 0, 0], spin: () => [0, 0, 0] };
    const [now, then] = [this.recording.poses(f), this.recording.poses(g)];
    return {
      velocity: (i) => mul(sub(centerOf(this.bodies, now, i), centerOf(this.bodies, then, i)), 1 / span),
      spin: (i) => {
        const d = quatMul(rotation(now, i), back(rotation(then, i)));
        return mul(d, (d[3] < 0 ? -2 : 2) / span);
      },
    };
  }

  friction(c) {
    const name = (slot, shape) => this.bodies[this.places.get(slot)]?.shapes[shape]?.material;
    return this.surfaces.get([name(c.a, c.shapeA), name(c.b, c.shapeB)].join('\n'))?.[c.sliding ? 'friction_kinetic' : 'friction_static'] ?? 0;
  }

  // Draws the run at a time; `detail`: how much of it, see DETAILS.
  show(time, detail = 0) {
    if (!this.ready) return;
    const { settings, renderer, recording, camera } = this;
    this.index = recording.frameAt(time);
    const frame = recording.frames[this.index];
    if (this.loaded !== frame.list) this.load(frame.list);
    const ratio = (detail ? Math.min(1, devicePixelRatio) : Math.min(2, devicePixelRatio)) * DETAILS[detail].pixels;
    const box = this.canvas.getBoundingClientRect();
    const [w, h] = [Math.max(1, Math.round(box.width * ratio)), Math.max(1, Math.round(box.height * ratio))];
    if (this.canvas.width !== w || this.canvas.height !== h) Object.assign(this.canvas, { width: w, height: h });
    camera.aspect = w / h;
    const poses = (this.poses = this.blend(this.index, time));
    if (this.follow !== null && this.bodies[this.follow]) {
      // Light and ground go along.
      const shift = sub(centerOf(this.bodies, poses, this.follow), camera.target);
      camera.target = add(camera.target, shift);
      this.stage.center = add(this.stage.center, shift);
    }
    const { layers } = settings;
    // Contacts are unpacked only where they are drawn.
    const marked = layers.contacts || layers.forces || layers.normals || layers.cones || this.chosen?.contact;
    const drawn = (this.drawn = !marked ? [] : settings.arrowsOf === 'window' && this.index > 0 ? meanContacts(recording, this.index, settings.window) : this.contacts);
    const moving = settings.colour === 'speed' || settings.colour === 'rest' || layers.velocities || layers.momenta;
    const motion = moving ? this.motion(this.index) : null;
    const speeds = motion ? this.bodies.map((b, i) => (answers(b) ? len(motion.velocity(i)) : 0)) : [];
    speeds.fastest = speeds.reduce((a, b) => Math.max(a, b), 0);
    const groups = settings.colour === 'island' ? islands(this.bodies, this.contacts) : [];
    this.colourKey = key(settings.colour, speeds.fastest, groups, settings.colour === 'sleep' ? this.sleep : null, { count: settings.colour === 'adaptive' ? this.bodies.filter((_, i) => this.locks(i)).length : 0 });
    renderer.batches.place(poses, this.painting(speeds, groups), this.glass(poses));
    const look = {
      layers, force: this.force / settings.arrows, length: this.length, scale: ratio, momentum: this.momentum / settings.arrows,
      arrow: settings.arrowsOf === 'impulse' ? 'impulse' : 'force', chosen: this.chosen?.contact,
      // Marks are no larger than the bodies they are on.
      mark: (p) => Math.max(3, Math.min(9, (0.16 * this.length) / camera.metres(p, box.height))),
    };
    const over = (this.over = new Overlay());
    this.arrowScale = look.length / (look.arrow === 'impulse' ? look.momentum : look.force);
    over.contacts(drawn, look, (c) => this.friction(c), this.arrowScale);
    if (layers.joints) over.joints(recording.trees[frame.list], this.bodies, poses, null, look);
    if (layers.joints || layers.reactions) over.joints(recording.joints(frame), this.bodies, poses, frame.reactions, look);
    if (layers.velocities || layers.momenta || layers.centers || layers.boxes) over.bodies(this.bodies, poses, motion || this.motion(this.index), look, this.stage.radius);
    if (layers.pairs) over.pairs(this.contacts, this.bodies, poses);
    if (layers.impacts) over.impacts(recording.events, frame.time, look);
    if (this.hand) over.hand(add(position(poses, this.hand.body), turn(rotation(poses, this.hand.body), this.hand.at)), this.hand.to, ratio);
    renderer.render(camera, {
      ...this.stage, detail, look: settings.look, planes: this.floors(poses), selected: this.chosen?.body,
      clear: settings.clear, wire: settings.wire, scale: ratio, arrows: over.arrows, marks: over.marks, lines: over.lines,
    });
  }

  // Says which fixed shapes stand between the eye and the moving bodies.
  glass(poses) {
    if (!this.settings.fade || !this.renderer.batches.hasFixed || !this.crowd.length) return () => false;
    const min = [Infinity, Infinity, Infinity];
    const max = [-Infinity, -Infinity, -Infinity];
    for (const { i, reach } of this.crowd) {
      for (let k = 0; k < 3; k++) {
        min[k] = Math.min(min[k], poses[7 * i + k] - reach);
        max[k] = Math.max(max[k], poses[7 * i + k] + reach);
      }
    }
    const [middle, half] = [mul(add(min, max), 0.5), mul(sub(max, min), 0.3)];
    const points = [middle];
    for (let k = 0; k < 8; k++) points.push(add(middle, [k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]]));
    const eye = this.camera.eye;
    return (s, at, q) => Math.max(...s.half) > 0.25 * this.stage.radius && points.filter((p) => blocks(s.half, at, q, eye, p)).length >= 2;
  }

  // What is at a place of the canvas, in CSS pixels: a contact if one is near, else a body.
  pick(x, y, withContacts) {
    const box = this.canvas.getBoundingClientRect();
    if (withContacts && (this.settings.layers.contacts || this.settings.layers.forces)) {
      let best = null;
      for (const c of this.drawn || []) {
        const p = this.camera.pixel(c.point, box.width, box.height);
        const d = p ? Math.hypot(p[0] - x, p[1] - y) : Infinity;
        if (d < 12 && (!best || d < best.d)) best = { d, contact: c.key };
      }
      if (best) return { contact: best.contact };
    }
    const scale = this.canvas.width / box.width;
    return this.renderer.pick(this.camera, x * scale, y * scale);
  }

  // Takes a body by the hand at a world point.
  grab(body, point) {
    const local = turn(back(rotation(this.poses, body)), sub(point, position(this.poses, body)));
    this.hand = { body, at: local, to: point };
    this.pull(point);
  }

  pull(to) {
    if (!this.hand) return;
    this.hand.to = to;
    this.send({ do: 'drag', body: this.bodies[this.hand.body].slot, at: this.hand.at, to, strength: this.settings.strength });
  }

  release() {
    if (!this.hand) return;
    this.hand = null;
    this.send({ do: 'release' });
  }

  // Where the pointer is, on the plane through the held point that faces the eye.
  under(x, y) {
    const box = this.canvas.getBoundingClientRect();
    const ray = this.camera.ray((2 * x) / box.width - 1, 1 - (2 * y) / box.height);
    const n = unit(this.camera.toward);
    const at = this.hand.to;
    const t = dot(n, sub(at, ray.from)) / dot(n, ray.along);
    return add(ray.from, mul(ray.along, t));
  }
}
