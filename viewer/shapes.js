// Solids as triangles: one unit mesh for each kind, scaled and placed by the instance. A new kind of solid is one entry here.
//
// Reads: solids of a recording.  Writes: vertices (position, normal, end of a capsule) and edges.
// Called by: draw.

// Corners around and rings from pole to pole of what is round, by how much of it is drawn: all, or fewer.
const FORMS = [{ round: 40, rings: 20 }, { round: 12, rings: 8 }];

class Mesh {
  constructor() {
    this.vertices = []; // x y z, nx ny nz, end
    this.triangles = [];
    this.edges = [];
  }

  vertex(p, n, end = 0) {
    this.vertices.push(...p, ...n, end);
    return this.vertices.length / 7 - 1;
  }

  quad(a, b, c, d) {
    this.triangles.push(a, b, c, a, c, d);
  }
}

const circle = (k, round) => {
  const a = (2 * Math.PI * k) / round;
  return [Math.cos(a), Math.sin(a)];
};

function box() {
  const m = new Mesh();
  for (let axis = 0; axis < 3; axis++) {
    for (const side of [-1, 1]) {
      const at = (u, v) => {
        const p = [0, 0, 0];
        p[axis] = side;
        p[(axis + 1) % 3] = u * side;
        p[(axis + 2) % 3] = v;
        const n = [0, 0, 0];
        n[axis] = side;
        return m.vertex(p, n);
      };
      const corners = [at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)];
      m.quad(...corners);
      corners.forEach((c, i) => m.edges.push(c, corners[(i + 1) % 4]));
    }
  }
  return m;
}

// A ball, or with `split` the two halves of a capsule and the wall between them.
function ball(split, { round, rings }) {
  const m = new Mesh();
  const rows = [];
  for (let i = 0; i <= rings; i++) {
    const angle = (Math.PI * i) / rings;
    const halves = split && i === rings / 2 ? [1, -1] : [split ? (i < rings / 2 ? 1 : -1) : 0];
    for (const end of halves) {
      const row = [];
      for (let k = 0; k <= round; k++) {
        const [c, s] = circle(k, round);
        const p = [Math.sin(angle) * c, Math.sin(angle) * s, Math.cos(angle)];
        row.push(m.vertex(p, p, end));
      }
      rows.push(row);
    }
  }
  rows.forEach((row, i) => {
    for (let k = 0; k < round; k++) {
      if (i + 1 < rows.length) m.quad(row[k], rows[i + 1][k], rows[i + 1][k + 1], row[k + 1]);
      if (i % (rings / 4) === 0) m.edges.push(row[k], row[k + 1]);
      if (k % (round / 4) === 0 && i + 1 < rows.length) m.edges.push(row[k], rows[i + 1][k]);
    }
  });
  return m;
}

function cap(m, z, round) {
  const center = m.vertex([0, 0, z], [0, 0, Math.sign(z)]);
  const rim = [];
  for (let k = 0; k <= round; k++) rim.push(m.vertex([...circle(k, round), z], [0, 0, Math.sign(z)]));
  for (let k = 0; k < round; k++) {
    if (z > 0) m.triangles.push(center, rim[k], rim[k + 1]);
    else m.triangles.push(center, rim[k + 1], rim[k]);
    m.edges.push(rim[k], rim[k + 1]);
  }
}

function cylinder({ round }) {
  const m = new Mesh();
  const low = [];
  const high = [];
  for (let k = 0; k <= round; k++) {
    const [c, s] = circle(k, round);
    low.push(m.vertex([c, s, -1], [c, s, 0]));
    high.push(m.vertex([c, s, 1], [c, s, 0]));
  }
  for (let k = 0; k < round; k++) {
    m.quad(low[k], low[k + 1], high[k + 1], high[k]);
    if (k % (round >> 3) === 0) m.edges.push(low[k], high[k]);
  }
  cap(m, 1, round);
  cap(m, -1, round);
  return m;
}

