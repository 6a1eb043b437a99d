import { expect, test } from '@jest/globals';
import { ForwardAuth, type ForwardAuthOptions } from './forward-auth.ts';

const classOf = (name: string, controller: string, isDefault = false) => ({
  metadata: { name, ...(isDefault && { annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } }) },
  spec: { controller },
});
const traefik = classOf('traefik', 'traefik.io/ingress-controller', true);
const nginx = classOf('nginx', 'k8s.io/ingress-nginx');
const middleware = { accessMiddleware: 'coppice-system-coppice-access@kubernetescrd' };

function world(ingress: ForwardAuthOptions['ingress'], items: object[]) {
  let lists = 0;
  let at = 0;
  const list = () => {
    lists++;
    return Promise.resolve({ items });
  };
  const forwardAuth = new ForwardAuth({ client: { list } as never, ingress, now: () => new Date(at) });
  return { forwardAuth, lists: () => lists, pass: (ms: number) => (at += ms) };
}

test.each<[string, ForwardAuthOptions['ingress'], object[], string | undefined]>([
  ['the default class is of Traefik', middleware, [nginx, traefik], undefined],
  ['the named class is of Traefik', { ...middleware, className: 'traefik' }, [traefik], undefined],
  ['there is no middleware', {}, [traefik], 'has no Traefik middleware'],
  ['environments use Gateways', { ...middleware, parentRefs: [{ name: 'web' }] }, [traefik], 'are not supported'],
  ['the class is of another controller', { ...middleware, className: 'nginx' }, [nginx, traefik], 'is nginx (k8s.io'],
  ['the named class does not exist', { ...middleware, className: 'other' }, [traefik], 'is missing'],
  ['there is no default class', middleware, [nginx], 'is missing'],
])('reports whether access can be restricted: %s', async (_what, ingress, items, expected) => {
  const { forwardAuth } = world(ingress, items);
  const problem = await forwardAuth.problem();
  if (expected === undefined) expect(problem).toBeUndefined();
  else expect(problem).toContain(expected);
});

test('reads the classes once a minute', async () => {
  const { forwardAuth, lists, pass } = world(middleware, [traefik]);
  await forwardAuth.problem();
  pass(59_999);
  await forwardAuth.problem();
  expect(lists()).toBe(1);
  pass(1);
  await forwardAuth.problem();
  expect(lists()).toBe(2);
});
