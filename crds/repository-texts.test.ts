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

test('keeps a Repository without texts unchanged', () => {
  const same = repository({ mode: 'repo' });
  expect(withoutTexts(same)).toBe(same);
});

test('removes the content and the manifest of kubectl, and keeps that there was one', () => {
  const large = 'x'.repeat(131_072);
  const small = withoutTexts(repository({ mode: 'both', content: large }, large));
  expect(JSON.stringify(small).length).toBeLessThan(500);
  expect(small.spec).toEqual({ ...repository().spec, serviceFile: { mode: 'both' } });
  expect(small.metadata.annotations).toEqual({ other: 'a', [lastApplied]: '' });
});

test('removes a manifest without content too', () => {
  expect(withoutTexts(repository(undefined, 'manifest'))).toMatchObject({
    metadata: { annotations: { [lastApplied]: '' } },
    spec: repository().spec,
  });
});
