// How time is coloured: for each bucket and class a letter, a hue of Okabe and Ito, and a hatching, so that no meaning
// hangs on hue alone. Letters and order are those of the command line (src/render/step_parts.cc).

export type Hatch = 'solid' | 'rising' | 'falling' | 'cross' | 'level' | 'dots';

export interface Paint {
  readonly name: string;
  readonly letter: string;
  /** A CSS class in app.css: `fill-${css}`. */
  readonly css: string;
  /** For the canvas, as 0xRRGGBB. */
  readonly colour: number;
  readonly hatch: Hatch;
}

const GREEN = 0x009e73;
const BLUE = 0x0072b2;
const SKY = 0x56b4e9;
const ORANGE = 0xe69f00;
const VERMILLION = 0xd55e00;
const PURPLE = 0xcc79a7;
const YELLOW = 0xf0e442;
const GREY = 0x8a929a;

const paint = (name: string, letter: string, css: string, colour: number, hatch: Hatch): Paint => ({
  name,
  letter,
  css,
  colour,
  hatch,
});

const PAINTS: readonly (readonly [string, Paint])[] = [
  ['compute', paint('compute', '█', 'compute', GREEN, 'solid')],
  ['forward', paint('forward', '█', 'compute', GREEN, 'solid')],
  ['backward', paint('backward', '▓', 'backward', 0x3fb68f, 'level')],
  ['optimizer', paint('optimizer', '▒', 'optimizer', 0x7fcfb3, 'dots')],
  ['other_operators', paint('other operators', '░', 'operators', 0x5fae98, 'rising')],
  ['communication', paint('communication', '▓', 'communication', PURPLE, 'solid')],
  ['memcpy', paint('copies', '▒', 'copies', BLUE, 'solid')],
  ['memset', paint('fills', '▒', 'copies', BLUE, 'solid')],
  ['input', paint('input', 'I', 'input', VERMILLION, 'rising')],
  ['allocation', paint('allocation', 'A', 'allocation', VERMILLION, 'cross')],
  ['warm_up', paint('warm-up', 'U', 'warmup', VERMILLION, 'dots')],
  ['sync', paint('sync', 'S', 'sync', ORANGE, 'falling')],
  ['waiting', paint('waiting', 'w', 'sync', ORANGE, 'falling')],
  ['dispatch', paint('dispatch', 'D', 'dispatch', YELLOW, 'rising')],
  ['python', paint('python', 'P', 'python', YELLOW, 'cross')],
  ['dependency', paint('dependency', 'w', 'dependency', SKY, 'level')],
  ['launch_latency', paint('launch latency', 'l', 'latency', SKY, 'dots')],
  ['device_wait', paint('unexplained', '·', 'unknown', GREY, 'dots')],
  ['host_unknown', paint('host unknown', '·', 'unknown', GREY, 'dots')],
  // Classes of kernels and kinds of slices.
  ['gemm', paint('gemm', 'G', 'compute', GREEN, 'solid')],
  ['conv', paint('conv', 'V', 'compute', 0x46bf9a, 'solid')],
  ['attention', paint('attention', 'T', 'compute', 0x00553d, 'solid')],
  ['normalisation', paint('normalisation', 'N', 'compute', 0x1f8f6b, 'level')],
  ['softmax', paint('softmax', 'X', 'compute', 0x3fb68f, 'rising')],
  ['elementwise', paint('elementwise', 'E', 'compute', 0xa5e1cd, 'solid')],
  ['reduction', paint('reduction', 'R', 'compute', 0x66c2a5, 'falling')],
  ['embedding', paint('embedding', 'B', 'compute', 0x5fae98, 'cross')],
  ['copy_like', paint('copy-like', 'Y', 'copies', SKY, 'level')],
  ['other', paint('other', 'O', 'other', 0x626a66, 'solid')],
  ['operator', paint('operators', 'o', 'host', 0x6f9fd8, 'solid')],
  ['annotation', paint('annotations', 'n', 'annotation', PURPLE, 'solid')],
  ['frame', paint('Python frames', 'p', 'python', 0xd8cf6a, 'solid')],
  ['profiler', paint('profiler', 'h', 'unknown', GREY, 'rising')],
  ['cpu_op', paint('operators', 'o', 'host', 0x6f9fd8, 'solid')],
  ['user_annotation', paint('annotations', 'n', 'annotation', PURPLE, 'solid')],
  ['gpu_user_annotation', paint('annotations', 'n', 'annotation', PURPLE, 'solid')],
  ['runtime', paint('runtime calls', 'r', 'call', ORANGE, 'solid')],
  ['driver', paint('driver calls', 'r', 'call', ORANGE, 'solid')],
  ['kernel', paint('kernels', 'k', 'compute', GREEN, 'solid')],
  ['python_function', paint('Python frames', 'p', 'python', 0xd8cf6a, 'solid')],
  ['overhead', paint('profiler', 'h', 'unknown', GREY, 'rising')],
];

const BY_NAME: ReadonlyMap<string, Paint> = new Map(PAINTS);

const UNKNOWN: Paint = paint('other', '·', 'other', 0x626a66, 'solid');

/** The paint of a bucket, of a kernel's class, or of a slice's kind, by its id. */
export function paintOf(id: string): Paint {
  return BY_NAME.get(id.replaceAll(/[- ]/g, '_')) ?? UNKNOWN;
}

/** Every paint, each at one place; the last is that of ids which are not known. */
export const ALL_PAINTS: readonly Paint[] = [...BY_NAME.values(), UNKNOWN];

export const HATCHES: readonly Hatch[] = ['solid', 'rising', 'falling', 'cross', 'level', 'dots'];

export interface Part {
  readonly id: string;
  readonly paint: Paint;
  readonly ns: number;
}

/** Buckets that have time, in the order of the command line; copies and fills are one part. */
export function partsOf(account: Readonly<Record<string, number>>): Part[] {
  const parts: Part[] = [];
  const taken = new Set<string>();
  for (const [id, known] of PAINTS) {
    const ns = account[id];
    if (ns === undefined || taken.has(id)) continue;
    taken.add(id);
    if (ns <= 0) continue;
    const before = parts.at(-1);
    if (
      before &&
      before.paint.css === known.css &&
      (known.css === 'copies' || known.css === 'unknown')
    ) {
      parts[parts.length - 1] = { ...before, ns: before.ns + ns };
    } else {
      parts.push({ id, paint: known, ns });
    }
  }
  for (const [id, ns] of Object.entries(account)) {
    if (!taken.has(id) && ns > 0) parts.push({ id, paint: { ...UNKNOWN, name: id }, ns });
  }
  return parts;
}
