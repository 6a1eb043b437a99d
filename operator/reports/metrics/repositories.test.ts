import { expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Repository } from '../../../crds/repository.ts';
import { observeRepositories } from './repositories.ts';

function repositoryOf(...conditions: [type: string, status: 'True' | 'False', reason: string][]): Repository {
  return {
    apiVersion: 'coppice.dev/v1alpha1',
    kind: 'Repository',
    metadata: { namespace: 'group-acme', name: 'shop' },
    spec: { type: 'generic', generic: { origin: 'https://git.example.com/shop.git' } },
    status: {
      conditions: conditions.map(([type, status, reason]) => ({
        ...{ type, status, reason, message: '' },
        lastTransitionTime: '2026-01-01T00:00:00Z',
      })),
    },
  };
}

test('counts Repositories by type, and by why they are not synchronized', async () => {
  const registry = new Registry();
  const all = [
    repositoryOf(['Ready', 'True', 'Ready'], ['Synced', 'True', 'Synced']),
    repositoryOf(['Ready', 'True', 'Ready'], ['Synced', 'False', 'HostUnreachable']),
    repositoryOf(['Ready', 'True', 'Ready'], ['Synced', 'False', 'HostUnreachable']),
    repositoryOf(['Ready', 'False', 'CredentialsMissing']),
    repositoryOf(),
  ];
  observeRepositories({ list: () => all }, registry);
  const samples = (await registry.metrics()).split('\n').filter((line) => line.startsWith('coppice_'));
  expect(samples).toEqual(
    expect.arrayContaining([
      'coppice_repositories{type="generic"} 5',
      'coppice_repositories{type="ownerhost"} 0',
      'coppice_repositories_not_synced{reason="HostUnreachable"} 2',
      'coppice_repositories_not_synced{reason="CredentialsMissing"} 1',
    ]),
  );
  all.length = 0;
  expect(await registry.metrics()).not.toContain('coppice_repositories_not_synced{');
});
