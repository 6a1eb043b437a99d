import type { Environment } from '../crds/environment.ts';
import type { Repository } from '../crds/repository.ts';
import { repositoryServer } from '../crds/repository-server.ts';
import type { Informer } from '../kubernetes/informer.ts';
import { objectKey } from '../kubernetes/resource-type.ts';
import type { Turn } from '../kubernetes/turns.ts';
import { parseSshOrigin } from './source/ssh-origin.ts';

/** Groups take turns, and within a group the hosts of its repositories. */
export function turnOf({ metadata, spec }: Repository): Turn {
  return { party: metadata.namespace ?? '', key: hostOf(repositoryServer(spec)) };
}

export interface TurnCaches {
  environments: Pick<Informer<Environment>, 'get'>;
  repositories: Pick<Informer<Repository>, 'get'>;
}

/** By what the workers take the keys of Repositories and of Environments: of a host, each group has a part of its own. */
export function workTurns({ environments, repositories }: TurnCaches) {
  const turn = (key: string, repository: Repository | undefined): Turn => {
    const [party = ''] = key.split('/');
    return { party, key: `${party} ${repository ? turnOf(repository).key : ''}` };
  };
  return {
    ofRepository: (key: string) => turn(key, repositories.get(key)),
    ofEnvironment: (key: string) => {
      const { metadata, spec } = environments.get(key) ?? {};
      return turn(key, spec && repositories.get(objectKey(metadata?.namespace, spec.repository)));
    },
  };
}

/** Whatever the scheme and port: what hangs is a machine. */
function hostOf(server: string): string {
  const ssh = parseSshOrigin(server);
  if (ssh) return ssh.host;
  return URL.canParse(server) ? new URL(server).hostname : server;
}
