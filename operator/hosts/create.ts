import type { OperatorConfig } from '../config.ts';
import { createSend } from '../http/send.ts';
import { addressGuard } from '../source/addresses.ts';
import { HostHttp } from './host-http.ts';

/** Of a list: a page of 50 pull requests, each with as long a description as GitHub takes. */
const maxBytes = 16 * 1024 * 1024;

/** Speaks with Git hosts under the same rules as git does: addresses, ports and time. */
export function createHostHttp({ sources }: Pick<OperatorConfig, 'sources'>, now: () => Date): HostHttp {
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
