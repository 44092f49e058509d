// Values read as the command line prints them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  axisText,
  bytesText,
  counterText,
  countText,
  durationText,
  headingText,
  percentText,
  realText,
  tickStep,
  valueText,
  valueTextIn,
} from './format';

test('durations have four significant digits and the unit that fits', () => {
  assert.equal(durationText(0), '0 ns');
  assert.equal(durationText(850), '850 ns');
  assert.equal(durationText(12_340), '12.34 µs');
  assert.equal(durationText(999_960), '1.000 ms');
  assert.equal(durationText(1_235_000_000), '1.235 s');
  assert.equal(durationText(12_345_000_000_000), '12,345 s');
  assert.equal(durationText(-2000), '-2.000 µs');
});

test('bytes are binary and whole numbers stay whole', () => {
  assert.equal(bytesText(0), '0 B');
  assert.equal(bytesText(512), '512 B');
  assert.equal(bytesText(1536), '1.500 KiB');
  assert.equal(bytesText(2 ** 30), '1 GiB');
});

test('counts are grouped by thousands', () => {
  assert.equal(countText(999), '999');
  assert.equal(countText(1_234_567), '1,234,567');
  assert.equal(countText(-1000), '-1,000');
});

test('percentages never round a little to nothing', () => {
  assert.equal(percentText(0), '0.0 %');
  assert.equal(percentText(0.004), '< 0.01 %');
  assert.equal(percentText(-0.004), '> −0.01 %');
  assert.equal(percentText(0.05), '0.05 %');
  assert.equal(percentText(33.14), '33.1 %');
});

test('real numbers become powers of ten where digits would mislead', () => {
  assert.equal(realText(0), '0');
  assert.equal(realText(0.0001234), '1.234e-04');
  assert.equal(realText(3.14159), '3.142');
  assert.equal(realText(123456), '123,456');
  assert.equal(realText(NaN), '–');
});

test('a cell is written by the kind of its column', () => {
  assert.equal(valueText(null, 'duration_ns'), '–');
  assert.equal(valueText(true, 'flag'), 'yes');
  assert.equal(valueText(1500, 'duration_ns'), '1.500 µs');
  assert.equal(valueText(7, 'integer'), '7');
  assert.equal(valueText('<b>', 'name'), '<b>');
  assert.equal(valueTextIn(12.5, 'GB/s'), '12.50 GB/s');
  assert.equal(valueTextIn(2048, 'bytes'), '2 KiB');
});

test('headings are words', () => {
  assert.equal(headingText('device_self_ns', 'ns'), 'device self');
  assert.equal(headingText('share_percent', 'percent'), 'share %');
});

test('ticks are 1, 2 or 5 times a power of ten', () => {
  assert.equal(tickStep(1), 1);
  assert.equal(tickStep(130), 200);
  assert.equal(tickStep(2001), 5000);
  assert.equal(tickStep(6), 10);
  assert.equal(axisText(1_500_000, 500_000), '1,500 µs');
  assert.equal(axisText(2e9, 1e9), '2 s');
});

test('counters of whole things have no decimals', () => {
  assert.equal(counterText(551, 'kernels'), '551 kernels');
  assert.equal(counterText(551, ''), '551');
  assert.equal(counterText(0.25, 'W'), '0.250 W');
  assert.equal(counterText(1024, 'bytes'), '1 KiB');
  assert.equal(counterText(55, 'percent'), '55.0 %');
});
