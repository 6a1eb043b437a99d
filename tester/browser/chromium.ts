import type { Environments } from '../network/environments.ts';

/**
 * Chromium's arguments that let it reach an environment, at the address of the Ingress controller, and nothing else: no
 * other name has an address, an address counts as a name, and any port leads to the environments' one. It cannot be left
 * to DNS: Chromium takes *.localhost for this machine by itself.
 * @param environment what Environments.of() gives: redirects are held to it here alone, for Playwright's routes see none.
 * @param address of the Ingress controller.
 */
export function chromiumArguments(environment: Environments, address: string): string[] {
  const host = address.includes(':') ? `[${address}]` : address;
  const known = environment.hostPatterns.map((pattern) => `MAP ${pattern} ${host}:${environment.port}`);
  const rules = [...known, 'MAP * ~NOTFOUND'];
  return [
    `--host-resolver-rules=${rules.join(',')}`,
    '--no-proxy-server',
    // WebRTC and QUIC do not ask the resolver for addresses.
    '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--webrtc-ip-handling-policy=disable_non_proxied_udp',
    '--disable-quic',
    // The sandbox needs user namespaces, which Pod Security's level restricted does not give: docs/reference/tester.md.
    '--no-sandbox',
    '--disable-gpu',
    // Containers have 64 MiB of shared memory.
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
