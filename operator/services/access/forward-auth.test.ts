import { expect, test } from '@jest/globals';
import type { ResourceType } from '../../../kubernetes/resource-type.ts';
import type { AccessEnforcement } from '../objects/access-enforcement.ts';
import { ForwardAuth, type ForwardAuthOptions } from './forward-auth.ts';

const classOf = (name: string, controller: string, isDefault = false) => ({
  metadata: { name, ...(isDefault && { annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } }) },
  spec: { controller },
});
const traefik = classOf('traefik', 'traefik.io/ingress-controller', true);
const nginx = classOf('nginx', 'k8s.io/ingress-nginx');
const by = (enforcement: AccessEnforcement) => ({ enforcement });
const byTraefik = by({ by: 'traefik', middleware: 'coppice-system-coppice-access@kubernetescrd' });
const byNginx = by({ by: 'ingress-nginx', host: 'coppice-access.coppice-system.svc' });
const byGateway = by({ by: 'traefik-gateway', forwardAuth: {} });
/** The namespace of an environment whose label has a hash. */
const namespace = 'env-page-main-acme-0a1b2c3d4e5f';
const parentRefs = [{ name: 'web', namespace: 'traefik' }];

function world(
  ingress: ForwardAuthOptions['ingress'],
  items: object[],
  controllerName = 'traefik.io/gateway-controller',
) {
  let lists = 0;
  let at = 0;
  const list = () => {
    lists++;
    return Promise.resolve({ items });
  };
  const found: Record<string, object> = {
    web: { spec: { gatewayClassName: 'own' } },
    lost: { spec: { gatewayClassName: 'none' } },
    own: { spec: { controllerName } },
  };
  const find = (_type: ResourceType, { name }: { name: string }) => Promise.resolve(found[name]);
  const forwardAuth = new ForwardAuth({ client: { list, find } as never, ingress, now: () => new Date(at) });
  return { forwardAuth, lists: () => lists, pass: (ms: number) => (at += ms) };
}

test.each<[string, ForwardAuthOptions['ingress'], object[], string | undefined]>([
  ['the default class is of Traefik', byTraefik, [nginx, traefik], undefined],
  ['the named class is of Traefik', { ...byTraefik, className: 'traefik' }, [traefik], undefined],
  ['the named class is of ingress-nginx', { ...byNginx, className: 'nginx' }, [nginx, traefik], undefined],
  ['the default class is not of ingress-nginx', byNginx, [nginx, traefik], 'is traefik (traefik.io'],
  ['nothing enforces it', {}, [traefik], 'nothing enforces it at Ingresses'],
  ['a middleware of Ingresses, and Gateways', { ...byTraefik, parentRefs }, [traefik], 'enforces it at Gateways'],
  ['ingress-nginx, and Gateways', { ...byNginx, parentRefs }, [nginx], 'enforces it at Gateways'],
  ['a middleware of Gateways, and Ingresses', byGateway, [traefik], 'nothing enforces it at Ingresses'],
  ['the class is of another controller', { ...byTraefik, className: 'nginx' }, [nginx, traefik], 'is nginx (k8s.io'],
  ['the named class does not exist', { ...byTraefik, className: 'other' }, [traefik], 'is missing'],
  ['there is no default class', byTraefik, [nginx], 'is missing'],
  ['the Gateway is of Traefik', { ...byGateway, parentRefs }, [], undefined],
  ['there is no Gateway', { ...byGateway, parentRefs: [{ name: 'x', namespace: 'y' }] }, [], 'y/x is missing'],
  [
    'a Gateway has no class',
    { ...byGateway, parentRefs: [...parentRefs, { name: 'lost', namespace: 'y' }] },
    [],
    'none is',
  ],
])('reports whether access can be restricted: %s', async (_what, ingress, items, expected) => {
  const { forwardAuth } = world(ingress, items);
  const problem = await forwardAuth.problem(namespace);
  if (expected === undefined) expect(problem).toBeUndefined();
  else expect(problem).toContain(expected);
});

test('refuses the Gateway of another controller', async () => {
  const { forwardAuth } = world({ ...byGateway, parentRefs }, [], 'example.com/gateway');
  expect(await forwardAuth.problem(namespace)).toContain('the class own is of example.com/gateway');
});

test('refuses environments whose middleware Traefik does not find at Gateways, and no others', async () => {
  const plain = 'env-page-main--acme';
  expect(await world({ ...byGateway, parentRefs }, []).forwardAuth.problem(plain)).toContain('"--" in their name');
  expect(await world(byTraefik, [traefik]).forwardAuth.problem(plain)).toBeUndefined();
});

test('reads the classes once a minute', async () => {
  const { forwardAuth, lists, pass } = world(byTraefik, [traefik]);
  await forwardAuth.problem(namespace);
  pass(59_999);
  await forwardAuth.problem(namespace);
  expect(lists()).toBe(1);
  pass(1);
  await forwardAuth.problem(namespace);
  expect(lists()).toBe(2);
});
