// Bundles the command line to cli/dist/coppice.mjs, one file without dependencies for Node 22.12 or later.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { z } from 'zod';

const folder = import.meta.dirname;

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));

/**
 * The bundle calls `require` for Node's own modules where they are first used: `import` would load all of them at the
 * start, which takes longer than most commands.
 */
const banner = `#!/usr/bin/env node
import { createRequire } from 'node:module';
const require = createRequire(import.meta.url);`;

/** Bundles the command line in memory, with the licenses of its packages at the end. */
export async function buildCli(): Promise<Buffer> {
  const { outputFiles } = await build({
    entryPoints: [join(folder, 'main.ts')],
    bundle: true,
    write: false,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22.12',
    banner: { js: banner },
    define: { COPPICE_VERSION: JSON.stringify(version) },
    // Optional native modules of ws, which works without them.
    external: ['bufferutil', 'utf-8-validate'],
    legalComments: 'none',
    logLevel: 'error',
    absWorkingDir: folder,
    tsconfigRaw: {},
  });
  const [file] = outputFiles;
  if (!file) throw new Error('esbuild did not bundle cli/main.ts');
  const licenses = readFileSync(join(folder, 'licenses.txt'), 'utf8');
  return Buffer.concat([file.contents, Buffer.from(`\n/*\nLicenses of packages in this file:\n\n${licenses}*/\n`)]);
}

if (import.meta.main) {
  mkdirSync(join(folder, 'dist'), { recursive: true });
  const path = join(folder, 'dist', 'coppice.mjs');
  writeFileSync(path, await buildCli());
  chmodSync(path, 0o755);
}
