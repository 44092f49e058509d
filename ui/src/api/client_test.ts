// A page in a file answers from what it carries, and says what it does not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { unpackCarried } from './answers';
import { TraceClient } from './client';

const CARRIED = {
  answers: {
    'api/session': { state: 'ready', input: '<b>' },
    'api/whatif?scale=aten%3A%3Amm%3D0.5': { steps: 3 },
    'api/tiles/d?level=3&tile=0&tracks=1': { base64: 'RlRUMQAAAAA=' },
  },
  left_out: ['fine tiles'],
};

const packed = (): string => gzipSync(JSON.stringify(CARRIED)).toString('base64');

test('answers are unpacked as they were packed', async () => {
  assert.deepEqual(await unpackCarried(`\n${packed()}\n`), CARRIED);
});

test('a carried page answers without a server', async () => {
  const client = new TraceClient(await unpackCarried(packed()));
  assert.equal(client.connection, 'carried');
  assert.deepEqual(client.leftOut, ['fine tiles']);
  const session = await client.json<{ input: string }>('api/session');
  assert.ok(session.ok && session.value.input === '<b>');
  const tile = await client.binary('api/tiles/d?level=3&tile=0&tracks=1');
  assert.ok(tile.ok && tile.value.byteLength === 8);
});

test('what a file does not hold is an error with the reason', async () => {
  const client = new TraceClient(await unpackCarried(packed()));
  const answer = await client.json('api/reports/ops');
  assert.ok(!answer.ok && answer.error.code === 'left_out');
  assert.match(answer.ok ? '' : answer.error.message, /fathom view/);
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
