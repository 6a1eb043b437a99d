import { expect, test } from '@jest/globals';
import type { GitRef } from '../../../../crds/git-ref.ts';
import { isTrusted, trustReport } from './trust.ts';

const pullRequest: GitRef = { name: '7', type: 'pull request' };

test.each<[GitRef['type'], boolean | undefined, boolean, boolean, string | undefined]>([
  ['branch', undefined, false, true, undefined],
  ['tag', undefined, false, true, undefined],
  ['branch', true, false, true, undefined],
  ['pull request', false, false, true, 'SameRepository'],
  ['pull request', false, true, true, 'SameRepository'],
  ['pull request', true, false, false, 'Fork'],
  ['pull request', true, true, true, 'TrustForks'],
  ['pull request', undefined, false, false, 'Unknown'],
  ['pull request', undefined, true, true, 'TrustForks'],
])(
  'decides the trust of a %s, from a fork: %p, forks are trusted: %p',
  (type, fromFork, trustForks, trusted, reason) => {
    const ref: GitRef = { ...pullRequest, type };
    expect(isTrusted(ref, { trustForks }, { fromFork })).toBe(trusted);
    const report = trustReport(ref, { trustForks }, { fromFork });
    expect(report?.reason).toBe(reason);
    // The status of the condition is the decision.
    if (report) expect(report.status).toBe(trusted ? 'True' : 'False');
  },
);
