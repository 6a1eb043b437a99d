// Reduces the package.json of an image's stage to the packages that compile the panel: `npm install` then installs them
// alone, in the versions and with the hashes of the lock file.
import { readFileSync, writeFileSync } from 'node:fs';

const names = ['@preact/signals', 'esbuild', 'preact', 'preact-iso'];

interface Package {
  devDependencies: Record<string, string>;
}

// The repository's own file, in its known form.
const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
const dependencies = Object.fromEntries(Object.entries(devDependencies).filter(([name]) => names.includes(name)));
if (Object.keys(dependencies).length !== names.length) throw new Error('package.json lacks a package of the panel');
writeFileSync('package.json', JSON.stringify({ name: 'coppice', version: '0.1.0', type: 'module', dependencies }));
