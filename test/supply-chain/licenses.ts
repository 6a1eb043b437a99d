// Generates LICENSES.md, and the license texts of what is compiled into the panel and the command line. With
// `--check`, verifies instead that they are current, that package-lock.json names the licenses that the installed packages
// have, and that allowed-licenses.json lists them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { formatted } from '../../oxfmt.config.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { BUNDLES, bundledPackages, licenseTexts, storedTexts } from './bundled-licenses.ts';
import { allowlistSchema, licenseProblems, licensesPage, packagesOf } from './license-report.ts';
import { lockSchema } from './sbom-document.ts';

const page = join(REPOSITORY_ROOT, 'LICENSES.md');
const read = (path: string): unknown => JSON.parse(readFileSync(join(REPOSITORY_ROOT, path), 'utf8'));
const lock = lockSchema.parse(read('package-lock.json'));
const allowlist = allowlistSchema.parse(read('test/supply-chain/allowed-licenses.json'));

/** Older packages name their license as an object. */
const installedSchema = z.looseObject({
  license: z.union([z.string(), z.looseObject({ type: z.string() }).transform(({ type }) => type)]).optional(),
});

/** Returns the installed packages that name another license than the lock file. Those of other platforms are absent. */
function differing(): string[] {
  return Object.entries(lock.packages).flatMap(([path, { license }]) => {
    const manifest = `${path}/package.json`;
    if (path === '' || !existsSync(join(REPOSITORY_ROOT, manifest))) return [];
    const installed = installedSchema.parse(read(manifest)).license;
    return installed === license ? [] : [`${path} names the license ${installed}, and package-lock.json ${license}`];
  });
}

const bundles = [];
for (const bundle of BUNDLES) {
  const paths = await bundledPackages(bundle);
  bundles.push({ bundle, paths, texts: licenseTexts(paths) });
}
const packages = packagesOf(lock, new Set(bundles.flatMap(({ paths }) => paths)));
const text = await formatted(page, licensesPage(packages));

if (process.argv.includes('--check')) {
  const problems = [...licenseProblems(packages, allowlist), ...differing()];
  const stale: string[] = bundles
    .filter(({ bundle, texts }) => storedTexts(bundle) !== texts)
    .map(({ bundle }) => bundle.file);
  if (!existsSync(page) || readFileSync(page, 'utf8') !== text) stale.push('LICENSES.md');
  problems.push(...stale.map((file) => `${file} is not current: run npm run generate`));
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.stdout.write(`${packages.length} packages, ${problems.length} problems\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} else {
  writeFileSync(page, text);
  for (const { bundle, texts } of bundles) writeFileSync(join(REPOSITORY_ROOT, bundle.file), texts);
}
