// Windows are read as the command line reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beyondScope, parseWindow, WHOLE, windowOf } from './scope';

const whole = { begin: 0, end: 1e9 };

test('ends carry units and may be open', () => {
  assert.deepEqual(parseWindow('10ms:25ms', whole), { begin: 10e6, end: 25e6 });
  assert.deepEqual(parseWindow(':1.5us', whole), { begin: 0, end: 1500 });
  assert.deepEqual(parseWindow('0.5s:', whole), { begin: 5e8, end: 1e9 });
});

test('what is no window is refused', () => {
  for (const text of ['', '5', '1ms', '5:7', '3ms:2ms', 'a:b', '1ms:2ms:3ms']) {
    assert.equal(parseWindow(text, whole), undefined, text);
  }
});

test('a window that is written is read again', () => {
  assert.equal(windowOf(-3, 1234.4), '0ns:1234ns');
  assert.deepEqual(parseWindow(windowOf(5, 99), whole), { begin: 5, end: 99 });
});

test('a view says what it shows beyond the scope', () => {
  const scope = { ...WHOLE, steps: '3-7', device: '1', focus: 'backward', input: '2' };
  assert.equal(beyondScope(WHOLE, []), '');
  assert.equal(beyondScope(scope, ['steps', 'window', 'device', 'focus']), '');
  assert.equal(
    beyondScope(scope, ['steps', 'window']),
    'Shown here: all devices and whole steps, whatever device and focus the scope says.',
  );
  assert.equal(
    beyondScope({ ...WHOLE, window: '1ms:' }, []),
    'Shown here: all of the time, whatever time the scope says.',
  );
});
