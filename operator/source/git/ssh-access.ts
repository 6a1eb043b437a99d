/** How one repository is reached over SSH. */
export interface SshAccess {
  /** In OpenSSH's format. Never in a log, an argument or an error. */
  privateKey: string;
  /** The key to register at the Git host; one line. */
  publicKey: string;
  /**
   * Returns the content of a known_hosts file with the keys of `alias`. If none are known, `ask` requests them from the
   * host, and its response is kept from then on.
   */
  knownHosts(alias: string, ask: () => Promise<string>): Promise<string>;
}
