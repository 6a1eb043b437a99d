import { randomBytes } from 'node:crypto';
import type { KubeConfig } from '@kubernetes/client-node';
import { isNotFound } from '../../kubernetes/api-error.ts';
import { ClusterClient } from '../../kubernetes/client.ts';
import type { ClientOptions } from '../../kubernetes/client-options.ts';
import { loadKubeConfig } from '../../kubernetes/kube-config.ts';
import {
  CustomResourceDefinition,
  Namespace,
  type KubernetesObject,
  type ResourceType,
} from '../../kubernetes/resource-type.ts';

/** Returns the configuration of the API server under test; COPPICE_TEST_KUBECONFIG names its kubeconfig. */
export function testKubeConfig(): KubeConfig {
  const path = process.env['COPPICE_TEST_KUBECONFIG'];
  if (!path) throw new Error('set COPPICE_TEST_KUBECONFIG to the kubeconfig of a cluster that tests may write to');
  process.env['KUBECONFIG'] = path;
  return loadKubeConfig();
}

export function testClient(options: ClientOptions = {}): ClusterClient {
  return new ClusterClient(testKubeConfig(), { userAgent: 'api-server-tests', ...options });
}

export function randomName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}

/** Creates a namespace. @returns its name */
export async function createNamespace(client: ClusterClient): Promise<string> {
  const name = randomName('runtime-test');
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  return name;
}

/** Starts the namespace's deletion without waiting: a bare API server has no controller that completes it. */
export async function deleteNamespace(client: ClusterClient, name: string): Promise<void> {
  await client.delete(Namespace, { name }).catch(unlessNotFound);
}

export function unlessNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

export interface Widget extends KubernetesObject {
  spec?: { size?: number; color?: string | null; parts?: { name: string; count?: number }[] };
  status?: { state?: string; seen?: number };
}

/** Creates a kind for the test, with a status subresource; the items of `spec.parts` are identified by `name`. */
export async function createWidgetType(client: ClusterClient): Promise<ResourceType<Widget>> {
  const kind = `Widget${randomBytes(4).toString('hex')}`;
  const plural = `${kind.toLowerCase()}s`;
  const group = 'runtime-test.example.org';
  const string = { type: 'string' };
  const integer = { type: 'integer' };
  const parts = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: { type: 'object', required: ['name'], properties: { name: string, count: { ...integer, default: 1 } } },
  };
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { ...integer, minimum: 1 }, color: string, parts } },
      status: { type: 'object', properties: { state: string, seen: integer } },
    },
  };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural },
      versions: [
        { name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema: schema } },
      ],
    },
  };
  await client.create(CustomResourceDefinition, definition);
  const type: ResourceType<Widget> = { group, version: 'v1', kind, plural, namespaced: true };
  await eventually(() => client.list(type), `the API server serves ${plural}`);
  return type;
}

export async function deleteWidgetType(client: ClusterClient, { plural, group }: ResourceType): Promise<void> {
  await client.delete(CustomResourceDefinition, { name: `${plural}.${group}` }).catch(unlessNotFound);
}

/** Repeats the attempt until it does not throw, for at most 20 s. */
export async function eventually<T>(attempt: () => Promise<T> | T, what: string): Promise<T> {
  const end = Date.now() + 20_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw new Error(`gave up waiting until ${what}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
