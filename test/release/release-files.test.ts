import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { REPOSITORY_ROOT } from '../support/paths.ts';
import { readChangelog } from './changelog.ts';
import { versionsIn, writeVersions } from './versioned-files.ts';

const changelog = readChangelog(readFileSync(join(REPOSITORY_ROOT, 'CHANGELOG.md'), 'utf8'));

test('the changelog has the form of Keep a Changelog', () => {
  expect(changelog.problems).toEqual([]);
});

test('packages, chart and examples have the version of the newest release in the changelog', () => {
  const newest = changelog.releases[0]?.version;
  for (const { file, versions } of versionsIn(REPOSITORY_ROOT)) {
    expect([file, [...new Set(versions)]]).toEqual([file, [newest]]);
  }
});

test('a new version is written to each of them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'versions-'));
  try {
    for (const { file } of versionsIn(REPOSITORY_ROOT)) cpSync(join(REPOSITORY_ROOT, file), join(folder, file));
    writeVersions(folder, '12.34.56');
    const counts = (root: string) => versionsIn(root).map(({ versions }) => versions.length);
    expect(counts(folder)).toEqual(counts(REPOSITORY_ROOT));
    expect(new Set(versionsIn(folder).flatMap(({ versions }) => versions))).toEqual(new Set(['12.34.56']));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
