import { expect, test } from '@jest/globals';
import { withoutTexts } from './repository-texts.ts';
import type { Repository } from './repository.ts';

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';
const repository = (serviceFile?: Repository['spec']['serviceFile'], manifest?: string): Repository => ({
  apiVersion: 'coppice.dev/v1alpha1',
  kind: 'Repository',
  metadata: { name: 'shop', ...(manifest !== undefined && { annotations: { other: 'a', [lastApplied]: manifest } }) },
  spec: { type: 'generic', generic: { origin: 'https://git.example/a.git' }, ...(serviceFile && { serviceFile }) },
});

test('a Repository without texts stays as it is', () => {
  const same = repository({ mode: 'repo' });
  expect(withoutTexts(same)).toBe(same);
});

test('the content goes, and the manifest that kubectl has noted, but not that there is one', () => {
  const large = 'x'.repeat(131_072);
  const small = withoutTexts(repository({ mode: 'both', content: large }, large));
  expect(JSON.stringify(small).length).toBeLessThan(500);
  expect(small.spec).toEqual({ ...repository().spec, serviceFile: { mode: 'both' } });
  expect(small.metadata.annotations).toEqual({ other: 'a', [lastApplied]: '' });
});

test('a manifest alone goes too', () => {
  expect(withoutTexts(repository(undefined, 'manifest'))).toMatchObject({
    metadata: { annotations: { [lastApplied]: '' } },
    spec: repository().spec,
  });
});
