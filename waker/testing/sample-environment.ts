import type { KnownEnvironment } from '../../waker-protocol/messages.ts';

/** Returns a sleeping environment at shop.example, with the given fields. */
export function sampleEnvironment(given: Partial<KnownEnvironment> = {}): KnownEnvironment {
  return {
    key: 'group-a/shop',
    id: 'a.shop',
    mode: 'asleep',
    wakeOn: 'visit',
    panelUrl: 'https://coppice.example/environments/a.shop',
    hosts: { 'shop.example': [{ path: '/', service: 'web', port: 80 }] },
    services: [{ name: 'web', ready: false }],
    backends: { web: [] },
    ...given,
  };
}
