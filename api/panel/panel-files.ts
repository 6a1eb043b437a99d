import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** The encodings in which a file is kept, in order of preference. */
export const ENCODINGS = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** A file of the panel in memory, already compressed. */
export interface PanelFile {
  /** File name extension, without the dot. */
  type: string;
  bytes: Readonly<Record<Encoding, Buffer>>;
}

export interface PanelFiles {
  index: PanelFile;
  /** By their names, which contain a hash of their content. */
  assets: ReadonlyMap<string, PanelFile>;
}

/** Reads the panel as panel/build.ts writes it; undefined if it is not built. */
export function readPanelFiles(folder: string): PanelFiles | undefined {
  const index = join(folder, 'index.html');
  if (!existsSync(index)) return undefined;
  const assets = join(folder, 'assets');
  const names = readdirSync(assets).filter((name) => !/\.(br|gz)$/.test(name));
  return { index: readEncoded(index), assets: new Map(names.map((name) => [name, readEncoded(join(assets, name))])) };
}

function readEncoded(path: string): PanelFile {
  const bytes = { identity: readFileSync(path), br: readFileSync(`${path}.br`), gzip: readFileSync(`${path}.gz`) };
  return { type: extname(path).slice(1), bytes };
}
