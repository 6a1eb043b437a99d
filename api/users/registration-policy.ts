import { Forbidden } from '../http/errors.ts';

/** Who can register: everybody, addresses of certain domains, or nobody (an administrator adds users). */
export interface RegistrationPolicy {
  mode: 'open' | 'domains' | 'closed';
  /** In lower case; for `domains`. */
  domains: readonly string[];
  /**
   * Whether an address counts as proven once it is registered: only where nobody can register another's, such as on a
   * machine of one's own. Members that a Group names then see it at once.
   */
  provesAddress: boolean;
}

/** @param email in lower case. @throws Forbidden */
export function requireAllowed({ mode, domains }: RegistrationPolicy, email: string): void {
  if (mode === 'closed') throw new Forbidden('registration is closed. Ask an administrator to add you');
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (mode === 'domains' && !domains.includes(domain)) {
    throw new Forbidden(`registration is open to addresses of ${domains.join(', ')} only`);
  }
}
