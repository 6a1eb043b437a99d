import { expect, test } from '@jest/globals';
import type { AccessMode } from '../../../../crds/access.ts';
import type { Environment } from '../../../../crds/environment.ts';
import { EnvironmentScope } from './scope.ts';

type Setting = AccessMode | undefined;

test.each<[Setting, Setting, Setting, 'public' | 'members', boolean]>([
  ['members', undefined, undefined, 'public', true],
  ['members', undefined, 'members', 'public', false],
  ['members', 'members', undefined, 'public', false],
  ['members', 'public', 'members', 'public', true],
  ['members', undefined, undefined, 'members', false],
  [undefined, undefined, undefined, 'public', false],
  [undefined, 'public', undefined, 'members', true],
  ['password', undefined, 'password', 'public', true],
])(
  'a repository with %s, included where the environment says %s, its repository %s and the default is %s',
  (other, environment, own, defaultAccess, expected) => {
    const accessPassword = (name: string) => ({ secretKeyRef: { name, key: 'password' } });
    const access: Record<string, Setting> = { shop: own, backend: other };
    const scope = new EnvironmentScope(
      {
        metadata: { namespace: 'group-acme', name: 'shop-main', uid: 'u' },
        spec: { repository: 'shop', gitRef: { name: 'main', type: 'branch' }, access: environment },
      } as Environment,
      {
        configurations: {
          read: () => Promise.reject(new Error('the configuration is read')),
          registryAccess: () => ({ trustForks: false, registrySecrets: [] }),
          forkApproval: () => ({ isRequired: false, byComment: false }),
          access: ({ name }) => ({ access: access[name], accessPassword: accessPassword(name) }),
          canBeIncluded: () => true,
        },
        ...{ environmentsUrl: new URL('http://env.example'), defaultAccess, now: () => new Date(0) },
      },
    );
    expect(scope.opensFurther('backend')).toBe(expected);
  },
);
