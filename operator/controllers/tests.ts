import { ENVIRONMENT, type Environment } from '../../crds/environment.ts';
import { groupOfNamespace } from '../../crds/ids.ts';
import { environmentNamespace } from '../../crds/environment-address.ts';
import type { Controller } from '../../kubernetes/controller.ts';
import { keyOf } from '../../kubernetes/resource-type.ts';
import { testerClient } from '../../tester-client/client.ts';
import { ownedLabels } from '../kinds/environment/scope/owned-labels.ts';
import { testsPart } from '../kinds/environment/status/status-parts.ts';
import type { RevisionStore } from '../kinds/environment/revision/revision-store.ts';
import type { OperatorContext } from './context.ts';
import { testHeaders } from '../services/access/test-headers.ts';
import { StatusWriter } from '../shared/status-writer.ts';
import { TestsReconciler, type TestsReconcilerOptions } from '../reports/environment-tests/reconciler.ts';
import { isSameRequest, needsReconcile } from '../reports/environment-tests/round.ts';
import { RunSecrets } from '../reports/environment-tests/run-secrets.ts';
import { createController } from './controller.ts';

/** Creates the controller that runs the tests of environments. */
export function testsController(context: OperatorContext): Controller {
  const { client, caches, revisions, flows, secrets, accessKeys, now } = context;
  const { environments } = caches;
  const reconciler = new TestsReconciler({
    environments,
    flows,
    testsOf: testsIn(revisions),
    headersFor: (environment) => testHeaders(environment, accessKeys.keys(), now()),
    secrets: new RunSecrets(client),
    tester: testerClient({ url: secrets.TESTER_URL, tokenFile: secrets.TESTER_TOKEN_FILE }),
    statuses: new StatusWriter<Environment>(client, ENVIRONMENT, environments, testsPart),
    now,
  });
  const flowOf = (key: string) => flows.ofEnvironment(key);
  const controller = createController(context, { name: 'tests', reconciler, workers: 4, flowOf });
  // Requeues when another build is deployed, when tests are requested again, when the services of a woken environment
  // run, and at a start of the operator while tests are running.
  environments.addHandler((type, environment, old) => {
    if (type === 'deleted' || !needsReconcile(environment)) return;
    if (!old || !isSameRequest(environment, old)) controller.enqueue(keyOf(environment));
  });
  return controller;
}

/** Returns the tests of the deployed revision, which is stored in the environment's namespace. */
function testsIn(revisions: Pick<RevisionStore, 'find'>): TestsReconcilerOptions['testsOf'] {
  return async ({ metadata: { namespace = '', name, uid = '' }, status }) => {
    const { namespaceUID = '', deployed } = status ?? {};
    if (deployed?.revision === undefined) return undefined;
    const group = groupOfNamespace(namespace) ?? '';
    const location = {
      namespace: environmentNamespace({ group, name }),
      namespaceUid: namespaceUID,
      labels: ownedLabels({ group, name, uid }),
    };
    return (await revisions.find(location, deployed.revision))?.serviceFile.tests;
  };
}
