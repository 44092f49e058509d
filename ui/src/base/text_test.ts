// Text for spreadsheets and shells arrives there as it is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvText, exactPattern, shellWord, shortened } from './text';

test('cells of CSV are quoted where they must be', () => {
  const rows = [{ name: 'a,"b"\nc', ns: 12, none: null }];
  assert.equal(csvText(['name', 'ns', 'none'], rows), 'name,ns,none\n"a,""b""\nc",12,\n');
});

test('words of a shell are quoted where they must be', () => {
  assert.equal(shellWord('aten::mm=0.5'), 'aten::mm=0.5');
  assert.equal(shellWord("it's; rm -rf $HOME"), `'it'\\''s; rm -rf $HOME'`);
  assert.equal(shellWord(''), "''");
});

test('a pattern of a name matches this name only', () => {
  const name = 'void f<4, at::(x)>(int*)[$]^';
  assert.match(name, new RegExp(exactPattern(name)));
  assert.doesNotMatch(`${name}x`, new RegExp(exactPattern(name)));
});

test('long names keep both ends', () => {
  assert.equal(shortened('abcdefghij', 10), 'abcdefghij');
  assert.equal(shortened('abcdefghij', 5), 'ab…ij');
});
