import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, stop } from 'esbuild';
import { z } from 'zod';
import { REPOSITORY_ROOT } from '../support/paths.ts';

/** The files that are compiled, and where the licenses of their packages are kept. */
export const BUNDLES = [
  { entryPoint: 'panel/main.tsx', file: 'panel/licenses.txt', platform: 'browser' },
  { entryPoint: 'cli/main.ts', file: 'cli/licenses.txt', platform: 'node' },
] as const;
type Bundle = (typeof BUNDLES)[number];

const packagePattern = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

/** Returns the paths of the packages that a bundle contains, as in the lock file. */
export async function bundledPackages({ entryPoint, platform }: Bundle): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [join(REPOSITORY_ROOT, entryPoint)],
    platform,
    bundle: true,
    write: false,
    metafile: true,
    outdir: 'dist',
    splitting: platform === 'browser',
    format: 'esm',
    loader: { '.svg': 'file' },
    jsx: 'automatic',
    jsxImportSource: 'preact',
    external: ['bufferutil', 'utf-8-validate'],
    define: { COPPICE_VERSION: '""' },
    logLevel: 'error',
    absWorkingDir: REPOSITORY_ROOT,
  });
  await stop();
  // A module that contributes no bytes, such as one of types, is not part of the bundle.
  const inputs = Object.values(metafile.outputs).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  return [...new Set(inputs.flatMap((path) => packagePattern.exec(path)?.[0] ?? []))].sort();
}

const manifestSchema = z.looseObject({
  name: z.string(),
  version: z.string(),
  license: z.string().default(''),
  repository: z.union([z.string(), z.looseObject({ url: z.string() }).transform(({ url }) => url)]).default('unknown'),
});

/** Returns the names, licenses and license texts of these packages, each text once. */
export function licenseTexts(paths: readonly string[]): string {
  const packages = paths.map((path) => {
    const folder = join(REPOSITORY_ROOT, path);
    const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
    const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
    const text =
      file === undefined
        ? `The package contains no license file. Its source: ${manifest.repository}`
        : readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim();
    return { title: `${manifest.name} (${manifest.license})`, text };
  });
  const byText = Map.groupBy(packages, ({ text }) => text);
  const line = '-'.repeat(80);
  return [...byText]
    .map(([text, users]) => `${users.map(({ title }) => title).join('\n')}\n\n${text}\n`)
    .join(`\n${line}\n\n`);
}

/** Returns the stored texts of a bundle; '' if there are none. */
export function storedTexts({ file }: Bundle): string {
  const path = join(REPOSITORY_ROOT, file);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
