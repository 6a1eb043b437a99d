import { hostAlias, type SshOrigin } from '../network/ssh-origin.ts';

/** The files of one origin over SSH, beside the configuration itself. */
export const SSH_FILES = { config: 'ssh_config', privateKey: 'ssh-privatekey', knownHosts: 'known_hosts' } as const;

/**
 * The whole configuration of ssh for one origin, whose files lie in `folder`: to the pinned address alone, with the
 * repository's own key, and only where the host shows a key that is known. Of this machine's user, agent and
 * configuration nothing is used, and nothing is forwarded.
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
    // Without what a host likes to tell at each login.
    LogLevel: 'ERROR',
  };
  return ['Host *', ...Object.entries(options).map(([name, value]) => `\t${name} ${value}`), ''].join('\n');
}
