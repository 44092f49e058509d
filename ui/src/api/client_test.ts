// A page in a file answers from what it carries, and says what it does not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { unpackCarried } from './answers';
import { TraceClient } from './client';

/** As src/server/page_file/archive.cc writes it. */
function packed(
  answers: Readonly<Record<string, unknown>>,
  statuses: Readonly<Record<string, number>> = {},
): string {
  const pieces: Buffer[] = [];
  const index: Record<string, number[]> = {};
  let at = 0;
  for (const [question, answer] of Object.entries(answers)) {
    const bytes = Buffer.isBuffer(answer) ? answer : Buffer.from(JSON.stringify(answer));
    const status = statuses[question];
    index[question] = [at, bytes.length, ...(status === undefined ? [] : [status])];
    at += bytes.length;
    pieces.push(bytes);
  }
  pieces.push(Buffer.from(JSON.stringify({ answers: index, left_out: ['fine tiles'] })));
  const place = Buffer.alloc(8);
  place.writeBigUInt64LE(BigInt(at));
  return gzipSync(Buffer.concat([...pieces, place])).toString('base64');
}

const clientOf = async (...from: Parameters<typeof packed>): Promise<TraceClient> =>
  new TraceClient(await unpackCarried(`\n${packed(...from)}\n`));

test('a carried page answers without a server', async () => {
  const tile = Buffer.from('FTT1\0\0\0\0', 'latin1');
  const client = await clientOf({
    'api/session': { state: 'ready', input: '<b>ä' },
    'api/tiles/d?level=3&tile=0': tile,
    'api/whatif?scale=aten%3A%3Amm%3D0.5': { steps: 3 },
  });
  assert.equal(client.connection, 'carried');
  assert.deepEqual(client.leftOut, ['fine tiles']);
  const session = await client.json<{ input: string }>('api/session');
  assert.ok(session.ok && session.value.input === '<b>ä');
  const answer = await client.binary('api/tiles/d?level=3&tile=0&tracks=1%2C2');
  assert.ok(answer.ok);
  assert.deepEqual(Buffer.from(answer.ok ? answer.value : new ArrayBuffer(0)), tile);
  assert.ok((await client.json('api/whatif?scale=aten%3A%3Amm%3D0.5')).ok);
});

test('what a file does not hold is an error with the reason', async () => {
  const client = await clientOf({ 'api/session': {} });
  for (const question of [
    'api/reports/ops',
    'constructor',
    'api/tiles/d?level=1&tile=0&tracks=1',
  ]) {
    const answer = await client.json(question);
    assert.ok(!answer.ok && answer.error.code === 'left_out');
    assert.match(answer.ok ? '' : answer.error.message, /fathom view/);
  }
});

test('an error that the server answered is answered by the file', async () => {
  const error = { code: 'invalid_argument', message: 'no such phase' };
  const client = await clientOf({ 'api/whatif?scale=a': { error } }, { 'api/whatif?scale=a': 400 });
  assert.deepEqual(await client.json('api/whatif?scale=a'), { ok: false, error });
});

test('of a stretch in sight the narrowest answer around it counts', async () => {
  const client = await clientOf({
    'api/accounting?begin=0&device=0&end=1000': { merged: true },
    'api/accounting?begin=100&device=0&end=300': { merged: false },
    'api/accounting?begin=0&device=1&end=1000': { merged: null },
  });
  const merged = async (begin: number, end: number, device: number): Promise<unknown> => {
    const question = `api/accounting?begin=${begin}&device=${device}&end=${end}`;
    const answer = await client.json<{ merged: unknown }>(question);
    return answer.ok ? answer.value.merged : answer.error.code;
  };
  assert.equal(await merged(120, 280, 0), false);
  assert.equal(await merged(90, 280, 0), true);
  assert.equal(await merged(0, 2000, 0), true);
  assert.equal(await merged(120, 280, 1), null);
  assert.equal(await merged(120, 280, 2), 'left_out');
});

test('a whole table is sorted as the command line does, one that was cut is not', async () => {
  const columns = [
    { name: 'name', kind: 'text', unit: '', doc: '' },
    { name: 'calls', kind: 'count', unit: '', doc: '' },
  ];
  const rows = [
    { name: 'b', calls: 2 },
    { name: 'c', calls: null },
    { name: 'a', calls: 2 },
    { name: 'd', calls: 10 },
  ];
  const table = { report: 'ops', columns, rows, rows_total: 4, notes: [] };
  const client = await clientOf({
    'api/reports/ops?limit=5000': table,
    'api/reports/kernels?limit=5000': { ...table, rows_total: 5 },
  });
  const names = async (sort: string): Promise<unknown> => {
    const answer = await client.json<typeof table>(`api/reports/ops?limit=5000&sort=${sort}`);
    return answer.ok ? answer.value.rows.map((row) => row.name).join('') : answer.error.code;
  };
  assert.equal(await names('-calls'), 'dabc');
  assert.equal(await names('%2Bcalls'), 'abdc');
  assert.equal(await names('calls'), 'dabc');
  assert.equal(await names('%2Bname'), 'abcd');
  const cut = await client.json('api/reports/kernels?limit=5000&sort=-calls');
  assert.ok(!cut.ok && cut.error.code === 'left_out');
});

interface Fetched {
  ok: boolean;
  status: number;
  json: () => Promise<unknown>;
}

/** A client whose server answers with this, or does not answer. */
function withServer(answer: Fetched | null): {
  client: TraceClient;
  asked: string[];
  states: string[];
} {
  const asked: string[] = [];
  const states: string[] = [];
  globalThis.fetch = ((path: string) => {
    asked.push(path);
    return answer ? Promise.resolve(answer) : Promise.reject(new TypeError('refused'));
  }) as unknown as typeof fetch;
  const client = new TraceClient(null);
  client.onConnection = (state) => states.push(state);
  return { client, asked, states };
}

test('an error of the server keeps its code and its words', async () => {
  const error = { code: 'not_found', message: 'there is no report x' };
  const { client } = withServer({ ok: false, status: 404, json: () => Promise.resolve({ error }) });
  const answer = await client.json('api/reports/x');
  assert.deepEqual(answer, { ok: false, error });
});

test('a server that does not answer is reported once', async () => {
  const { client, states } = withServer(null);
  await client.json('api/session');
  const answer = await client.json('api/session');
  assert.ok(!answer.ok && answer.error.code === 'unreachable');
  assert.deepEqual(states, ['lost']);
});

test('another recording is asked about in every question', async () => {
  const { client, asked } = withServer({ ok: true, status: 200, json: () => Promise.resolve({}) });
  client.input = '2';
  await client.json('api/slice?id=4');
  assert.deepEqual(asked, ['api/slice?id=4&input=2']);
});

test('a server that was started again is lost, a missing thing is not', async (context) => {
  let session = 200;
  context.mock.method(globalThis, 'fetch', (path: string) =>
    Promise.resolve(new Response('{}', { status: path === 'api/session' ? session : 404 })),
  );
  const client = new TraceClient(null);
  const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
  await client.json('api/slice?id=1');
  await turn();
  assert.equal(client.connection, 'connected');
  session = 404;
  await client.json('api/slice?id=1');
  await turn();
  assert.equal(client.connection, 'lost');
  await client.json('api/session');
  assert.equal(client.connection, 'lost');
  session = 200;
  await client.json('api/session');
  assert.equal(client.connection, 'connected');
});
