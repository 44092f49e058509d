// The canvas as a table: slices in sight, the longest first, for those who do not see the canvas.
import { useEffect, useState } from 'preact/hooks';
import type { Column } from '../../api/types';
import { Drawer } from '../../components/drawer';
import { DataTable } from '../../components/data_table';
import type { Engine } from '../../components/timeline/engine';
import { Soft } from '../../components/plain';

const MOST = 200;
const COLUMNS: readonly Column[] = [
  { name: 'name', kind: 'name', unit: '', doc: 'Of the slice.' },
  {
    name: 'duration_ns',
    kind: 'duration_ns',
    unit: 'ns',
    doc: 'How long it takes, as far as the picture is exact.',
  },
  { name: 'begin_ns', kind: 'time_ns', unit: 'ns', doc: 'From the start of the recording.' },
  { name: 'track', kind: 'text', unit: '', doc: 'Where it runs.' },
];

export function SightTable(props: {
  engine: Engine;
  onPick: (slice: number) => void;
  onEnd: () => void;
}) {
  const { engine } = props;
  const read = () =>
    engine.inSight(MOST).map(({ box, row }) => ({
      name: engine.names.of(box.name) ?? '…',
      duration_ns: box.end - box.begin,
      begin_ns: box.begin,
      track: row.track.title,
      slice: box.slice,
    }));
  const [rows, setRows] = useState(read);
  useEffect(() => {
    let timer = 0;
    engine.onScene = () => {
      clearTimeout(timer);
      timer = setTimeout(() => setRows(read()), 250) as unknown as number;
    };
    return () => {
      clearTimeout(timer);
      engine.onScene = () => {};
    };
  }, [engine]);
  return (
    <Drawer label="Slices in sight" title="Slices in sight" onEnd={props.onEnd}>
      <Soft>
        Up to {MOST} that are wide enough to stand alone, the longest first. Shorter ones appear
        when you zoom in.
      </Soft>
      <DataTable
        of="timeline"
        label="Slices in sight"
        columns={COLUMNS}
        rows={rows}
        rowTitle="Select"
        onRow={(row) => props.onPick(Number(row['slice']))}
      />
    </Drawer>
  );
}
