// Colours of bodies, and the two palettes of the page.
//
// Reads: bodies and how they move.  Writes: red, green, blue from 0 to 1.
// Called by: draw, page, charts.

const hex = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255);

// Told apart also by people who see fewer colours (after Okabe and Ito), softened.
export const PALETTE = ['#e8743b', '#3d8bd4', '#2fa67c', '#e9b63a', '#b765b3', '#6cc3e6', '#c9545d', '#7c8a3e'].map(hex);
const RAMP = ['#3b6fd4', '#3fa7c4', '#58b98a', '#c9c454', '#ee9a45', '#d9534a'].map(hex);
const GREY = [0.62, 0.64, 0.68];
const PRESCRIBED = [0.5, 0.53, 0.6];
const STILL = [0.45, 0.5, 0.62];
const MOVING = [0.95, 0.6, 0.2];

export function ramp(t) {
  const x = Math.min(1, Math.max(0, t)) * (RAMP.length - 1);
  const i = Math.min(RAMP.length - 2, Math.floor(x));
  return RAMP[i].map((c, k) => c + (RAMP[i + 1][k] - c) * (x - i));
}

export const WAYS = {
  body: 'body',
  material: 'material',
  speed: 'speed',
  island: 'group in contact',
  rest: 'at rest or moving',
  sleep: 'asleep or awake',
  adaptive: 'active or locked',
};

// Below this part of the size of the scene in a second, a body counts as at rest.
const REST = 2e-3;

// Whether impulses move a body: on its own, or with the articulation it is a link of.
export const answers = (body) => body?.kind === 'dynamic' || body?.kind === 'link';

// A colour for every body of the list. `given` has those that the scene gives, by slot.
export function colours(way, bodies, start, speeds, islands, reach, sleeps, locks, given) {
  const plain = bodies.map((b) => (b.kind === 'fixed' ? GREY : b.kind === 'kinematic' ? PRESCRIBED : null));
  const dynamic = bodies.map((b, i) => i).filter((i) => answers(bodies[i]));
  const paint = (colour) => {
    for (const i of dynamic) plain[i] = colour(i);
    return plain;
  };
  switch (way) {
    case 'material': {
      const names = [...new Set(bodies.flatMap((b) => b.shapes.map((s) => s.material)))];
      return paint((i) => PALETTE[names.indexOf(bodies[i].shapes[0]?.material) % PALETTE.length] || GREY);
    }
    case 'speed':
      return paint((i) => ramp(speeds[i] / Math.max(1e-9, speeds.fastest)));
    case 'island':
      return paint((i) => (islands[i] < 0 ? GREY : PALETTE[islands[i] % PALETTE.length]));
    case 'rest':
      return paint((i) => (speeds[i] < REST * reach ? STILL : MOVING));
    case 'sleep':
      return paint((i) => (sleeps(i) ? STILL : MOVING));
    case 'adaptive':
      return paint((i) => (bodies[i].kind !== 'link' ? GREY : locks(i) ? STILL : MOVING));
    default: {
      if (dynamic.length <= 16) {
        dynamic.forEach((i, k) => (plain[i] = PALETTE[k % PALETTE.length]));
      } else {
        // By height at the start, so that layers and their mixing show.
        const order = [...dynamic].sort((i, j) => start[7 * i + 2] - start[7 * j + 2] || i - j);
        order.forEach((i, rank) => (plain[i] = ramp(rank / Math.max(1, order.length - 1))));
      }
      return plain.map((colour, i) => given[bodies[i].slot] || colour);
    }
  }
}

// What the colours mean, in words; empty where they tell bodies apart and no more.
export function key(way, fastest, islands, sleep, lock) {
  const groups = new Set(islands.filter((i) => i >= 0)).size;
  switch (way) {
    case 'speed': return `blue: at rest; red: ${Number((fastest || 0).toPrecision(3))} m/s, the fastest now`;
    case 'island': return `${groups} groups of moving bodies in contact; grey: touches nothing`;
    case 'rest': return 'orange: moves; grey blue: moves by less than 0.2 % of the size of the scene in a second';
    case 'sleep': return sleep.may ? `orange: awake; grey blue: asleep, ${sleep.count} now` : 'nothing sleeps: the scene does not ask for it (sleeping = true under [world])';
    case 'adaptive': return lock.count > 0 ? `orange: the joint of the link moves; grey blue: it is locked, ${lock.count} now; grey: no link` : 'no joint is locked: adaptive = { joints = 16 } under [[articulation]] lets only those move that matter';
    case 'material': return 'the material of the first shape of a body';
    default: return '';
  }
}

// Groups of dynamic bodies that touch, numbered; −1 is alone.
export function islands(bodies, contacts) {
  const place = new Map(bodies.map((b, i) => [b.slot, i]));
  const parent = bodies.map((_, i) => i);
  const root = (i) => {
    while (parent[i] !== i) i = parent[i] = parent[parent[i]];
    return i;
  };
  const touched = new Set();
  for (const c of contacts) {
    const [a, b] = [place.get(c.a), place.get(c.b)];
    for (const i of [a, b]) if (answers(bodies[i])) touched.add(i);
    if (answers(bodies[a]) && answers(bodies[b])) parent[Math.max(root(a), root(b))] = Math.min(root(a), root(b));
  }
  const numbers = new Map();
  return bodies.map((_, i) => {
    if (!touched.has(i)) return -1;
    const r = root(i);
    if (!numbers.has(r)) numbers.set(r, numbers.size);
    return numbers.get(r);
  });
}
