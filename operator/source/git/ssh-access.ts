/** How one repository is reached over SSH. */
export interface SshAccess {
  /** In OpenSSH's own form. Never in a log, an argument or an error. */
  privateKey: string;
  /** What the Git host must let in; one line. */
  publicKey: string;
  /**
   * The content of a known_hosts file that holds the keys of `alias`. Where none are known yet, `ask` asks the host
   * itself, and what it says is kept for ever after.
   */
  knownHosts(alias: string, ask: () => Promise<string>): Promise<string>;
}