function cone({ round }) {
  const m = new Mesh();
  for (let k = 0; k < round; k++) {
    const [c0, s0] = circle(k, round);
    const [c1, s1] = circle(k + 1, round);
    const [cm, sm] = circle(k + 0.5, round);
    // Normals of a cone of radius 1 and height 2; the scale of an instance corrects them.
    const low0 = m.vertex([c0, s0, -1], [c0, s0, 0.5]);
    const low1 = m.vertex([c1, s1, -1], [c1, s1, 0.5]);
    const apex = m.vertex([0, 0, 1], [cm, sm, 0.5]);
    m.triangles.push(low0, low1, apex);
    if (k % (round >> 3) === 0) m.edges.push(low0, apex);
  }
  cap(m, -1, round);
  return m;
}

// Flat faces; edges between faces that lie in one plane are left out.
function polyhedron(points, triangles) {
  const m = new Mesh();
  const seen = new Map();
  for (const t of triangles) {
    const [a, b, c] = t.map((i) => points[i]);
    const u = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    const v = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
    let n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const l = Math.hypot(...n) || 1;
    n = n.map((x) => x / l);
    const ids = [a, b, c].map((p) => m.vertex(p, n));
    m.triangles.push(...ids);
    for (let k = 0; k < 3; k++) {
      const pair = [t[k], t[(k + 1) % 3]].sort((x, y) => x - y).join();
      const other = seen.get(pair);
      if (!other) seen.set(pair, { n, edge: [ids[k], ids[(k + 1) % 3]] });
      else if (n[0] * other.n[0] + n[1] * other.n[1] + n[2] * other.n[2] < 0.999) m.edges.push(...other.edge);
    }
  }
  return m;
}

// Patterns of the body shader.
export const PLAIN = 0;
export const BOXED = 1;
export const OCTANTS = 2;
export const STRIPES = 3;

// By kind of solid: the mesh, its scale (and the half length of a capsule), half the size of its box, and its pattern.
export const SOLIDS = {
  box: { mesh: box, place: (s) => [...s.size.map((x) => x / 2), 0], half: (s) => s.size.map((x) => x / 2), pattern: BOXED },
  sphere: { round: true, mesh: (s, form) => ball(false, form), place: (s) => [s.radius, s.radius, s.radius, 0], half: (s) => [s.radius, s.radius, s.radius], pattern: OCTANTS },
  capsule: {
    round: true,
    mesh: (s, form) => ball(true, form),
    place: (s) => [s.radius, s.radius, s.radius, s.length / 2],
    half: (s) => [s.radius, s.radius, s.radius + s.length / 2],
    pattern: STRIPES,
  },
  cylinder: { round: true, mesh: (s, form) => cylinder(form), place: (s) => [s.radius, s.radius, s.length / 2, 0], half: (s) => [s.radius, s.radius, s.length / 2], pattern: STRIPES },
  cone: { round: true, mesh: (s, form) => cone(form), place: (s) => [s.radius, s.radius, s.height / 2, 0], half: (s) => [s.radius, s.radius, s.height / 2], pattern: STRIPES },
  hull: {
    mesh: (s) => polyhedron(s.points, s.triangles),
    own: true, // every solid has a mesh of its own
    place: () => [1, 1, 1, 0],
    half: (s) => [0, 1, 2].map((k) => Math.max(...s.points.map((p) => Math.abs(p[k])))),
    pattern: PLAIN,
  },
};
// A mesh is drawn like a hull.
SOLIDS.mesh = SOLIDS.hull;

// The mesh of a solid: as round as it can be, and with fewer corners.
export function forms(kind, solid) {
  const { mesh, round } = SOLIDS[kind];
  const all = mesh(solid, FORMS[0]);
  return [all, round ? mesh(solid, FORMS[1]) : all];
}

export const kindOf = (solid) => Object.keys(solid)[0];
