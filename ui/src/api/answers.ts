// Answers that the page carries itself: a page that was written to a file has no server.
import { inOrder } from './row_order';
import type { TableAnswer } from './types';

export interface CarriedAnswer {
  readonly status: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

type Place = readonly [at: number, bytes: number, status?: number];

interface Index {
  readonly answers: Readonly<Record<string, Place>>;
  readonly left_out: readonly string[];
}

/** A stretch of time that was asked about. */
interface Stretch {
  readonly begin: number;
  readonly end: number;
  readonly question: string;
}

/** What is asked for the stretch in sight: a wider answer has it in it. */
const ALONG_THE_TIME = ['api/accounting', 'api/counters', 'api/critical-path'];

interface Parts {
  readonly path: string;
  readonly options: readonly string[];
}

function partsOf(question: string): Parts {
  const [path = '', query = ''] = question.split('?', 2);
  return { path, options: query === '' ? [] : query.split('&') };
}

const without = (parts: Parts, ...names: string[]): string => {
  const rest = parts.options.filter((option) => !names.includes(option.split('=', 1)[0] ?? ''));
  return rest.length === 0 ? parts.path : `${parts.path}?${rest.join('&')}`;
};

function numberIn(parts: Parts, name: string): number {
  const found = parts.options.find((option) => option.startsWith(`${name}=`));
  return found === undefined ? NaN : Number(found.slice(name.length + 1));
}

export class Carried {
  private readonly index_: Index;
  private readonly stretches_ = new Map<string, Stretch[]>();

  /** Answers, an index in JSON, and where the index begins in eight bytes (src/server/page_file/archive.h). */
  constructor(private readonly data_: ArrayBuffer) {
    const view = new DataView(data_);
    const end = data_.byteLength - 8;
    const begin = view.getUint32(end, true) + view.getUint32(end + 4, true) * 2 ** 32;
    this.index_ = JSON.parse(new TextDecoder().decode(new Uint8Array(data_, begin, end - begin)));
    for (const question of Object.keys(this.index_.answers)) this.addStretch_(question);
  }

  get leftOut(): readonly string[] {
    return this.index_.left_out;
  }

  find(question: string): CarriedAnswer | undefined {
    const parts = partsOf(question);
    return (
      this.exactly_(question) ??
      // A tile in a file has all tracks.
      (parts.path.startsWith('api/tiles/') ? this.exactly_(without(parts, 'tracks')) : undefined) ??
      this.wider_(parts) ??
      this.sorted_(parts)
    );
  }

  private exactly_(question: string): CarriedAnswer | undefined {
    if (!Object.hasOwn(this.index_.answers, question)) return undefined;
    const [at, bytes, status = 200] = this.index_.answers[question] as Place;
    return { status, bytes: new Uint8Array(this.data_.slice(at, at + bytes)) };
  }

  private addStretch_(question: string): void {
    const parts = partsOf(question);
    if (!ALONG_THE_TIME.includes(parts.path)) return;
    const key = without(parts, 'begin', 'end');
    const stretch = { begin: numberIn(parts, 'begin'), end: numberIn(parts, 'end'), question };
    this.stretches_.set(key, [...(this.stretches_.get(key) ?? []), stretch]);
  }

  /** The narrowest answer that has the stretch in it, else the widest there is. */
  private wider_(parts: Parts): CarriedAnswer | undefined {
    const all = this.stretches_.get(without(parts, 'begin', 'end'));
    if (!all) return undefined;
    const begin = numberIn(parts, 'begin');
    const end = numberIn(parts, 'end');
    const byLength = [...all].sort((a, b) => a.end - a.begin - (b.end - b.begin));
    const found = byLength.find((each) => each.begin <= begin && each.end >= end);
    return this.exactly_((found ?? byLength.at(-1))?.question ?? '');
  }

  /** A table that is here as a whole, in another order. */
  private sorted_(parts: Parts): CarriedAnswer | undefined {
    const sort = parts.options.find((option) => option.startsWith('sort='));
    if (sort === undefined) return undefined;
    const found = this.exactly_(without(parts, 'sort'));
    if (found?.status !== 200) return undefined;
    const table = JSON.parse(new TextDecoder().decode(found.bytes)) as TableAnswer;
    if ((table.rows_total ?? table.rows.length) > table.rows.length) return undefined;
    const rows = inOrder(table, decodeURIComponent(sort.slice('sort='.length)));
    return { status: 200, bytes: new TextEncoder().encode(JSON.stringify({ ...table, rows })) };
  }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim());
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) out[i] = binary.charCodeAt(i);
  return out;
}

/** Of base64 of gzip. */
export async function unpackCarried(text: string): Promise<Carried> {
  const packed = new Blob([fromBase64(text)]).stream();
  const plain = packed.pipeThrough(new DecompressionStream('gzip'));
  return new Carried(await new Response(plain).arrayBuffer());
}
