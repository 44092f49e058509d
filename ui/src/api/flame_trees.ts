// Trees of calls: of allocations, of folded stacks, and of two recordings.
import type { FlameNode, TableAnswer } from './types';

/** As the server answers with `weight=memory`. */
export interface MemoryNode {
  readonly name: string;
  readonly total_bytes: number;
  readonly self_bytes?: number;
  readonly merged?: number;
  readonly merged_bytes?: number;
  readonly children?: readonly MemoryNode[];
}

/** Bytes take the place of time. What allocates nothing is left out. */
export function ofMemory(node: MemoryNode): FlameNode {
  const children = node.children ?? [];
  return {
    name: node.name,
    total_ns: node.total_bytes,
    self_ns: node.self_bytes ?? 0,
    ...(node.merged_bytes ? { merged: node.merged ?? 0, merged_ns: node.merged_bytes } : {}),
    children: children.filter((child) => child.total_bytes > 0).map(ofMemory),
  };
}

interface Growing {
  readonly name: string;
  total_ns: number;
  self_ns: number;
  readonly children: Map<string, Growing>;
}

const growing = (name: string): Growing => ({
  name,
  total_ns: 0,
  self_ns: 0,
  children: new Map(),
});

const grown = (node: Growing): FlameNode => ({
  name: node.name,
  total_ns: node.total_ns,
  self_ns: node.self_ns,
  children: [...node.children.values()].map(grown).sort((a, b) => b.total_ns - a.total_ns),
});

/** True of stacks of a file without times: they are as wide as its weights, which stand under `calls`. */
export function areWeights(table: TableAnswer): boolean {
  return table.rows.length > 0 && table.rows.every((row) => row['total_ns'] === null);
}

/** Of a table of stacks: outermost first, joined by ";", each with the time, or weight, of exactly that stack. */
export function ofStacks(table: TableAnswer): FlameNode {
  const root = growing('all');
  const width = areWeights(table) ? 'calls' : 'total_ns';
  for (const row of table.rows) {
    const time = Number(row[width] ?? 0);
    let node = root;
    node.total_ns += time;
    for (const name of String(row['stack'] ?? '').split(';')) {
      let child = node.children.get(name);
      if (!child) {
        child = growing(name);
        node.children.set(name, child);
      }
      child.total_ns += time;
      node = child;
    }
    node.self_ns += time;
  }
  return grown(root);
}

/** Steps of a recording are one call. */
const nameOf = (node: FlameNode): string =>
  node.name.replace(/^ProfilerStep#\d+$/, 'ProfilerStep*');

const byName = (nodes: readonly FlameNode[]): Map<string, FlameNode[]> => {
  const found = new Map<string, FlameNode[]>();
  for (const child of nodes.flatMap((node) => node.children ?? []))
    found.set(nameOf(child), [...(found.get(nameOf(child)) ?? []), child]);
  return found;
};

const sum = (nodes: readonly FlameNode[]): number =>
  nodes.reduce((total, node) => total + node.total_ns, 0);

/** What the server has summed up as too small to be told apart. */
const merged = (nodes: readonly FlameNode[]): number =>
  nodes.reduce((total, node) => total + (node.merged_ns ?? 0), 0);

/**
 * The calls of both, each tree divided by its number of steps. Widths are those of `wide`; `change_ns` is what the new one
 * has more. What only the other has is there, too, without width; what only one of them has and the other may have among its
 * small ones is left out.
 */
export function difference(
  base: readonly FlameNode[],
  next: readonly FlameNode[],
  steps: readonly [base: number, next: number],
  wide: 'base' | 'new',
): FlameNode {
  const before = sum(base) / steps[0];
  const after = sum(next) / steps[1];
  const [old, fresh] = [byName(base), byName(next)];
  const small = [merged(base) / steps[0], merged(next) / steps[1]] as const;
  const told = (name: string): boolean => {
    const [was, is] = [old.get(name), fresh.get(name)];
    if (was && is) return true;
    return was ? sum(was) / steps[0] > small[1] : sum(is ?? []) / steps[1] > small[0];
  };
  const children = [...new Set([...fresh.keys(), ...old.keys()])]
    .filter(told)
    .map((name) => difference(old.get(name) ?? [], fresh.get(name) ?? [], steps, wide));
  const first = next[0] ?? base[0];
  return {
    name: first ? nameOf(first) : '',
    total_ns: wide === 'new' ? after : before,
    change_ns: after - before,
    children: children.sort((a, b) => b.total_ns - a.total_ns),
  };
}
