import { expect, test } from '@jest/globals';
import type { Namespace } from '../../../kubernetes/resource-type.ts';
import { lostLabels } from './lost-labels.ts';

const enforce = 'pod-security.kubernetes.io/enforce';
const revision = 'pod-security.kubernetes.io/enforce-version';
const namespace = (labels: Record<string, string>): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'x', labels },
});
const wanted = namespace({ owner: 'x', [enforce]: 'baseline' });

test.each<[string, Record<string, string>, Record<string, string | null> | undefined]>([
  ['all labels present', { owner: 'x', [enforce]: 'baseline' }, undefined],
  ['more than wanted', { owner: 'x', [enforce]: 'baseline', team: 'y' }, undefined],
  ['a stricter level', { owner: 'x', [enforce]: 'restricted' }, undefined],
  ['a looser level', { owner: 'x', [enforce]: 'privileged' }, { [enforce]: 'baseline' }],
  ['an unknown level', { owner: 'x', [enforce]: 'none' }, { [enforce]: 'baseline' }],
  ['no level', { owner: 'x' }, { [enforce]: 'baseline' }],
  ['another owner', { owner: 'y', [enforce]: 'baseline' }, { owner: 'x' }],
  ['the level as it once was', { owner: 'x', [enforce]: 'baseline', [revision]: 'v1.0' }, { [revision]: null }],
  ['the latest level', { owner: 'x', [enforce]: 'baseline', [revision]: 'latest' }, undefined],
])('%s', (_what, labels, expected) => {
  expect(lostLabels(wanted, namespace(labels))).toEqual(expected);
});
