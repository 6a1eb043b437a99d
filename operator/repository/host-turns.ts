import type { Repository } from '../../crds/repository.ts';
import { Slots } from '../source/slots.ts';
import { turnOf } from '../turns.ts';

/** Looks at once; the git that is left is for builds. A group has two of them, a host one. */
const mostLooks = 3;

/**
 * Lets repositories be looked at in turn, one at each host, whose groups take turns: one that hangs holds up neither the
 * others nor builds, and a group with many repositories or hosts no other group.
 */
export class HostTurns {
  readonly #slots = new Slots(mostLooks);

  /** Throws what `look` does. */
  run<T>(repository: Repository, look: () => Promise<T>): Promise<T> {
    return this.#slots.run(turnOf(repository), look);
  }
}
