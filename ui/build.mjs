// Bundles the page into dist: `node build.mjs [FOLDER]`. The same sources give the same bytes.
// licences.txt has the licence of each package that is in it, for tools/notices too. A script with code of a package
// begins with its name and version: with the whole licence where the script stands alone, as its licence asks for.
import { build } from 'esbuild';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clashes, selfTest, SHORT } from './short_names.mjs';

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
  legalComments: 'none', // bundle() writes them
  metafile: true,
  write: false,
  mangleProps: SHORT,
  // Elements as calls of h(), whose children are arguments: shorter than what tsc is told to check.
  inject: ['src/base/jsx.ts'],
  tsconfigRaw: {
    compilerOptions: {
      jsx: 'react',
      jsxFactory: 'h',
      jsxFragmentFactory: 'Fragment',
      target: 'ES2022',
      strict: true,
      useDefineForClassFields: false,
      verbatimModuleSyntax: true,
    },
  },
  logLevel: 'warning',
};
/**
 * Shaders are texts to a minifier: what only people read in them goes, and the names of their variables are short. What
 * is passed to them (a_, u_, v_) is named outside of them, too.
 */
const shaders = {
  name: 'shaders',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/gl_painter\.ts$/ }, ({ path }) => {
      const short = new Map();
      const shortOf = (word) => short.get(word) ?? short.set(word, `_${short.size}`).get(word);
      const contents = readFileSync(path, 'utf8')
        .replace(/\b[auv]_[a-z0-9]+\b/g, shortOf)
        .replace(/`#version[^`]*`/g, (text) => {
          const bare = text
            .replace(/ *\/\/.*$/gm, '')
            .replace(/\s*([=*,;(){}<>?:+&|-])\s*/g, '$1')
            .replace(/^ +/gm, '');
          const own = [...bare.matchAll(/\b(?:float|u?int|bool|vec\d) ([a-z]\w{2,})/g)];
          return own.reduce(
            (made, [, word]) => made.replace(new RegExp(`\\b${word}\\b`, 'g'), shortOf(word)),
            bare,
          );
        });
      return { loader: 'ts', contents };
    }),
};
/** Where all is one script, nothing is fetched later. */
const atOnce = {
  name: 'at-once',
  setup: ({ onResolve, resolve }) =>
    onResolve({ filter: /\/fetch_more$/ }, ({ path, ...from }) =>
      resolve(path.replace('fetch_more', 'have_more'), from),
    ),
};
const texts = new Map();
const licence = (name) => {
  const folder = join(here, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const text = readFileSync(join(folder, 'LICENSE'), 'utf8').trim();
  if (/\*\/|<\/|<!--/.test(text)) throw new Error(`${name}: its licence ends a comment`);
  return { title: `${name} ${version}, ${license}`, text };
};
const bundle = async (alone, more) => {
  const mangleCache = {}; // which names were made short
  const made = await build({
    ...options,
    ...more,
    mangleCache,
    plugins: [shaders, ...(alone ? [atOnce] : [])],
  });
  const known = clashes(Object.keys(made.mangleCache), join(here, '..'));
  if (known.length > 0)
    throw new Error(`names that others know cannot be short:\n${known.join('\n')}`);
  for (const { path, text } of made.outputFiles) {
    const inputs = Object.keys(made.metafile.outputs[relative(here, path)].inputs);
    const names = inputs.map(
      (input) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1],
    );
    let head = '';
    for (const name of [...new Set(names.filter(Boolean))].sort()) {
      const { title, text: whole } = licence(name);
      texts.set(name, `${title}\n\n${whole}\n`);
      head += alone ? `/*! ${title}\n\n${whole}\n*/\n` : `/*! ${title}; licences.txt */\n`;
    }
    writeFileSync(path, head + text);
  }
};
selfTest();
const script = 'src/app/main.tsx';
const style = 'src/app/app.css';
// As it is served: app.js, which needs chunk.js, and more.js, which is fetched when a view of it is shown.
await bundle(false, {
  entryPoints: [
    { in: script, out: 'app' },
    { in: style, out: 'app' },
  ],
  format: 'esm',
  splitting: true,
  chunkNames: '[name]',
});
// As it is written to a file: all in one.
await bundle(true, {
  entryPoints: [{ in: script, out: 'whole' }],
  format: 'iife',
});
for (const name of ['index.html', 'icon.svg'])
  copyFileSync(join(here, 'src/app', name), join(out, name));
writeFileSync(
  join(out, 'licences.txt'),
  [...texts.keys()]
    .sort()
    .map((name) => texts.get(name))
    .join('\n'),
);
