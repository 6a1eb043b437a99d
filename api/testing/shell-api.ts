import type { Environment } from '../../crds/environment.ts';
import { PodStreams } from '../../kubernetes/pod-streams.ts';
import type { KubernetesObject } from '../../kubernetes/resource-type.ts';
import { FakePodServer, type PodConnection } from '../../kubernetes/testing/fake-pod-server.ts';
import type { AppOptions } from '../app-options.ts';
import { TestApi } from './test-api.ts';

export type { PodConnection };

/** An API with shells, in which alice has the environment acme.shop-main with the service web. */
export interface ShellApi {
  api: TestApi;
  /** What the API connects to instead of pods. */
  server: FakePodServer;
  /** The pods of all services. */
  pods: KubernetesObject[];
  token: string;
}

/** @param onList called when the API looks for the pods of a service */
export async function startShellApi(
  shell: Partial<AppOptions['config']['shell']> = {},
  onList: () => void = () => undefined,
): Promise<ShellApi> {
  const server = await FakePodServer.start();
  const pods = [runningPod('web-1')];
  const list = () => {
    onList();
    return Promise.resolve({ items: pods, resourceVersion: '1' });
  };
  const config = { shell: { isEnabled: true, allowsForks: false, idleMs: 60_000, ...shell } };
  const unused = [undefined, undefined, undefined] as const;
  const streams = new PodStreams(server.config, 'test');
  // The list has the type that the caller asks for.
  const reads = { list: list as never };
  const api = new TestApi(config, undefined, { checkMs: 500 }, ...unused, reads, streams);
  api.now = Date.now();
  const { token } = await api.login('alice@example.com');
  api.addGroup('acme', ['alice@example.com', 'carol@example.com']);
  api.addRepository('acme', 'shop');
  const status: Environment['status'] = {
    ...{ state: 'built', namespaceUID: 'ns-1' },
    services: [{ name: 'web', ready: true }],
  };
  api.addEnvironment('acme', 'shop-main', 'shop', status);
  return { api, server, pods, token };
}

function runningPod(name: string): KubernetesObject & { status: object } {
  const containerStatuses = [{ name: 'web', state: { running: {} } }];
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, status: { containerStatuses } };
}
