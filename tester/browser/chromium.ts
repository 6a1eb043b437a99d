import type { Environments } from '../network/environments.ts';

/**
 * Returns Chromium's arguments that restrict it to an environment, at the Ingress controller's address: no other name
 * resolves, an IP address counts as a name, and every port is mapped to the environments' port. DNS cannot enforce
 * this, because Chromium resolves *.localhost to this machine itself.
 * @param environment result of Environments.of(); only these arguments restrict redirects, which Playwright's routes do
 * not see
 * @param address of the Ingress controller
 */
export function chromiumArguments(environment: Environments, address: string): string[] {
  const host = address.includes(':') ? `[${address}]` : address;
  const known = environment.hostPatterns.map((pattern) => `MAP ${pattern} ${host}:${environment.port}`);
  const rules = [...known, 'MAP * ~NOTFOUND'];
  return [
    `--host-resolver-rules=${rules.join(',')}`,
    '--no-proxy-server',
    // WebRTC and QUIC bypass the resolver rules.
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-quic',
    // The sandbox needs user namespaces, which Pod Security's level restricted does not permit:
    // docs/reference/tester.md.
    '--no-sandbox',
    '--disable-gpu',
    // Containers have only 64 MiB of shared memory.
    '--disable-dev-shm-usage',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--metrics-recording-only',
    '--no-pings',
    '--mute-audio',
    '--js-flags=--max-old-space-size=512',
  ];
}
