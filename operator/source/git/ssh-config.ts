import { hostAlias, type SshOrigin } from '../network/ssh-origin.ts';

/** Names of the files for one origin over SSH, in addition to the git configuration. */
export const SSH_FILES = { config: 'ssh_config', privateKey: 'ssh-privatekey', knownHosts: 'known_hosts' } as const;

/**
 * Returns ssh's whole configuration for one origin, whose files are in `folder`: it connects only to the pinned
 * address, with the repository's own key, and only if the host has a known key. It uses neither this machine's user,
 * agent and configuration, nor forwarding.
 */
export function sshConfig({ user, host, port }: SshOrigin, address: string, folder: string): string {
  const options: Record<string, string | number> = {
    HostName: address,
    HostKeyAlias: hostAlias({ host, port }),
    Port: port,
    User: user,
    IdentityFile: `"${folder}/${SSH_FILES.privateKey}"`,
    UserKnownHostsFile: `"${folder}/${SSH_FILES.knownHosts}"`,
    GlobalKnownHostsFile: '/dev/null',
    StrictHostKeyChecking: 'yes',
    UpdateHostKeys: 'no',
    VerifyHostKeyDNS: 'no',
    CheckHostIP: 'no',
    CanonicalizeHostname: 'no',
    IdentitiesOnly: 'yes',
    IdentityAgent: 'none',
    AddKeysToAgent: 'no',
    PKCS11Provider: 'none',
    PreferredAuthentications: 'publickey',
    BatchMode: 'yes',
    ConnectTimeout: 10,
    ConnectionAttempts: 1,
    ServerAliveInterval: 10,
    ServerAliveCountMax: 2,
    ProxyCommand: 'none',
    ProxyJump: 'none',
    ControlMaster: 'no',
    ControlPath: 'none',
    ClearAllForwardings: 'yes',
    ForwardAgent: 'no',
    ForwardX11: 'no',
    PermitLocalCommand: 'no',
    Tunnel: 'no',
    RequestTTY: 'no',
    // Suppresses the banners that hosts send at each login.
    LogLevel: 'ERROR',
  };
  return ['Host *', ...Object.entries(options).map(([name, value]) => `\t${name} ${value}`), ''].join('\n');
}
