import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { objectOf, renderObjects } from './render.ts';
import { everything } from './sample-values.ts';

const rulesSchema = z.array(
  z.object({
    apiGroups: z.array(z.string()),
    resources: z.array(z.string()),
    resourceNames: z.array(z.string()).optional(),
    verbs: z.array(z.string()),
  }),
);
type Rule = z.infer<typeof rulesSchema>[number];

/** What opens all the rest to who has it: other pods' insides, others' tokens, rights that one has not. */
const forbidden = {
  resources: ['pods/exec', 'pods/attach', 'pods/portforward', 'pods/ephemeralcontainers', 'serviceaccounts/token'],
  verbs: ['impersonate', 'escalate'],
};

/** What is wrong with a rule. */
function faults({ apiGroups, resources, resourceNames = [], verbs }: Rule): string[] {
  const named = [...apiGroups, ...resources, ...resourceNames, ...verbs];
  return [
    ...named.filter((name) => name.includes('*')),
    ...resources.filter((name) => forbidden.resources.includes(name)),
    ...verbs.filter((name) => forbidden.verbs.includes(name)),
    // A role may be bound by its name alone.
    ...(verbs.includes('bind') && resourceNames.length === 0 ? ['bind'] : []),
  ];
}

test('no role has a `*`, the way into a pod, or a right to take more rights', async () => {
  const objects = await renderObjects(everything);
  const roles = objects.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
  const names = roles.map(({ metadata }) => metadata.name);
  expect(names).toEqual(expect.arrayContaining(['coppice-operator', 'coppice-api', 'coppice-group-member']));
  const found = roles.flatMap((role) =>
    rulesSchema
      .parse(role['rules'])
      .flatMap(faults)
      .map((fault) => `${role.metadata.name}: ${fault}`),
  );
  expect(found).toEqual([]);
});

test('the API can get each object of what it changes or deletes, because it first reads who owns it', async () => {
  const roles = (await renderObjects(everything)).filter(
    ({ kind, metadata }) => kind.endsWith('Role') && /^coppice-(api|group-api)$/.test(metadata.name),
  );
  const rules = roles.flatMap((role) => rulesSchema.parse(role['rules']));
  const changing = rules.filter(({ verbs }) => verbs.includes('patch') || verbs.includes('delete'));
  expect(changing.flatMap(({ resources }) => resources)).toEqual(
    expect.arrayContaining(['groups', 'repositories', 'environments', 'reusableenvironments', 'secrets']),
  );
  expect(changing.filter(({ verbs }) => !verbs.includes('get'))).toEqual([]);
});

test('operator and API have a role each, bound to nobody else', async () => {
  const bindings = (await renderObjects(everything)).filter(({ kind }) => /^(Cluster)?RoleBinding$/.test(kind));
  const bindingSchema = z.looseObject({
    roleRef: z.looseObject({ name: z.string() }),
    subjects: z.array(z.looseObject({ kind: z.literal('ServiceAccount'), name: z.string() })).length(1),
  });
  for (const { roleRef, subjects } of bindings.map((one) => bindingSchema.parse(one))) {
    const [component] = /^coppice-(operator|api)/.exec(roleRef.name) ?? [];
    expect(subjects.map(({ name }) => name)).toEqual([component]);
  }
  expect(bindings.length).toBeGreaterThan(2);
});

test('members request, and the built-in roles have no status and no Group to write', async () => {
  const rolesOf = async (values: object) => {
    const roles = (await renderObjects(values)).filter(({ kind }) => kind === 'ClusterRole');
    return (name: string) => rulesSchema.parse(objectOf(roles, 'ClusterRole', name)['rules']);
  };
  const writes = (rules: Rule[]) =>
    rules
      .filter(({ verbs }) => verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)))
      .flatMap(({ resources, verbs }) => resources.map((resource) => `${resource}: ${verbs.join(' ')}`));
  const ofChart = await rolesOf(everything);
  expect(writes(ofChart('coppice-group-member'))).toEqual(['environments: patch']);
  expect(writes(ofChart('coppice-view'))).toEqual([]);
  expect(writes(ofChart('coppice-edit'))).toEqual([
    'repositories: create update patch delete deletecollection',
    'environments: create update patch delete deletecollection',
    'reusableenvironments: delete deletecollection',
  ]);
  const withoutPolicy = await rolesOf({ ...everything, admissionPolicy: { enabled: false } });
  expect(writes(withoutPolicy('coppice-group-member'))).toEqual([]);
});

test('members read in environments, and nothing where the value says so', async () => {
  const role = 'coppice-environment-member';
  const rules = rulesSchema.parse(objectOf(await renderObjects(everything), 'ClusterRole', role)['rules']);
  expect([...new Set(rules.flatMap(({ verbs }) => verbs))]).toEqual(['get', 'list', 'watch']);
  const resources = rules.flatMap((rule) => rule.resources);
  expect(resources).toEqual(expect.arrayContaining(['pods', 'pods/log', 'services', 'events', 'jobs']));
  expect(resources.filter((one) => ['secrets', 'configmaps'].includes(one))).toEqual([]);
  const without = { ...everything, environments: { ...everything.environments, membersReadPods: false } };
  const names = (await renderObjects(without)).map(({ metadata }) => metadata.name);
  expect(names).toContain('coppice-group-member');
  expect(names).not.toContain(role);
});

test.each<[Partial<Rule>]>([
  [{ apiGroups: ['*'] }],
  [{ resources: ['pods/*'] }],
  [{ resources: ['pods/exec'] }],
  [{ verbs: ['escalate'] }],
  [{ verbs: ['bind'] }],
])('%j is noticed', (part) => {
  expect(faults({ apiGroups: [''], resources: ['pods'], verbs: ['get'], ...part })).toHaveLength(1);
});
