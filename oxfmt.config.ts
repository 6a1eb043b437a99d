import { defineConfig } from 'oxfmt';

export default defineConfig({
  singleQuote: true,
  printWidth: 120,
  sortPackageJson: false,
  ignorePatterns: [
    'package-lock.json',
    'charts/coppice/templates',
    'charts/coppice/files/crds',
    'test/fixtures',
    'docs/measurements/bench',
    'docs/measurements/faults',
  ],
});
