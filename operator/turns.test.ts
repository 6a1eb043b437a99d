import { expect, test } from '@jest/globals';
import type { Environment } from '../crds/environment.ts';
import type { Repository } from '../crds/repository.ts';
import { turnOf, workTurns } from './turns.ts';

const at = (origin: string, namespace = 'group-acme') =>
  ({ metadata: { namespace, name: 'shop' }, spec: { type: 'generic', generic: { origin } } }) as Repository;

test.each([
  ['https://git.example:8443/shop.git', 'git.example'],
  ['ssh://git@git.example:2222/shop.git', 'git.example'],
  ['git@git.example:shop.git', 'git.example'],
  ['https://', 'https://'],
])('a repository at %s takes its turn at %s', (origin, key) => {
  expect(turnOf(at(origin))).toEqual({ party: 'group-acme', key });
});

test('workers take turns by group, and in it by host, which is each group’s own', () => {
  const environment = { metadata: { namespace: 'group-acme', name: 'shop-main' }, spec: { repository: 'shop' } };
  const orphan = { metadata: { namespace: 'group-acme', name: 'orphan' }, spec: { repository: 'gone' } };
  const turns = workTurns({
    environments: {
      get: (key) => [environment, orphan].find(({ metadata: { name } }) => key === `group-acme/${name}`) as Environment,
    },
    repositories: { get: (key) => (key === 'group-acme/shop' ? at('https://git.example/shop.git') : undefined) },
  });
  const ofHost = { party: 'group-acme', key: 'group-acme git.example' };
  expect(turns.ofRepository('group-acme/shop')).toEqual(ofHost);
  expect(turns.ofEnvironment('group-acme/shop-main')).toEqual(ofHost);
  for (const name of ['orphan', 'deleted'])
    expect(turns.ofEnvironment(`group-acme/${name}`)).toEqual({ party: 'group-acme', key: 'group-acme ' });
});
