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

/** A paint by its id, which is its name, too, unless it has another. */
const paint = (
  id: string,
  letter: string,
  css: string,
  colour: number,
  hatch: Hatch = 'solid',
  name = id.replaceAll('_', ' '),
): readonly [id: string, paint: Paint] => [id, { name, letter, css, colour, hatch }];

/** A paint that has further ids. */
const also = (
  ids: readonly string[],
  ...of: Parameters<typeof paint>
): ReturnType<typeof paint>[] => {
  const [id, made] = paint(...of);
  return [id, ...ids].map((each) => [each, made] as const);
};

const PAINTS = [
  paint('compute', '█', 'compute', GREEN),
  paint('forward', '█', 'compute', GREEN),
  paint('backward', '▓', 'backward', 0x3fb68f, 'level'),
  paint('optimizer', '▒', 'optimizer', 0x7fcfb3, 'dots'),
  paint('other_operators', '░', 'operators', 0x5fae98, 'rising'),
  paint('communication', '▓', 'communication', PURPLE),
  paint('memcpy', '▒', 'copies', BLUE, 'solid', 'copies'),
  paint('memset', '▒', 'copies', BLUE, 'solid', 'fills'),
  paint('input', 'I', 'input', VERMILLION, 'rising'),
  paint('allocation', 'A', 'allocation', VERMILLION, 'cross'),
  paint('warm_up', 'U', 'warmup', VERMILLION, 'dots', 'warm-up'),
  paint('sync', 'S', 'sync', ORANGE, 'falling'),
  paint('waiting', 'w', 'sync', ORANGE, 'falling'),
  paint('dispatch', 'D', 'dispatch', YELLOW, 'rising'),
  paint('python', 'P', 'python', YELLOW, 'cross'),
  paint('dependency', 'w', 'dependency', SKY, 'level'),
  paint('launch_latency', 'l', 'latency', SKY, 'dots'),
  paint('device_wait', '·', 'unknown', GREY, 'dots', 'unexplained'),
  paint('host_unknown', '·', 'unknown', GREY, 'dots'),
  // Classes of kernels and kinds of slices.
  paint('gemm', 'G', 'compute', GREEN),
  paint('conv', 'V', 'compute', 0x46bf9a),
  paint('attention', 'T', 'compute', 0x00553d),
  paint('normalisation', 'N', 'compute', 0x1f8f6b, 'level'),
  paint('softmax', 'X', 'compute', 0x3fb68f, 'rising'),
  paint('elementwise', 'E', 'compute', 0xa5e1cd),
  paint('reduction', 'R', 'compute', 0x66c2a5, 'falling'),
  paint('embedding', 'B', 'compute', 0x5fae98, 'cross'),
  paint('copy_like', 'Y', 'copies', SKY, 'level', 'copy-like'),
  paint('other', 'O', 'other', 0x626a66),
  ...also(['cpu_op'], 'operator', 'o', 'host', 0x6f9fd8, 'solid', 'operators'),
  ...also(
    ['user_annotation', 'gpu_user_annotation'],
    'annotation',
    'n',
    'annotation',
    PURPLE,
    'solid',
    'annotations',
  ),
  ...also(['python_function'], 'frame', 'p', 'python', 0xd8cf6a, 'solid', 'Python frames'),
  ...also(['overhead'], 'profiler', 'h', 'unknown', GREY, 'rising'),
  paint('runtime', 'r', 'call', ORANGE, 'solid', 'runtime calls'),
  paint('driver', 'r', 'call', ORANGE, 'solid', 'driver calls'),
  paint('kernel', 'k', 'compute', GREEN, 'solid', 'kernels'),
];

const BY_NAME: ReadonlyMap<string, Paint> = new Map(PAINTS);

const [, UNKNOWN] = paint('other', '·', 'other', 0x626a66);

/** The paint of a bucket, of a kernel's class, or of a slice's kind, by its id. */
export function paintOf(id: string): Paint {
  return BY_NAME.get(id.replaceAll(/[- ]/g, '_')) ?? UNKNOWN;
}

/** Every paint, each at one place; the last is that of ids which are not known. */
export const ALL_PAINTS: readonly Paint[] = [...BY_NAME.values(), UNKNOWN];

/** The same as greys, about as bright: of what a damaged capture harms. */
export const greyed = (paints: readonly Paint[]): readonly Paint[] =>
  paints.map(({ colour, ...rest }) => ({
    ...rest,
    colour:
      0x010101 *
      Math.round(0.3 * (colour >> 16) + 0.59 * ((colour >> 8) & 255) + 0.11 * (colour & 255)),
  }));

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
