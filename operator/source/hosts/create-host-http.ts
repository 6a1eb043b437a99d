import { createSend } from '../network/send.ts';
import { addressGuard } from '../network/addresses.ts';
import { HostHttp } from './host-http.ts';

/** Of a list: a page of 50 pull requests, each with as long a description as GitHub takes. */
const maxBytes = 16 * 1024 * 1024;

/** What Coppice may reach when it reads sources. */
export interface SourceLimits {
  allowedCidrs: readonly string[];
  ports: readonly number[];
  timeoutSeconds: number;
}

/** Speaks with Git hosts under the same rules as git does: addresses, ports and time. */
export function createHostHttp({ sources }: { sources: SourceLimits }, now: () => Date): HostHttp {
  const isAddressAllowed = addressGuard(sources.allowedCidrs);
  return new HostHttp({
    send: createSend({
      isAddressAllowed: (_, address) => isAddressAllowed(address),
      timeoutMs: sources.timeoutSeconds * 1000,
      maxBytes,
    }),
    ports: sources.ports,
    now,
  });
}
