// Shapes on the graphics: batches of one mesh each, their places and colours in textures, many drawn as one.
//
// Reads: bodies, poses, colours.  Writes: textures; draws with a program that is in use.
// Called by: draw.

import { SOLIDS, forms, kindOf } from './shapes.js';
import { add, quatMul, turn } from './vec.js';

const SHAPE_FLOATS = 8; // of a shape in a texture: two texels
const SHAPES_ROW = 512; // shapes in a row of a texture
const TOGETHER_VERTICES = 4096; // shapes are drawn as one up to about that many vertices: a single one is costly by itself

export class Batches {
  constructor(gl) {
    this.gl = gl;
    this.all = new Map();
    this.planes = []; // half-spaces
    this.hasFixed = false;
    this.round = 0; // form of the meshes that are drawn
  }

  // Makes batches for a list of bodies: one for each mesh, bodies of the same kind together.
  load(bodies) {
    const { gl } = this;
    for (const b of this.all.values()) {
      for (const f of b.forms) {
        for (const x of [f.vertices, f.triangles, f.edges]) gl.deleteBuffer(x);
        gl.deleteVertexArray(f.vao);
      }
      for (const x of [b.places, b.kinds]) gl.deleteTexture(x);
    }
    this.all.clear();
    this.planes = [];
    const meshes = new Map();
    bodies.forEach((body, i) => {
      for (const shape of body.shapes) {
        const kind = kindOf(shape.solid);
        const solid = shape.solid[kind];
        const rotation = [shape.rotation[1], shape.rotation[2], shape.rotation[3], shape.rotation[0]];
        if (kind === 'half_space') {
          this.planes.push({ body: i, position: shape.position, normal: turn(rotation, solid.normal) });
          continue;
        }
        const known = SOLIDS[kind];
        if (!known) continue; // a kind of a later version
        const name = known.own ? `${kind} ${JSON.stringify(solid)}` : kind;
        if (!meshes.has(name)) meshes.set(name, forms(kind, solid));
        // What does not move may be drawn as glass, shape by shape.
        const layer = body.kind === 'fixed' ? 'fixed' : shape.sensor ? 'sensor' : 'moving';
        const key = `${layer} ${name}`;
        if (!this.all.has(key)) this.all.set(key, { layer, shapes: [], meshes: meshes.get(name) });
        this.all.get(key).shapes.push({
          body: i,
          position: shape.position,
          rotation,
          plain: Math.hypot(...shape.position) === 0 && rotation[3] === 1,
          place: known.place(solid),
          half: known.half(solid),
          pattern: known.pattern,
        });
      }
    });
    this.hasFixed = [...this.all.values()].some((b) => b.layer === 'fixed');
    for (const b of this.all.values()) {
      const n = b.shapes.length;
      b.order = Int32Array.from(b.shapes, (_, i) => i); // solid ones first, glass behind them
      b.solid = b.layer === 'sensor' ? 0 : n;
      b.glass = new Uint8Array(n);
      b.painted = -1; // version of the colours in the texture
      b.size = [2 * Math.min(n, SHAPES_ROW), Math.ceil(n / SHAPES_ROW)];
      b.data = new Float32Array(4 * b.size[0] * b.size[1]);
      b.places = this.texture(b.size);
      b.kinds = this.texture(b.size);
      const all = this.form(b.meshes[0], n);
      b.forms = [all, b.meshes[1] === b.meshes[0] ? all : this.form(b.meshes[1], n)];
    }
  }

