// Bundles the page into dist: `node build.mjs [FOLDER]`. The same sources give the same bytes.
import { build } from 'esbuild';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist');
mkdirSync(out, { recursive: true });
const options = {
  absWorkingDir: here,
  outdir: out,
  bundle: true,
  minify: true,
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
};
const script = 'src/app/main.tsx';
const style = 'src/app/app.css';
// As it is served: app.js, which needs chunk.js, and more.js, which is fetched when a view of it is shown.
await build({
  ...options,
  entryPoints: [
    { in: script, out: 'app' },
    { in: style, out: 'app' },
  ],
  format: 'esm',
  splitting: true,
  chunkNames: '[name]',
});
// As it is written to a file: all in one.
await build({ ...options, entryPoints: [{ in: script, out: 'whole' }], format: 'iife' });
for (const name of ['index.html', 'icon.svg'])
  copyFileSync(join(here, 'src/app', name), join(out, name));
