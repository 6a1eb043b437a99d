import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file that contains the version of the product, once or several times, as the only group of the pattern. */
interface VersionedFile {
  file: string;
  pattern: RegExp;
}

const number = '(\\d+\\.\\d+\\.\\d+)';
const files: VersionedFile[] = [
  { file: 'package.json', pattern: new RegExp(`(?<=^  "version": ")${number}`, 'gm') },
  {
    file: 'package-lock.json',
    pattern: new RegExp(`(?<=^(?:  |      )"name": "coppice",\\n *"version": ")${number}`, 'gm'),
  },
  { file: 'cli/package.json', pattern: new RegExp(`(?<=^  "version": ")${number}`, 'gm') },
  { file: 'charts/coppice/Chart.yaml', pattern: new RegExp(`(?<=^(?:version|appVersion): )${number}`, 'gm') },
  { file: 'api/openapi/document.ts', pattern: new RegExp(`(?<=title: 'Coppice', version: ')${number}`, 'g') },
  { file: 'cli/commands/mcp.ts', pattern: new RegExp(`(?<=name: 'coppice', version: ')${number}`, 'g') },
  { file: 'examples/argo-cd/coppice.yaml', pattern: new RegExp(`(?<=tag: ')${number}`, 'g') },
  { file: 'examples/flux/coppice.yaml', pattern: new RegExp(`(?<=tag: ')${number}`, 'g') },
];

/** Returns the versions that each file of a checkout contains. */
export function versionsIn(root: string): { file: string; versions: string[] }[] {
  return files.map(({ file, pattern }) => ({
    file,
    versions: readFileSync(join(root, file), 'utf8').match(pattern) ?? [],
  }));
}

/** Writes the version to each file of a checkout. */
export function writeVersions(root: string, version: string): void {
  for (const { file, pattern } of files) {
    const path = join(root, file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(pattern, version));
  }
}