  texture([width, height]) {
    const { gl } = this;
    const made = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, made);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, width, height);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    return made;
  }

  // A mesh on the graphics, as often as shapes are drawn as one; `most`: shapes there are.
  form(mesh, most) {
    const { gl } = this;
    const count = mesh.vertices.length / 7;
    const together = Math.max(1, Math.min(most, Math.floor(TOGETHER_VERTICES / count)));
    const f = { vao: gl.createVertexArray(), together, size: together * mesh.triangles.length, lines: together * mesh.edges.length };
    const data = new Float32Array(8 * count * together);
    for (let k = 0; k < together; k++) {
      for (let i = 0; i < count; i++) {
        const at = 8 * (k * count + i);
        for (let j = 0; j < 7; j++) data[at + j] = mesh.vertices[7 * i + j];
        data[at + 7] = k;
      }
    }
    const indices = (list) => {
      const x = gl.createBuffer();
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, x);
      const all = new Uint32Array(list.length * together);
      for (let k = 0, at = 0; k < together; k++) for (let i = 0; i < list.length; i++) all[at++] = list[i] + k * count;
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, all, gl.STATIC_DRAW);
      return x;
    };
    f.triangles = indices(mesh.triangles);
    f.edges = indices(mesh.edges);
    gl.bindVertexArray(f.vao);
    f.vertices = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, f.vertices);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    [3, 3, 1, 1].reduce((at, n, i) => {
      gl.enableVertexAttribArray(i);
      gl.vertexAttribPointer(i, n, gl.FLOAT, false, 32, 4 * at);
      return at + n;
    }, 0);
    gl.bindVertexArray(null);
    return f;
  }

  // Places all shapes. `paint`: three numbers a body, and their version; `glass(shape, position, rotation)` says which fixed ones stand in the way.
  place(poses, paint, glass) {
    const { gl } = this;
    for (const b of this.all.values()) {
      const sorted = b.layer === 'fixed' && this.sort(b, poses, glass);
      if (sorted || b.painted !== paint.version) this.dress(b, paint);
      const { data, shapes, order } = b;
      for (let k = 0, at = 0; k < order.length; k++, at += SHAPE_FLOATS) {
        const s = shapes[order[k]];
        const p = 7 * s.body;
        if (s.plain) {
          for (let i = 0; i < 3; i++) data[at + i] = poses[p + i];
          for (let i = 0; i < 4; i++) data[at + 4 + i] = poses[p + 3 + i];
        } else {
          const q = [poses[p + 3], poses[p + 4], poses[p + 5], poses[p + 6]];
          data.set(add([poses[p], poses[p + 1], poses[p + 2]], turn(q, s.position)), at);
          data.set(quatMul(q, s.rotation), at + 4);
        }
        data[at + 3] = s.body;
      }
      this.upload(b.places, b.size, data, 1);
    }
    gl.activeTexture(gl.TEXTURE0);
  }

  upload(texture, [width, height], data, unit) {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, width, height, gl.RGBA, gl.FLOAT, data);
  }

  // Puts shapes that stand in the way behind the solid ones; true if that has changed.
  sort(b, poses, glass) {
    let changed = false;
    b.shapes.forEach((s, i) => {
      const p = 7 * s.body;
      const q = [poses[p + 3], poses[p + 4], poses[p + 5], poses[p + 6]];
      const clear = Number(glass(s, add([poses[p], poses[p + 1], poses[p + 2]], turn(q, s.position)), quatMul(q, s.rotation)));
      if (clear !== b.glass[i]) [b.glass[i], changed] = [clear, true];
    });
    if (changed) {
      const all = b.shapes.map((_, i) => i);
      const solid = all.filter((i) => !b.glass[i]);
      b.solid = solid.length;
      b.order.set([...solid, ...all.filter((i) => b.glass[i])]);
    }
    return changed;
  }

  // Writes what seldom changes.
  dress(b, paint) {
    const data = new Float32Array(b.data.length);
    b.order.forEach((i, k) => {
      const s = b.shapes[i];
      const at = SHAPE_FLOATS * k;
      data.set(s.place, at);
      for (let c = 0; c < 3; c++) data[at + 4 + c] = paint.rgb[3 * s.body + c];
      data[at + 7] = s.pattern;
    });
    this.upload(b.kinds, b.size, data, 2);
    b.painted = paint.version;
  }

  // Draws by a program that is in use.
  draw(program, which, lines) {
    const { gl } = this;
    for (const b of this.all.values()) {
      for (const clear of [false, true]) {
        const count = clear ? b.shapes.length - b.solid : b.solid;
        if (!count || !which(b, clear)) continue;
        const form = b.forms[this.round];
        [b.places, b.kinds].forEach((texture, i) => {
          gl.activeTexture(gl.TEXTURE1 + i);
          gl.bindTexture(gl.TEXTURE_2D, texture);
        });
        program.set({ uFirst: clear ? b.solid : 0, uCount: count, uTogether: form.together });
        gl.bindVertexArray(form.vao);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, lines ? form.edges : form.triangles);
        gl.drawElementsInstanced(lines ? gl.LINES : gl.TRIANGLES, lines ? form.lines : form.size, gl.UNSIGNED_INT, 0, Math.ceil(count / form.together));
      }
    }
    gl.activeTexture(gl.TEXTURE0);
    gl.bindVertexArray(null);
  }
}
