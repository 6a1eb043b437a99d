import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { objectOf, renderObjects } from './render.ts';
import { ALL_VALUES, GATEWAY_VALUES } from './sample-values.ts';

const rulesSchema = z.array(
  z.object({
    apiGroups: z.array(z.string()),
    resources: z.array(z.string()),
    resourceNames: z.array(z.string()).optional(),
    verbs: z.array(z.string()),
  }),
);
type Rule = z.infer<typeof rulesSchema>[number];

/** Permissions that give access to everything else: into other pods, to tokens of others, or to more permissions. */
const forbidden = {
  resources: ['pods/exec', 'pods/attach', 'pods/portforward', 'pods/ephemeralcontainers', 'serviceaccounts/token'],
  verbs: ['impersonate', 'escalate'],
};

/** Returns the parts of a rule that no role of the chart may have: wildcards, and forbidden resources and verbs. */
function faults({ apiGroups, resources, resourceNames = [], verbs }: Rule): string[] {
  const named = [...apiGroups, ...resources, ...resourceNames, ...verbs];
  return [
    ...named.filter((name) => name.includes('*')),
    ...resources.filter((name) => forbidden.resources.includes(name)),
    ...verbs.filter((name) => forbidden.verbs.includes(name)),
    // A rule can permit binding a role by its name.
    ...(verbs.includes('bind') && resourceNames.length === 0 ? ['bind'] : []),
  ];
}

test('has no role with `*` or permission to escalate, and one with access into pods', async () => {
  const objects = await renderObjects(ALL_VALUES);
  const roles = objects.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
  const names = roles.map(({ metadata }) => metadata.name);
  expect(names).toEqual(expect.arrayContaining(['coppice-operator', 'coppice-api', 'coppice-group-member']));
  const found = roles.flatMap((role) =>
    rulesSchema
      .parse(role['rules'])
      .flatMap(faults)
      .map((fault) => `${role.metadata.name}: ${fault}`),
  );
  // Bound in the namespaces of trusted environments only (kinds/environment/namespace).
  expect(found).toEqual(['pods/exec', 'pods/portforward'].map((fault) => `coppice-environment-api: ${fault}`));
});

test('has no role with access into pods while shells are turned off', async () => {
  const environments = { ...ALL_VALUES.environments, shell: { enabled: false } };
  const names = (await renderObjects({ ...ALL_VALUES, environments })).map(({ metadata }) => metadata.name);
  expect(names).toContain('coppice-group-api');
  expect(names.filter((name) => /environment-api|api-connections/.test(name))).toEqual([]);
});

test('lets the API get each object that it changes or deletes, because it first reads the owner', async () => {
  const roles = (await renderObjects(ALL_VALUES)).filter(
    ({ kind, metadata }) => kind.endsWith('Role') && /^coppice-(api|group-api)$/.test(metadata.name),
  );
  const rules = roles.flatMap((role) => rulesSchema.parse(role['rules']));
  const changing = rules.filter(({ verbs }) => verbs.includes('patch') || verbs.includes('delete'));
  expect(changing.flatMap(({ resources }) => resources)).toEqual(
    expect.arrayContaining(['groups', 'repositories', 'environments', 'reusableenvironments', 'secrets']),
  );
  expect(changing.filter(({ verbs }) => !verbs.includes('get'))).toEqual([]);
});

test('lets the check of the cluster list, and get the Gateways of its routes, and nothing else', async () => {
  const rulesOf = async (values: object) =>
    rulesSchema.parse(objectOf(await renderObjects(values), 'ClusterRole', 'coppice-doctor')['rules']);
  expect((await rulesOf(ALL_VALUES)).flatMap(({ verbs }) => verbs)).toEqual(['list', 'list', 'list', 'list']);
  expect((await rulesOf(GATEWAY_VALUES)).at(-1)).toMatchObject({ resourceNames: ['web', 'inner'], verbs: ['get'] });
});

test('binds a role each to operator and API, one to the check of the cluster, and to nobody else', async () => {
  const bindings = (await renderObjects(ALL_VALUES)).filter(({ kind }) => /^(Cluster)?RoleBinding$/.test(kind));
  const bindingSchema = z.looseObject({
    roleRef: z.looseObject({ name: z.string() }),
    subjects: z.array(z.looseObject({ kind: z.literal('ServiceAccount'), name: z.string() })),
  });
  for (const { roleRef, subjects } of bindings.map((one) => bindingSchema.parse(one))) {
    const names = subjects.map(({ name }) => name);
    const [component] = /^coppice-(operator|api)/.exec(roleRef.name) ?? [];
    if (roleRef.name === 'coppice-doctor') expect(names).toEqual(['coppice-operator', 'coppice-doctor']);
    else expect(names).toEqual([component]);
  }
  expect(bindings.length).toBeGreaterThan(2);
});

test('lets members make requests, and the built-in roles write neither status nor Groups', async () => {
  const rolesOf = async (values: object) => {
    const roles = (await renderObjects(values)).filter(({ kind }) => kind === 'ClusterRole');
    return (name: string) => rulesSchema.parse(objectOf(roles, 'ClusterRole', name)['rules']);
  };
  const writes = (rules: Rule[]) =>
    rules
      .filter(({ verbs }) => verbs.some((verb) => !['get', 'list', 'watch'].includes(verb)))
      .flatMap(({ resources, verbs }) => resources.map((resource) => `${resource}: ${verbs.join(' ')}`));
  const ofChart = await rolesOf(ALL_VALUES);
  expect(writes(ofChart('coppice-group-member'))).toEqual(['environments: patch']);
  expect(writes(ofChart('coppice-view'))).toEqual([]);
  expect(writes(ofChart('coppice-edit'))).toEqual([
    'repositories: create update patch delete deletecollection',
    'environments: create update patch delete deletecollection',
    'reusableenvironments: delete deletecollection',
  ]);
  const withoutPolicy = await rolesOf({ ...ALL_VALUES, admissionPolicy: { enabled: false } });
  expect(writes(withoutPolicy('coppice-group-member'))).toEqual([]);
});

test('lets members read in environments, unless the value forbids it', async () => {
  const role = 'coppice-environment-member';
  const rules = rulesSchema.parse(objectOf(await renderObjects(ALL_VALUES), 'ClusterRole', role)['rules']);
  expect([...new Set(rules.flatMap(({ verbs }) => verbs))]).toEqual(['get', 'list', 'watch']);
  const resources = rules.flatMap((rule) => rule.resources);
  expect(resources).toEqual(expect.arrayContaining(['pods', 'pods/log', 'services', 'events', 'jobs']));
  expect(resources.filter((one) => ['secrets', 'configmaps'].includes(one))).toEqual([]);
  const without = { ...ALL_VALUES, environments: { ...ALL_VALUES.environments, membersReadPods: false } };
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
])('detects %j', (part) => {
  expect(faults({ apiGroups: [''], resources: ['pods'], verbs: ['get'], ...part })).toHaveLength(1);
});
