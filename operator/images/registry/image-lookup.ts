import { AddressNotAllowedError } from '../../source/network/send.ts';

/**
 * Why a registry returns no digest. `absent`: it has no such image; `denied`: it does not say, as many do not for images
 * that do not exist; `failing`: it limits requests, or does not respond; `private`: Coppice does not connect to it.
 */
export type Absence = 'absent' | 'denied' | 'failing' | 'private';

export type ImageLookup = { digest: string } | { absence: Absence };

/** A registry's response that is not the image. */
export class RegistryStatusError extends Error {
  override readonly name = 'RegistryStatusError';
  readonly status: number;

  constructor(status: number, image: string) {
    super(`the registry responded with status ${status} for ${image}`);
    this.status = status;
  }
}

/**
 * Returns why there is no image. `failures`: the error of each mirror and, at the end, of the registry itself; if that
 * cannot be reached, as from a closed network, a mirror decides.
 */
export function absenceOf(failures: readonly unknown[]): { absence: Absence } {
  const own = absenceIn(failures.at(-1));
  const mirrors = failures.slice(0, -1).map(absenceIn);
  const isUnreachable = own === 'private' || !(failures.at(-1) instanceof RegistryStatusError);
  return { absence: isUnreachable && mirrors.includes('absent') ? 'absent' : own };
}

function absenceIn(failure: unknown): Absence {
  if (failure instanceof RegistryStatusError) {
    if (failure.status === 404) return 'absent';
    return failure.status === 401 || failure.status === 403 ? 'denied' : 'failing';
  }
  return failure instanceof Error && failure.cause instanceof AddressNotAllowedError ? 'private' : 'failing';
}
