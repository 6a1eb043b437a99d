import { expect, test } from '@jest/globals';
import { effectiveAccess, type EffectiveAccess } from './access.ts';

type Settings = Parameters<typeof effectiveAccess>[0];
const password = (name: string) => ({ secretKeyRef: { name, key: 'password' } });

test.each<[string, Settings, Settings | undefined, EffectiveAccess]>([
  ['the default', {}, {}, { mode: 'public', from: 'default' }],
  ['the Repository', {}, { access: 'members' }, { mode: 'members', from: 'repository' }],
  ['the Environment', { access: 'public' }, { access: 'members' }, { mode: 'public', from: 'environment' }],
  ['nobody, without a Repository', {}, undefined, { mode: 'members', from: 'default' }],
  [
    'the Repository, with its password',
    {},
    { access: 'password', accessPassword: password('r') },
    { mode: 'password', from: 'repository', password: { from: 'repository', ...password('r') } },
  ],
  [
    'the Repository, with the password of the Environment',
    { accessPassword: password('e') },
    { access: 'password', accessPassword: password('r') },
    { mode: 'password', from: 'repository', password: { from: 'environment', ...password('e') } },
  ],
])('is decided by %s', (_what, environment, repository, expected) => {
  expect(effectiveAccess(environment, repository, 'public')).toEqual(expected);
});
