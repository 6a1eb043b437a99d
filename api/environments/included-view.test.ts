import { expect, test } from '@jest/globals';
import type { EnvironmentStatus } from '../../crds/environment.ts';
import { includedViews } from './included-view.ts';

const backend = { name: 'backend', branches: ['feature', 'main'], branch: 'main', commit: 'b2', services: ['api'] };
const deployed = (repositories: { name: string; branch: string; commit: string }[]) => ({
  deployed: { number: 1, result: 'succeeded' as const, startedAt: '2026-01-01T00:00:00Z', repositories },
});
const known = { id: 'acme.backend', branches: ['feature', 'main'], services: ['api'] };

test.each<[string, EnvironmentStatus | undefined, object[]]>([
  ['nothing before the operator has reconciled the environment', undefined, []],
  ['what is set up', { repositories: [backend] }, [{ ...known, branch: 'main', commit: 'b2' }]],
  [
    'what is deployed while a newer commit is built',
    { repositories: [backend], ...deployed([{ name: 'backend', branch: 'feature', commit: 'b1' }]) },
    [{ ...known, branch: 'feature', commit: 'b1' }],
  ],
  ['no commit of one that is not deployed yet', { repositories: [backend], ...deployed([]) }, [known]],
  [
    'the branches of one that is missing',
    { repositories: [{ name: 'search', branches: ['feature'] }, backend] },
    [
      { ...known, branch: 'main', commit: 'b2' },
      { id: 'acme.search', branches: ['feature'] },
    ],
  ],
  [
    'one that is still deployed and no longer included',
    deployed([{ name: 'backend', branch: 'main', commit: 'b1' }]),
    [{ id: 'acme.backend', branch: 'main', commit: 'b1' }],
  ],
])('shows %s', (_what, status, expected) => {
  expect(includedViews('acme', status)).toEqual(expected);
});
