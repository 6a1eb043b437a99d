// Compiles the panel to panel/dist: scripts, styles and licenses named by their hash, each also compressed.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type BuildOptions, type Metafile } from 'esbuild';

const folder = import.meta.dirname;

/** An output file of the panel by its name, such as `main-3KDJ2A.js`. */
export interface PanelFile {
  name: string;
  bytes: Buffer;
}

export interface BuiltPanel {
  index: Buffer;
  files: PanelFile[];
  /** Names of the scripts that every page loads first: the entry point and what it imports statically. */
  firstScripts: string[];
}

const options = {
  outdir: join(folder, 'dist'),
  bundle: true,
  write: false,
  metafile: true,
  minify: true,
  target: ['es2024', 'chrome123', 'firefox121', 'safari17.5'],
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  loader: { '.svg': 'file' },
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'error',
  absWorkingDir: folder,
  // The image does not contain the repository's tsconfig.json, which does not affect the compiled files.
  tsconfigRaw: {},
} satisfies BuildOptions;

/** Compiles the panel in memory. */
export async function buildPanel(): Promise<BuiltPanel> {
  const [{ outputFiles, metafile }, theme] = await Promise.all([
    build({ ...options, entryPoints: [join(folder, 'main.tsx')], splitting: true, format: 'esm' }),
    // A module would not block rendering.
    build({ ...options, entryPoints: [join(folder, 'theme-start.ts')], format: 'iife' }),
  ]);
  const licenses = readFileSync(join(folder, 'licenses.txt'));
  const licensesFile = `licenses-${createHash('sha256').update(licenses).digest('hex').slice(0, 8)}.txt`;
  const files = [...outputFiles, ...theme.outputFiles].map(({ path, contents }) => ({
    name: basename(path),
    bytes: Buffer.from(contents),
  }));
  files.push({ name: licensesFile, bytes: licenses });
  const firstScripts = scriptsOf(metafile, 'main.tsx');
  const main = firstScripts[0] ?? '';
  const themeScript = basename(theme.outputFiles[0]?.path ?? '');
  const style = files.find(({ name }) => /^main-.*\.css$/.test(name))?.name ?? '';
  const icon = files.find(({ name }) => /^icon-.*\.svg$/.test(name))?.name ?? '';
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
    .replace('THEME', themeScript)
    .replace('SCRIPT', main)
    .replace('STYLE', style)
    .replace('ICON', icon)
    .replace('LICENSES', licensesFile);
  return { index: Buffer.from(html), files, firstScripts };
}

/** Returns the names of an entry point's script and of those that it imports statically, the entry point first. */
function scriptsOf({ outputs }: Metafile, entryPoint: string): string[] {
  const first = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === entryPoint);
  if (first === undefined) throw new Error(`esbuild made no script of ${entryPoint}`);
  const found = new Set([first]);
  for (const path of found) {
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement') found.add(imported);
    }
  }
  return [...found].map((path) => basename(path));
}

/** Compresses each file at build time, so that the API does not have to. */
export function compressed(bytes: Buffer): { br: Buffer; gz: Buffer } {
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  return { br: brotliCompressSync(bytes, { params }), gz: gzipSync(bytes, { level: 9 }) };
}

/** Writes the panel to a folder as the API reads it. */
export function writePanel({ index, files }: BuiltPanel, to: string): void {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(join(to, 'assets'), { recursive: true });
  const write = (path: string, bytes: Buffer) => {
    const { br, gz } = compressed(bytes);
    writeFileSync(path, bytes);
    writeFileSync(`${path}.br`, br);
    writeFileSync(`${path}.gz`, gz);
  };
  write(join(to, 'index.html'), index);
  for (const { name, bytes } of files) write(join(to, 'assets', name), bytes);
}

if (import.meta.main) writePanel(await buildPanel(), join(folder, 'dist'));
