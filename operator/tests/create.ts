import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { groupOfNamespace } from '../../crds/ids.ts';
import { environmentNamespace } from '../../crds/names.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import { testerClient } from '../../tester-client/client.ts';
import type { OperatorCaches } from '../caches.ts';
import { ownedLabels } from '../environment/owned-labels.ts';
import { testsPart } from '../environment/status-parts.ts';
import type { VersionStore } from '../environment/version-store.ts';
import type { OperatorParts } from '../parts.ts';
import { StatusWriter } from '../status-writer.ts';
import { TestsReconciler, type TestsParts } from './reconciler.ts';
import { isSameWish, needsLook } from './round.ts';
import { RunSecrets } from './run-secrets.ts';

/** Puts what has tests run together. */
export function createTestsReconciler({ client, caches, versions, secrets, now }: OperatorParts): TestsReconciler {
  const { environments } = caches;
  return new TestsReconciler({
    environments,
    testsOf: testsIn(versions),
    secrets: new RunSecrets(client),
    tester: testerClient({ url: secrets.TESTER_URL, tokenFile: secrets.TESTER_TOKEN_FILE }),
    statuses: new StatusWriter<Environment>(client, ENVIRONMENT, environments, testsPart),
    now,
  });
}

/** Looked at is what another build runs of, what is asked to be tested again, and whose tests are under way at a start. */
export function routeTests(
  { environments }: Pick<OperatorCaches, 'environments'>,
  tests: Pick<Controller, 'enqueue'>,
): void {
  environments.addHandler((type, environment, old) => {
    if (type === 'deleted' || !needsLook(environment)) return;
    if (!old || !isSameWish(environment, old)) tests.enqueue(keyOf(environment));
  });
}

/** What runs was planned as a version, which the environment's namespace keeps. */
function testsIn(versions: Pick<VersionStore, 'find'>): TestsParts['testsOf'] {
  return async ({ metadata: { namespace = '', name, uid = '' }, status }) => {
    const { namespaceUID = '', deployed } = status ?? {};
    if (deployed?.version === undefined) return undefined;
    const group = groupOfNamespace(namespace) ?? '';
    const place = {
      namespace: environmentNamespace({ group, name }),
      namespaceUid: namespaceUID,
      labels: ownedLabels({ group, name, uid }),
    };
    return (await versions.find(place, deployed.version))?.serviceFile.tests;
  };
}
