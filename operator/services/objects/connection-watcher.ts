import type { Pod } from '../../../kubernetes/resource-type.ts';

type Container = NonNullable<Pod['spec']>['containers'][number];

/** Name of the container that lists a pod's connections. */
export const WATCHER_NAME = 'coppice-connections';

const intervalSeconds = 5;

/**
 * Returns the container that lists who is connected to these ports of its pod: visitors whose connections were opened
 * past the waker, such as a WebSocket or a download. All containers of a pod share their network, so it needs no
 * privileges. It writes a line when the list changes: the addresses as in /proc/net/tcp.
 */
export function connectionWatcher(image: string, ports: readonly number[]): Container {
  const hex = ports.map((port) => port.toString(16).toUpperCase().padStart(4, '0'));
  return {
    name: WATCHER_NAME,
    image,
    command: ['/bin/sh', '-c', script, 'watch', ` ${hex.join(' ')} `],
    resources: {
      requests: { cpu: '1m', memory: '4Mi', 'ephemeral-storage': '1Mi' },
      limits: { memory: '32Mi', 'ephemeral-storage': '16Mi' },
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      runAsNonRoot: true,
      runAsUser: watcherUser,
      runAsGroup: watcherUser,
      capabilities: { drop: ['ALL'] },
    },
  };
}

const watcherUser = 10_001;

/** State 01 is an established connection; the second column is the pod's own end, the third the other one. */
const script = `trap 'exit 0' TERM
last=-
while :; do
  now=$(awk -v ports="$1" '$4 == "01" { split($2, own, ":"); split($3, other, ":"); if (index(ports, " " own[2] " ")) print other[1] }' /proc/net/tcp /proc/net/tcp6 2>/dev/null | sort -u | tr '\\n' ' ')
  if [ "$now" != "$last" ]; then printf 'connected: %s\\n' "$now"; last=$now; fi
  sleep ${intervalSeconds} & wait $!
done`;

/** Returns the addresses in a line of the watcher; undefined for any other line. */
export function connectedAddresses(line: string): string[] | undefined {
  const [prefix, ...words] = line.trim().split(' ');
  const isList = prefix === 'connected:' && words.every((word) => /^(?:[0-9A-F]{8}|[0-9A-F]{32})$/.test(word));
  return isList ? words.map(addressOf) : undefined;
}

/** Returns the address of a kernel's hexadecimal text: 32-bit words in the byte order of the machine, little-endian. */
function addressOf(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => (word.match(/../g) ?? []).reverse().map((byte) => parseInt(byte, 16)));
  const isMapped = bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255;
  if (bytes.length === 4 || isMapped) return bytes.slice(-4).join('.');
  const groups = Array.from({ length: 8 }, (_none, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${groups.join(':')}]/`).hostname.slice(1, -1);
}
