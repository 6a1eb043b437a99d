import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { REPOSITORY_ROOT } from '../support/paths.ts';

const read = (path: string) => readFileSync(join(REPOSITORY_ROOT, path), 'utf8');
const { packages } = z
  .looseObject({ packages: z.record(z.string(), z.looseObject({ hasInstallScript: z.boolean().optional() })) })
  .parse(JSON.parse(read('package-lock.json')));
const { allowScripts } = z
  .looseObject({ allowScripts: z.record(z.string(), z.boolean()) })
  .parse(JSON.parse(read('package.json')));

test('each package with an install script was reviewed, and allowScripts lists nothing else', () => {
  const names = Object.entries(packages).flatMap(([path, { hasInstallScript }]) =>
    hasInstallScript === true ? [path.replace(/^.*node_modules\//, '')] : [],
  );
  expect(Object.keys(allowScripts).sort()).toEqual([...new Set(names)].sort());
});

test('only the script of the package node is allowed, and only that one is run', () => {
  expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['node']);
  const commands = read('test/install-dependencies').match(/(?<=^ *)npm .*$/gm);
  expect(commands).toEqual(['npm ci --ignore-scripts --no-audit --no-fund', 'npm rebuild node --ignore-scripts=false']);
});

test.each(['Dockerfile', 'tester/Dockerfile'])('%s installs packages without scripts', (file) => {
  const installs = read(file).match(/npm (ci|install) [^&\n]*/g) ?? [];
  expect(installs.length).toBeGreaterThan(0);
  expect(installs.filter((command) => !command.includes('--ignore-scripts '))).toEqual([]);
});
