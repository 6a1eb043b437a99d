import { expect, test } from '@jest/globals';
import { sourcePolicy } from './source-policy.ts';

const input = { registry: 'r:5000', ownImages: 'r:5000/g/r', untrustedImages: 'r:5000/g/r/untrusted' };
const digests = new Map([['docker.io/library/node:24', 'sha256:1']]);

/** `ACTION identifier`, in the order in which they count. */
function rules(trusted: boolean): string[] {
  const policy = JSON.parse(sourcePolicy({ ...input, trusted, digests })) as {
    rules: { action: string; selector: { identifier: string }; updates?: { identifier: string } }[];
  };
  return policy.rules.map(({ action, selector, updates }) =>
    [action, selector.identifier, updates?.identifier].filter(Boolean).join(' '),
  );
}

const pin = 'CONVERT docker-image://docker.io/library/node:24 docker-image://docker.io/library/node:24@sha256:1';

test('a build takes from Coppice’s registry what its own repository built, and base images as they were resolved', () => {
  expect(rules(true)).toEqual([
    'DENY docker-image://r:5000/*',
    'ALLOW docker-image://r:5000/g/r/*',
    'DENY docker-image://r:5000/g/r/untrusted/*',
    pin,
  ]);
});

test('one that is not trusted takes only what such builds built', () => {
  expect(rules(false)).toEqual(['DENY docker-image://r:5000/*', 'ALLOW docker-image://r:5000/g/r/untrusted/*', pin]);
});
