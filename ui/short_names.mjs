// Names of properties that the build makes short, and the places where somebody else knows one of them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Of the page's own objects. Names that end in "_" are private to a class, and are short as well. */
const OWN =
  'setScope showTime showName showSlice tryChanges invalidate timeOf segmentsOf rowTitle onConnection flowsLeftOff toggleCritical setOpenness onChoose onPick onTerm onGroup onRow onMove onFold onScene onRemove onDouble onChosen onArea onPin onLeave onHover onDensity onSort onOnly onEngine onShow onPeak focusSearch togglePin setDensity inputRef coarsest onlyName known chosen ground setSteps paintsOf tileOf binsOf reveal pixelOf nsPerPixel onEnd context session visible targets bounds scene account raised colour mount corner pins hatch coarse coverage turned client accounts picked bands forget paints pinned remember corner digest_ hit leftOut neighbour onRest onDrop onSelect onPress openness overlaps painterKind pointer rowsOf setChosen unmount width_';
// The same words for other things: of tests, and of sounds and bars in a browser, which the page does not use.
const OTHER_THINGS = { context: ['asked', 'known'], session: ['asked'], visible: ['known'] };
// Of preact: fields that it has among its own modules, and what a component written as a class would be called by. The
// page has none of these.
const PREACT =
  '__[a-zA-Z]|getDerivedStateFrom(?:Props|Error)|getSnapshotBeforeUpdate|shouldComponentUpdate|component(?:Will(?:Mount|Unmount|Update|ReceiveProps)|Did(?:Mount|Update|Catch))|getChildContext|forceUpdate|debounceRendering|contextType';
export const SHORT = new RegExp(`^(?:${OWN.split(' ').join('|')}|${PREACT})$|[a-zA-Z]_$`);

function textsBelow(folder, ending) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return textsBelow(path, ending);
    return ending.test(path) ? [[path, readFileSync(path, 'utf8')]] : [];
  });
}

/**
 * Where a short name would break the page: a test asks the page for it, the server writes a member or a column of that
 * name, the page itself has it as a text, a module exports it, or the browser or preact has a property of that name.
 */
export function clashesOf(names, sources) {
  const kinds = [
    ['asked', /\b[a-zA-Z]\w*\b/g],
    ['answered', /(?<=["'`])[a-zA-Z]\w*(?=\\?["'`])/g],
    ['exported', /(?<=\bexport (?:async )?(?:const|let|class|function\*?|enum) )\w+/g],
    ['exported', /(?<=\bas )\w+(?=[^;{}]*\} from)/g],
    ['known', /(?<=^ +(?:readonly )?)\w+(?=\??[:(<])/gm],
  ];
  const wanted = new Set(names);
  const found = new Set();
  for (const [kind, pattern] of kinds)
    for (const [path, text] of sources[kind] ?? [])
      for (const [word] of text.matchAll(pattern))
        if (wanted.has(word) && !OTHER_THINGS[word]?.includes(kind)) found.add(`${word}: ${path}`);
  return [...found];
}

/** As above, in this repository. */
export function clashes(names, root) {
  const page = textsBelow(join(root, 'ui/src'), /(?<!_test)\.tsx?$/);
  const packages = join(root, 'ui/node_modules');
  return clashesOf(names, {
    asked: ['tests/ui', 'bench/ui'].flatMap((folder) =>
      textsBelow(join(root, folder), /\.(?:py|js)$/),
    ),
    answered: [
      ...['server', 'render', 'reports'].flatMap((room) =>
        textsBelow(join(root, 'src', room), /\.(?:cc|h)$/),
      ),
      ...page,
    ],
    exported: page,
    known: [
      ...textsBelow(join(packages, 'typescript/lib'), /lib\.(?:dom|es\d+\S*)\.d\.ts$/),
      ...textsBelow(join(packages, 'preact/src'), /\.d\.ts$/),
    ],
  });
}

/** Each kind of clash is found, and a name that nobody else knows is none. */
export function selfTest() {
  const sources = {
    asked: [['a', "evaluate('shown.one.first')"]],
    answered: [['b', 'json.member("two", 1) "{\\"three\\":0}"']],
    exported: [['c', 'export const four = 1;\nexport { five as six } from "./d";\n']],
    known: [['d', '    seven: number;\n    readonly eight?: string;\n    nine(): void;\n']],
  };
  const bad = ['one', 'two', 'three', 'four', 'six', 'seven', 'eight', 'nine'];
  const found = clashesOf([...bad, 'ten', 'five'], sources).map((each) => each.split(':')[0]);
  if (found.sort().join() !== bad.sort().join()) throw new Error(`short_names: ${found.join()}`);
}
