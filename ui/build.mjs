// Bundles the page into dist: `node build.mjs [FOLDER]`. The same sources give the same bytes.
import { build } from 'esbuild';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, 'dist');
mkdirSync(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: [
    { in: 'src/app/main.tsx', out: 'app' },
    { in: 'src/app/app.css', out: 'app' },
  ],
  outdir: out,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
});
for (const name of ['index.html', 'icon.svg'])
  copyFileSync(join(here, 'src/app', name), join(out, name));
