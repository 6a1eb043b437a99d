import { Forbidden } from '../shared/errors.ts';

/** Who can register: everybody, addresses of some domains, or nobody (administrators add users). */
export interface RegistrationPolicy {
  mode: 'open' | 'domains' | 'closed';
  /** For `domains`; in lower case. */
  domains: readonly string[];
  /**
   * Whether registration verifies an address, which gives it access to the groups that name it. Only for installations
   * where nobody can register another person's address, such as a local cluster.
   */
  provesAddress: boolean;
}

/** Checks that an address can register. @param email in lower case @throws Forbidden */
export function requireAllowed({ mode, domains }: RegistrationPolicy, email: string): void {
  if (mode === 'closed') throw new Forbidden('registration is closed. Ask an administrator to add you');
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (mode === 'domains' && !domains.includes(domain)) {
    throw new Forbidden(
      `registration is open to addresses of ${domains.join(', ')} only. Use such an address, or ask an administrator to add you`,
    );
  }
}
