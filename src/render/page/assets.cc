// Style and script of the diagnosis page.
#include "render/page/assets.h"

namespace fathom::page {

std::string_view style() {
  return R"css(
:root { color-scheme: light dark; --ink: #1c2126; --soft: #5b6670; --paper: #fff; --line: #d9dee3;
  --card: #f6f8fa; --accent: #0b62b5; --good: #2a8f5b; --bad: #c8432f; --warn: #b7791f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ec; --soft: #9aa6b1; --paper: #14181c;
  --line: #333b43; --card: #1d2329; --accent: #6cb2f7; --good: #4cc38a; --bad: #f0806c;
  --warn: #e2b25b; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 1060px; margin: 0 auto; padding: 24px 16px 80px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 40px 0 12px;
  border-bottom: 1px solid var(--line); padding-bottom: 4px; } h3 { font-size: 16px; margin: 18px 0 6px; }
a { color: var(--accent); } code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: var(--card); padding: 8px 12px; overflow-x: auto; border-radius: 6px; margin: 6px 0; }
nav { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 12px 0; }
h1 + p, h3, .finding, li, dd, .note { overflow-wrap: anywhere; }
a.term { color: inherit; text-decoration: underline dotted var(--soft); text-underline-offset: 3px; }
.soft, .note { color: var(--soft); } .note { font-size: 13px; }
.verdict { font-size: 19px; padding: 12px 16px; background: var(--card); border-left: 4px solid var(--bad);
  border-radius: 4px; margin: 12px 0; } .verdict b { text-transform: uppercase; letter-spacing: .03em; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 10px; }
.facts div { background: var(--card); padding: 8px 12px; border-radius: 6px; }
.facts b { display: block; font-size: 18px; } .facts span { color: var(--soft); font-size: 13px; }
svg { width: 100%; height: auto; display: block; background: var(--card); border-radius: 4px; }
.chart { min-width: 640px; } .bar { min-height: 24px; }
svg text { paint-order: stroke; stroke: var(--card); stroke-width: 2.5px; font: 11px system-ui, sans-serif; fill: var(--ink); }
.axis { display: flex; justify-content: space-between; color: var(--soft); font-size: 12px; margin: 2px 0; }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; }
.legend i { display: inline-block; width: 11px; height: 11px; margin-right: 5px; border-radius: 2px; }
.b-compute, .b-forward { fill: #2a8f5b; background: #2a8f5b; } .b-backward { fill: #4cb07c; background: #4cb07c; }
.b-optimizer { fill: #86c9a4; background: #86c9a4; } .b-operators { fill: #5e9c8f; background: #5e9c8f; }
.b-communication { fill: #7a5cc7; background: #7a5cc7; } .b-copies { fill: #3b82c4; background: #3b82c4; }
.b-input { fill: #c8432f; background: #c8432f; } .b-allocation { fill: #a8327d; background: #a8327d; }
.b-sync { fill: #dd6b20; background: #dd6b20; } .b-dispatch { fill: #d69e2e; background: #d69e2e; }
.b-python { fill: #ecc94b; background: #ecc94b; } .b-dependency { fill: #718096; background: #718096; }
.b-latency { fill: #a0aec0; background: #a0aec0; } .b-unknown { fill: #cbd5e0; background: #cbd5e0; }
.t-compute { fill: #2a8f5b; background: #2a8f5b; } .t-communication { fill: #7a5cc7; background: #7a5cc7; }
.t-copy { fill: #3b82c4; background: #3b82c4; } .t-operator { fill: #d69e2e; background: #d69e2e; }
.t-call { fill: #a0aec0; background: #a0aec0; }
line.median { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 5 4; }
.plot { max-width: 820px; }
.finding { border: 1px solid var(--line); border-radius: 6px; padding: 10px 16px; margin: 12px 0;
  break-inside: avoid; } .finding h3 { margin: 0 0 4px; }
.finding dl { display: grid; grid-template-columns: 92px minmax(0, 1fr); align-items: baseline; gap: 4px 12px; margin: 8px 0 0; }
.finding pre { margin: 0; } .finding dt { color: var(--soft); } .finding dd { margin: 0; }
.tag { display: inline-block; font-size: 12px; border: 1px solid var(--line); border-radius: 9px;
  padding: 0 8px; margin-right: 4px; color: var(--soft); } .critical { color: var(--bad); }
.warning { color: var(--warn); } .gain { color: var(--good); font-weight: 600; }
.scroll { overflow: auto; max-height: 600px; } thead th { position: sticky; top: 0; background: var(--paper); } table { border-collapse: collapse; font-size: 13px; width: 100%; }
th, td { padding: 3px 10px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th[aria-sort="ascending"] button::after { content: " ▲"; } th[aria-sort="descending"] button::after { content: " ▼"; }
th { text-align: left; white-space: nowrap; } th.number { text-align: right; } th a { text-decoration: none; color: var(--soft); }
th button { all: unset; cursor: pointer; font-weight: 600; } th button:focus-visible { outline: 2px solid; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.name { min-width: 220px; max-width: 420px; overflow-wrap: anywhere; }
.flame { position: relative; overflow: hidden; background: var(--card); border-radius: 4px; }
.f { position: absolute; height: 17px; overflow: hidden; white-space: nowrap; font-size: 11px; padding: 0 3px;
  border-radius: 2px; cursor: pointer; background: #e9b872; color: #222; border-right: 1px solid var(--paper); }
.f:nth-child(3n) { background: #e3a55b; } .f:nth-child(5n) { background: #efc78f; }
details { margin: 8px 0; } summary { cursor: pointer; font-weight: 600; }
@media (max-width: 600px) { .finding dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .finding dd { margin: 0 0 6px; } td.name { min-width: 150px; } th, td { padding-right: 6px; } }
dl dt { font-weight: 600; } dd { margin: 0 0 6px 16px; }
:target { background: color-mix(in srgb, var(--accent) 20%, transparent); }
@media print { :root { color-scheme: light; --ink: #1c2126; --soft: #5b6670; --paper: #fff; --line: #d9dee3;
    --card: #f6f8fa; --accent: #0b62b5; --good: #2a8f5b; --bad: #c8432f; --warn: #b7791f; }
  * { print-color-adjust: exact; } body { max-width: none; padding: 0; } nav { display: none; }
  .scroll { overflow: visible; max-height: none; } thead th { position: static; } table { font-size: 9px; } tr, svg, .flame { break-inside: avoid; } h2, h3 { break-after: avoid; }
  .chart { min-width: 0; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; } td.name { min-width: 60px; } }
)css";
}

std::string_view script() {
  return R"js(
for (const button of document.querySelectorAll('th button')) {
  button.addEventListener('click', () => {
    const heading = button.parentElement;
    const index = [...heading.parentElement.children].indexOf(heading);
    const body = heading.closest('table').tBodies[0];
    const rising = heading.dataset.order === 'falling';
    heading.dataset.order = rising ? 'rising' : 'falling';
    for (const other of heading.parentElement.children) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', rising ? 'ascending' : 'descending');
    const key = (row) => {
      const cell = row.cells[index];
      if (!('v' in cell.dataset)) return cell.textContent;
      return cell.dataset.v === '' ? -Infinity : Number(cell.dataset.v) || cell.dataset.v;
    };
    const rows = [...body.rows].map((row) => [key(row), row]);
    rows.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (rising ? 1 : -1));
    body.append(...rows.map(([, row]) => row));
  });
}
addEventListener('beforeprint', () => {
  for (const closed of document.querySelectorAll('details')) closed.open = true;
});
for (const flame of document.querySelectorAll('.flame')) {
  const frames = [...flame.querySelectorAll('.f')];
  const box = (frame) => [Number(frame.dataset.x), Number(frame.dataset.w)];
  flame.addEventListener('click', (event) => {
    const chosen = event.target.closest('.f');
    if (!chosen) return;
    const [x0, w0] = box(chosen);
    for (const frame of frames) {
      const [x, w] = box(frame);
      const around = x <= x0 + 0.005 && x + w >= x0 + w0 - 0.005;
      const inside = x >= x0 - 0.005 && x + w <= x0 + w0 + 0.005;
      frame.hidden = !around && !inside;
      const above = around && Number(frame.dataset.d) <= Number(chosen.dataset.d);
      frame.style.left = (above ? 0 : (100 * (x - x0)) / w0) + '%';
      frame.style.width = (above ? 100 : (100 * w) / w0) + '%';
    }
  });
}
)js";
}

}  // namespace fathom::page
