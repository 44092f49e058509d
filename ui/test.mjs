// Runs the unit tests, src/**/*_test.ts, by Node's own runner on esbuild's output.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

function testsBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return testsBelow(path);
    return /_test\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

const out = mkdtempSync(join(tmpdir(), 'fathom-ui-'));
try {
  await build({
    absWorkingDir: here,
    entryPoints: testsBelow(join(here, 'src')),
    outdir: out,
    outbase: join(here, 'src'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node18',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    logLevel: 'warning',
  });
  const files = readdirSync(out, { recursive: true })
    .map((name) => join(out, String(name)))
    .filter((name) => name.endsWith('_test.mjs'));
  process.exitCode = spawnSync(process.execPath, ['--test', ...files], { stdio: 'inherit' }).status;
} finally {
  rmSync(out, { recursive: true, force: true });
}
