// A flame graph that hangs from the top: boxes are buttons, so keyboard and screen readers reach them.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { percentText } from '../base/format';
import type { FlameNode } from '../api/types';

const HEIGHT = 20;
const NARROWEST = 0.0012; // of the width
const MOST = 1500;

interface Box {
  readonly node: FlameNode;
  readonly path: string;
  readonly parents: readonly FlameNode[];
  readonly x: number;
  readonly width: number;
  readonly depth: number;
}

/** The heaviest first, as they come; small ones that the server has merged are one more, at the end. */
function childrenOf(node: FlameNode): readonly FlameNode[] {
  const children = node.children ?? [];
  if (!node.merged) return children;
  const name = `(${node.merged} small ones)`;
  return [...children, { name, total_ns: node.merged_ns ?? 0 }];
}

/** Boxes of the tree below `root`, widest first where there are too many. */
function layOut(root: FlameNode, parents: readonly FlameNode[]): Box[] {
  const boxes: Box[] = parents.map((node, depth) => ({
    node,
    path: String(depth),
    parents: parents.slice(0, depth),
    x: 0,
    width: 1,
    depth,
  }));
  const whole = root.total_ns;
  let level: Box[] = [{ node: root, path: 'r', parents, x: 0, width: 1, depth: parents.length }];
  while (level.length > 0 && boxes.length < MOST) {
    boxes.push(...level);
    const next: Box[] = [];
    for (const box of level) {
      let x = box.x;
      childrenOf(box.node).forEach((node, i) => {
        const width = whole > 0 ? node.total_ns / whole : 0;
        if (width >= NARROWEST) {
          next.push({
            node,
            path: `${box.path}.${i}`,
            parents: [...box.parents, box.node],
            x,
            width,
            depth: box.depth + 1,
          });
        }
        x += width;
      });
    }
    level = next;
  }
  return boxes;
}

/** Of a difference: what became faster or slower by a share of itself, else the same. */
function changeOf(node: FlameNode, change: number): string {
  if (Math.abs(change) < node.total_ns * 0.02) return 'same';
  return change < 0 ? 'less' : 'more';
}

/** One of eight tints by name, so that equal names look equal. */
function tintOf(name: string): number {
  let hash = 0;
  for (let i = 0; i < name.length; ++i) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return Math.abs(hash) % 8;
}

export function Icicle(props: {
  root: FlameNode;
  label: string;
  /** The number that its widths are, as `data-n` has it. */
  of: string;
  search: string;
  text: (value: number) => string;
  onPick?: (node: FlameNode) => void;
}) {
  const [zoom, setZoom] = useState<readonly FlameNode[]>([]);
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => setZoom([]), [props.root]);
  const top = zoom.at(-1) ?? props.root;
  const boxes = useMemo(() => layOut(top, zoom.slice(0, -1)), [top, zoom]);
  const depth = Math.max(1, ...boxes.map((box) => box.depth + 1));
  const needle = props.search.toLowerCase();
  const hits =
    needle === '' ? null : boxes.filter((box) => box.node.name.toLowerCase().includes(needle));
  const matched = hits
    ? hits.filter((box) => !box.parents.some((p) => p.name.toLowerCase().includes(needle)))
    : [];
  const matchedNs = matched.reduce((sum, box) => sum + box.node.total_ns, 0);
  /** Arrows walk the tree: to the sides among frames of one depth, up and down between depths. */
  const walk = (event: KeyboardEvent): void => {
    const at = boxes.findIndex((box) => box.path === (event.target as HTMLElement).dataset['path']);
    const box = boxes[at];
    if (!box) return;
    const level = (depth: number): Box[] => boxes.filter((each) => each.depth === depth);
    const row = level(box.depth);
    const targets: Readonly<Record<string, Box | undefined>> = {
      ArrowRight: row[row.indexOf(box) + 1],
      ArrowLeft: row[row.indexOf(box) - 1],
      ArrowUp: level(box.depth - 1).find((each) => each.x <= box.x && each.x + each.width > box.x),
      ArrowDown: level(box.depth + 1).find(
        (each) => each.x + 1e-9 >= box.x && each.x < box.x + box.width,
      ),
    };
    const target = targets[event.code];
    if (!event.code.startsWith('Arrow')) return;
    event.preventDefault();
    event.stopPropagation();
    if (target) host.current?.querySelector<HTMLElement>(`[data-path="${target.path}"]`)?.focus();
  };
  const keys = (event: KeyboardEvent): void => {
    walk(event);
    if (event.code === 'Escape' && zoom.length > 0) {
      event.stopPropagation();
      setZoom(zoom.slice(0, -1));
    }
  };
  return (
    <div class="icicle-box" onKeyDown={keys}>
      <p class="soft icicle-status" role="status" data-n={props.of}>
        {hits
          ? `${hits.length} frames match, ${percentText((100 * matchedNs) / Math.max(1, top.total_ns))} of what is shown`
          : `${props.text(top.total_ns)} in ${boxes.length} frames${boxes.length >= MOST ? ' (narrow ones are left out: zoom in)' : ''}. A click zooms in, a click on a frame above zooms out.`}
      </p>
      <div
        class="icicle"
        data-n={props.of}
        ref={host}
        role="group"
        aria-label={props.label}
        style={{ height: `${depth * HEIGHT}px` }}
      >
        {boxes.map((box, i) => {
          const above = box.depth < zoom.length - 1;
          const dim = needle !== '' && !box.node.name.toLowerCase().includes(needle);
          const share = percentText((100 * box.node.total_ns) / Math.max(1, props.root.total_ns));
          const change = box.node.change_ns;
          const changed =
            change === undefined
              ? ''
              : `, ${props.text(Math.abs(change))} ${change < 0 ? 'less' : 'more'}`;
          const said = `${box.node.name}, ${props.text(box.node.total_ns)}, ${share}${changed}`;
          const tint =
            change === undefined ? `tint${tintOf(box.node.name)}` : changeOf(box.node, change);
          return (
            <button
              key={box.path}
              data-path={box.path}
              tabIndex={i === 0 ? 0 : -1}
              class={`frame ${tint}${above ? ' above' : ''}${dim ? ' dim' : ''}`}
              title={said}
              aria-label={said}
              style={{
                left: `${box.x * 100}%`,
                width: `${box.width * 100}%`,
                top: `${box.depth * HEIGHT}px`,
              }}
              onClick={() => {
                setZoom(box.node === props.root ? [] : [...box.parents, box.node]);
                props.onPick?.(box.node);
              }}
            >
              {box.width > 0.02
                ? (tint === 'more' ? '▲ ' : tint === 'less' ? '▼ ' : '') + box.node.name
                : ''}
            </button>
          );
        })}
      </div>
    </div>
  );
}
