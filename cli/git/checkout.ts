import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Remote and ref of a git checkout. */
export interface Checkout {
  /** Address of the remote that the branch follows, or of `origin`. */
  remote: string;
  /** Absent if a commit is checked out, as in most CI systems. */
  branch?: string | undefined;
  commit?: string | undefined;
}

/** Returns the checkout that contains a folder; undefined if there is none, or it has no remote. */
export async function readCheckout(folder: string): Promise<Checkout | undefined> {
  const git = async (...args: string[]): Promise<string | undefined> => {
    try {
      const { stdout } = await run('git', args, { cwd: folder, encoding: 'utf8' });
      return stdout.trim() === '' ? undefined : stdout.trim();
    } catch {
      // git is not installed, the folder is not a checkout, or the checkout lacks the requested value.
      return undefined;
    }
  };
  const [head, commit] = await Promise.all([
    // Not --short, which keeps `heads/` where a tag has the same name.
    git('symbolic-ref', '--quiet', 'HEAD'),
    git('rev-parse', '--verify', '--quiet', 'HEAD'),
  ]);
  const branch = head?.replace(/^refs\/heads\//, '');
  const ofBranch = branch === undefined ? undefined : await git('config', '--get', `branch.${branch}.remote`);
  // A branch can follow one of this checkout, or an address without a name.
  const named = ofBranch === undefined ? undefined : await git('remote', 'get-url', '--', ofBranch);
  const remote = named ?? (await git('remote', 'get-url', 'origin'));
  return remote === undefined ? undefined : { remote, branch, commit };
}

/**
 * Returns the part of a repository's addresses that identifies it: host and path, in lower case, so that `git@host:a/b.git` and
 * `https://user@host/a/b` are the same.
 */
export function repositoryKey(address: string): string {
  const scp = /^(?:[^@/:]+@)?([^/:[\]]+):(?!\/\/)(.+)$/.exec(address);
  const [host, path] = scp ? [scp[1] ?? '', scp[2] ?? ''] : hostAndPath(address);
  const plain = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
  return azureKey(`${host}/${plain}`.toLowerCase());
}

function hostAndPath(address: string): [string, string] {
  if (!URL.canParse(address)) return ['', address];
  const { protocol, hostname, host, pathname } = new URL(address);
  // The port of SSH differs from that of the web address.
  return [protocol === 'ssh:' ? hostname : host, safeDecode(pathname)];
}

function safeDecode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Azure DevOps: `ssh.dev.azure.com:v3/ORG/PROJECT/REPO` is `dev.azure.com/ORG/PROJECT/_git/REPO`. */
function azureKey(key: string): string {
  const ssh = /^(?:ssh\.)?(dev\.azure\.com)\/v3\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(key);
  return ssh ? `${ssh[1] ?? ''}/${ssh[2] ?? ''}/${ssh[3] ?? ''}/_git/${ssh[4] ?? ''}` : key;
}
