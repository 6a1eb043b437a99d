import { expect, test } from '@jest/globals';
import { secretRefusal } from './named-secret.ts';

const ownedBy = (kind: string, uid: string) => ({ apiVersion: 'coppice.dev/v1alpha1', kind, name: 'shop', uid });
const shop = { kind: 'Repository', uid: 'uid-1' };

test.each<[string, string, ReturnType<typeof ownedBy>[] | undefined, string | undefined]>([
  ['created manually', 'token', undefined, undefined],
  ['created manually, with any name', 'webhook-token', [], undefined],
  ["another operator's", 'token', [ownedBy('ExternalSecret', 'uid-9')], undefined],
  ['its own', 'token', [ownedBy('Repository', 'uid-1')], undefined],
  ["another Repository's", 'token', [ownedBy('Repository', 'uid-2')], 'for the Repository shop alone'],
  ["a Group's", 'token', [ownedBy('Group', 'uid-3')], 'for the Group shop alone'],
  ['of another kind by the same UID', 'token', [ownedBy('Group', 'uid-1')], 'for the Group shop alone'],
  ['its own and another one', 'token', [ownedBy('Repository', 'uid-2'), ownedBy('Repository', 'uid-1')], undefined],
  ['its own key for SSH', 'ssh-shop', [ownedBy('Repository', 'uid-1')], 'reserved for Coppice'],
  ['the runs of tests', 'tests-shop', [ownedBy('Environment', 'uid-4')], 'reserved for Coppice'],
  ["another one's webhook", 'webhook-x', [ownedBy('Repository', 'uid-2')], 'reserved for Coppice'],
])('%s', (_what, name, ownerReferences, refusal) => {
  const answer = secretRefusal({ metadata: { name, ownerReferences } }, shop);
  if (refusal === undefined) expect(answer).toBeUndefined();
  else expect(answer).toContain(refusal);
});

test('treats a namer without a UID as the owner of nothing', () => {
  const secret = { metadata: { name: 'token', ownerReferences: [ownedBy('Repository', 'uid-1')] } };
  expect(secretRefusal(secret, { kind: 'Repository', uid: undefined })).toBeDefined();
});
