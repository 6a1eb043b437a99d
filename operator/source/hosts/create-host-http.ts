import { createSend } from '../network/send.ts';
import { addressGuard } from '../network/addresses.ts';
import { HostHttp } from './host-http.ts';

/** Maximum size of a list: a page of 50 pull requests, each with a description of GitHub's maximum length. */
const maxBytes = 16 * 1024 * 1024;

/** Limits on what Coppice can connect to when it reads sources. */
export interface SourceLimits {
  allowedCidrs: readonly string[];
  ports: readonly number[];
  timeoutSeconds: number;
}

/** Creates an HTTP client for Git hosts, with the same limits on addresses, ports and time as git. */
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
