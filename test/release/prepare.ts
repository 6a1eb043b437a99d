// `npm run release:prepare -- VERSION` makes a release of the unreleased changes: it writes the version to the changelog,
// the packages, the chart and the examples. Commit and tag what it changes, then run `npm run release`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runMain } from '../support/progress.ts';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { Problem } from '../support/problem.ts';
import { compareVersions, readChangelog, withRelease } from './changelog.ts';
import { isVersion } from './options.ts';
import { writeVersions } from './versioned-files.ts';

await runMain(() => {
  const [version = ''] = process.argv.slice(2);
  if (!isVersion(version)) throw new Problem('Name the version as three numbers: npm run release:prepare -- 1.2.3');
  const file = join(REPOSITORY_ROOT, 'CHANGELOG.md');
  const text = readFileSync(file, 'utf8');
  const { unreleased, releases, problems } = readChangelog(text);
  if (problems.length > 0) throw new Problem(`CHANGELOG.md is malformed. Fix it first:\n${problems.join('\n')}`);
  if (unreleased === '') throw new Problem('CHANGELOG.md lists no unreleased change, so there is nothing to release.');
  const last = releases[0]?.version ?? '0.0.0';
  if (compareVersions(version, last) <= 0)
    throw new Problem(`${version} is not above ${last}, the last release. Choose a higher one.`);
  writeFileSync(file, withRelease(text, version, new Date().toISOString().slice(0, 10)));
  writeVersions(REPOSITORY_ROOT, version);
  console.log(
    `Prepared ${version}. Check the changes, then: git commit --all --message "Release ${version}" && git tag v${version}`,
  );
  return Promise.resolve();
});
