// The palette for people with protanopia, deuteranopia and tritanopia: what may lie side by side differs by its
// colour, or else by its hatching.
//
// Vision is simulated on linear RGB with the matrices of Machado, Oliveira and Fernandes, "A Physiologically-based Model
// for Simulation of Color Vision Deficiency", IEEE TVCG 15 (6), 2009, table of severity 1.0. Differences are CIEDE2000
// (Sharma, Wu and Dalal, Color Research and Application 30 (1), 2005), of sRGB with its white D65. About 2.3 can just be
// noticed side by side (of CIE76, Mahy et al. 1994); LEAST is four times as much, for thin bars.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFileSync } from 'node:fs';
import { ALL_PAINTS, paintOf, type Paint } from './palette';

const LEAST = 9;

type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

const VISIONS: Readonly<Record<string, Matrix>> = {
  'all cones': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const RGB_TO_XYZ: Matrix = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
];
const WHITE: Triple = [0.95047, 1, 1.08883];

const times = (matrix: Matrix, [x, y, z]: Triple): Triple => {
  const row = ([a, b, c]: Triple): number => a * x + b * y + c * z;
  return [row(matrix[0]), row(matrix[1]), row(matrix[2])];
};

function linear(colour: number): Triple {
  const part = (shift: number): number => {
    const value = ((colour >> shift) & 255) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(16), part(8), part(0)];
}

function labOf(rgb: Triple): Triple {
  const xyz = times(RGB_TO_XYZ, rgb);
  const f = (t: number): number =>
    t > 216 / 24389 ? Math.cbrt(t) : (24389 / 27) * (t / 116) + 16 / 116;
  const [x, y, z] = [f(xyz[0] / WHITE[0]), f(xyz[1] / WHITE[1]), f(xyz[2] / WHITE[2])];
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const seen = (colour: number, vision: Matrix): Triple => {
  const [r, g, b] = times(vision, linear(colour)).map((value) => Math.min(1, Math.max(0, value)));
  return labOf([r ?? 0, g ?? 0, b ?? 0]);
};

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

function ciede2000([l1, a1, b1]: Triple, [l2, a2, b2]: Triple): number {
  const meanC = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(meanC ** 7 / (meanC ** 7 + 25 ** 7)));
  const [p1, p2] = [a1 * (1 + g), a2 * (1 + g)];
  const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)];
  const hue = (a: number, b: number): number =>
    a === 0 && b === 0 ? 0 : ((Math.atan2(b, a) * 180) / Math.PI + 360) % 360;
  const [h1, h2] = [hue(p1, b1), hue(p2, b2)];
  const grey = c1 * c2 === 0;
  let turn = grey ? 0 : h2 - h1;
  if (turn > 180) turn -= 360;
  else if (turn < -180) turn += 360;
  let h = h1 + h2;
  if (!grey && Math.abs(h1 - h2) > 180) h += h < 360 ? 360 : -360;
  if (!grey) h /= 2;
  const l = (l1 + l2) / 2;
  const c = (c1 + c2) / 2;
  const t =
    1 -
    0.17 * Math.cos(radians(h - 30)) +
    0.24 * Math.cos(radians(2 * h)) +
    0.32 * Math.cos(radians(3 * h + 6)) -
    0.2 * Math.cos(radians(4 * h - 63));
  const sl = 1 + (0.015 * (l - 50) ** 2) / Math.sqrt(20 + (l - 50) ** 2);
  const sc = 1 + 0.045 * c;
  const sh = 1 + 0.015 * c * t;
  const rt =
    -2 *
    Math.sqrt(c ** 7 / (c ** 7 + 25 ** 7)) *
    Math.sin(radians(60 * Math.exp(-(((h - 275) / 25) ** 2))));
  const dl = (l2 - l1) / sl;
  const dc = (c2 - c1) / sc;
  const dh = (2 * Math.sqrt(c1 * c2) * Math.sin(radians(turn / 2))) / sh;
  return Math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rt * dc * dh);
}

/** What may lie side by side: in a bar, in a lane of the accounting, in a stream, in a thread. */
const BESIDE: Readonly<Record<string, string>> = {
  device:
    'compute communication memcpy input allocation warm_up sync dispatch python dependency launch_latency device_wait',
  host: 'input forward backward optimizer communication waiting other_operators python warm_up',
  stream:
    'gemm conv attention normalisation softmax elementwise reduction embedding optimizer copy_like other communication memcpy',
  thread: 'cpu_op user_annotation runtime python_function overhead',
};

const apart = (a: Paint, b: Paint, vision: Matrix): number =>
  ciede2000(seen(a.colour, vision), seen(b.colour, vision));

test('differences are those that Sharma and others published', () => {
  const published: readonly (readonly [Triple, Triple, number])[] = [
    [[50, 2.6772, -79.7751], [50, 0, -82.7485], 2.0425],
    [[50, -1, 2], [50, 0, 0], 2.3669],
    [[50, 2.49, -0.001], [50, -2.49, 0.0011], 7.2195],
    [[50, 2.5, 0], [73, 25, -18], 27.1492],
    [[22.7233, 20.0904, -46.694], [23.0331, 14.973, -42.5619], 2.0373],
    [[2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514], 0.9082],
  ];
  for (const [a, b, expected] of published)
    assert.ok(Math.abs(ciede2000(a, b) - expected) < 5e-5, `${ciede2000(a, b)} ${expected}`);
});

test('rows of the matrices keep grey grey', () => {
  for (const matrix of Object.values(VISIONS))
    for (const row of matrix) assert.ok(Math.abs(row[0] + row[1] + row[2] - 1) < 1e-5);
});

for (const [vision, matrix] of Object.entries(VISIONS)) {
  for (const [where, ids] of Object.entries(BESIDE)) {
    test(`what lies side by side in a ${where} differs, with ${vision}`, () => {
      const paints = ids.split(' ').map(paintOf);
      const alike: string[] = [];
      paints.forEach((one, i) => {
        for (const other of paints.slice(i + 1)) {
          const difference = apart(one, other, matrix);
          if (difference < LEAST && one.hatch === other.hatch)
            alike.push(`${one.name} and ${other.name}: ${difference.toFixed(1)}`);
        }
      });
      assert.deepEqual(alike, []);
    });
  }
}

/** Grounds of the light and the dark theme, as the style sheet has them. */
function papers(): number[] {
  const style = readFileSync('src/app/app.css', 'utf8');
  const found = [...style.matchAll(/--paper: #([0-9a-f]{6});/g)].map((match) =>
    parseInt(match[1] ?? '', 16),
  );
  return [...new Set(found)];
}

test('no colour is lost on the ground of either theme', () => {
  assert.equal(papers().length, 2);
  for (const [vision, matrix] of Object.entries(VISIONS)) {
    for (const paper of papers()) {
      for (const paint of ALL_PAINTS) {
        const difference = ciede2000(seen(paint.colour, matrix), seen(paper, matrix));
        assert.ok(
          difference >= LEAST,
          `${paint.name} on #${paper.toString(16)}, ${vision}: ${difference}`,
        );
      }
    }
  }
});
