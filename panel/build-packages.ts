// Reduces the package.json of an image's stage to the packages that compile the panel and the command line: `npm install`
// then installs them alone, in the versions and with the hashes of the lock file.
import { readFileSync, writeFileSync } from 'node:fs';

const names = [
  '@modelcontextprotocol/sdk',
  '@preact/signals',
  '@xterm/headless',
  'commander',
  'esbuild',
  'preact',
  'preact-iso',
  'ws',
  'yaml',
  'zod',
];

interface Package {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

// Not validated: it is the repository's own package.json.
const all = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
const dependencies = Object.fromEntries(
  Object.entries({ ...all.dependencies, ...all.devDependencies }).filter(([name]) => names.includes(name)),
);
if (Object.keys(dependencies).length !== names.length)
  throw new Error('package.json lacks a package of the panel or the command line');
writeFileSync('package.json', JSON.stringify({ name: 'coppice', version: '0.1.0', type: 'module', dependencies }));
