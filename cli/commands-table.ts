import type { Run } from './session.ts';

type Option = readonly [flags: string, description: string, choices?: readonly string[]];

/** A command that can run. Its code is loaded when it runs. */
export interface Leaf {
  /** Name and arguments, in commander's notation. */
  usage: string;
  summary: string;
  options?: readonly Option[];
  /** Why it needs the server; the plugin of kubectl has only commands without this. */
  needsServer?: string;
  /** What is different in the plugin. */
  inPlugin?: Pick<Leaf, 'summary' | 'options'>;
  load: () => Promise<Run>;
}

/** A noun with its verbs. */
export interface Noun {
  name: string;
  summary: string;
  verbs: readonly Leaf[];
}

const repo: Option = ['-r, --repo <id>', 'repository, such as acme.shop; by default that of the git checkout'];
const group: Option = ['-g, --group <id>', 'group'];
const overridden: Option = ['-e, --env [id]', 'in this environment alone; by default that of the checked-out branch'];
const waiting: readonly Option[] = [
  ['-w, --wait', 'wait until the build has ended, and fail if it fails'],
  ['--timeout <duration>', 'how long to wait; then exit with 8 (default: 30m)'],
];
const yes: Option = ['-y, --yes', 'do not ask at a terminal'];
const ttl: Option = ['--ttl <duration>', 'time to live, such as 8h or 3d; 0 for none'];
const watch: Option = ['--watch', 'print each change until interrupted'];

const serviceLog: readonly Option[] = [
  ['-s, --service <name>', 'of this running service'],
  ['--tail <lines>', 'only the last lines'],
];

const pod: Option = ['--pod <name>', 'a pod of the service; by default a ready one'];

const noTerminal: Option = ['-T, --no-tty', 'without a terminal, as in a pipe'];
const runCommand = 'run a command in a container of a service, or a shell; write -- before the command';

const resultsOfTests = 'the server reads the results from the tester';
const tokensOfAccounts = 'API tokens belong to accounts of the server';

const membersOfGroups = 'the server keeps the roles of members';

const groups = () => import('./commands/group.ts');
const env = () => import('./commands/env.ts');
const accesses = () => import('./commands/access.ts');
const repos = () => import('./commands/repo.ts');
const vars = () => import('./commands/vars.ts');
const tokens = () => import('./commands/token.ts');
const tests = () => import('./commands/test.ts');

export const NOUNS: readonly Noun[] = [
  {
    name: 'env',
    summary: 'environments',
    verbs: [
      {
        usage: 'list',
        summary: 'list environments of the checkout’s repository, of --repo, or of all',
        options: [
          repo,
          ['-a, --all', 'of all repositories, also in a git checkout'],
          ['--state <states>', 'only these: empty, created, building, built; separated by commas'],
          ['--health <healths>', 'only these: failed, degraded, progressing, healthy, inactive'],
          ['--text <text>', 'only those whose ref, name or commit contains the text'],
          watch,
        ],
        load: async () => (await env()).list,
      },
      {
        usage: 'get [env]',
        summary: 'show an environment with its services',
        options: [watch],
        load: async () => (await env()).get,
      },
      {
        usage: 'spawn [repo]',
        summary: 'create and build the environment of a ref, or build the existing one',
        options: [
          repo,
          ['-b, --branch <name>', 'branch; by default the one that is checked out'],
          ['--tag <name>', 'tag'],
          ['--pull-request <number>', 'pull request'],
          ['--name <name>', 'name for people'],
          ['--new', 'create another environment, even if the ref has one'],
          ['--no-build', 'create only'],
          ['--commit <sha>', 'with --wait: fail if another commit was built'],
          ttl,
          ...waiting,
        ],
        load: async () => (await env()).spawnEnvironment,
      },
      {
        usage: 'build [env]',
        summary: 'build the newest commit',
        options: waiting,
        load: async () => (await env()).build,
      },
      {
        usage: 'rebuild [env]',
        summary: 'delete the contents with their volumes, then build without cache',
        options: [yes, ...waiting],
        load: async () => (await env()).rebuild,
      },
      {
        usage: 'create [env]',
        summary: 'create and build the contents of an empty environment',
        options: [ttl, ['--no-build', 'create only'], ...waiting],
        load: async () => (await env()).create,
      },
      {
        usage: 'delete [env]',
        summary: 'delete the contents with their volumes',
        options: [
          yes,
          ...waiting.map(([flags, text]): Option => [
            flags,
            text.replace('the build has ended, and fail if it fails', 'they are gone'),
          ]),
        ],
        load: async () => (await env()).remove,
      },
      {
        usage: 'ttl [env] [duration]',
        summary: 'show the time to live, or set it, counted from now; 0 for none',
        load: async () => (await env()).ttl,
      },
      {
        usage: 'approve <env> <commit>',
        summary: 'approve a commit of a fork, which is then read and built',
        load: async () => (await env()).approve,
      },
      {
        usage: 'access [env] [mode]',
        summary: 'show who can open it, or set it: public, password (read from standard input), members, or default',
        needsServer: 'with kubectl, set spec.access of the Environment',
        load: async () => (await accesses()).access,
      },
      {
        usage: 'share [env]',
        summary: 'print a link that opens it without a login, for a time',
        options: [
          ['--for <duration>', 'how long it is valid (default: 1d)'],
          ['--path <path>', 'page that it opens; by default /'],
          ['--header', 'print a header for programs instead'],
        ],
        needsServer: 'the server makes links',
        load: async () => (await accesses()).share,
      },
      {
        usage: 'unshare [env]',
        summary: 'end links before their time',
        options: [
          ['--link <link>', 'end this link, given as its address, token or id'],
          ['--all', 'end all links; owners only'],
        ],
        needsServer: 'with kubectl, set spec.endedLinks of the Environment',
        load: async () => (await accesses()).unshare,
      },
      {
        usage: 'overrides [env]',
        summary: 'show what differs from the repository in an environment, or change its service file',
        options: [
          ['--file <file>', 'merge this service file over that of the repository; - reads standard input'],
          ['--clear', 'delete all overrides'],
        ],
        needsServer: 'with kubectl, edit spec.overrides of the Environment',
        load: async () => (await import('./commands/overrides.ts')).overrides,
      },
      {
        usage: 'sleep [env]',
        summary: 'stop the services until the environment wakes; the contents stay',
        load: async () => (await env()).sleep,
      },
      {
        usage: 'wake [env]',
        summary: 'start the services of a sleeping environment',
        options: [['--wait', 'wait until they run'], ...waiting.slice(1)],
        load: async () => (await env()).wake,
      },
      {
        usage: 'settings [args...]',
        summary: 'show its own settings, or change them: [ENV] NAME=VALUE…, such as sleep.afterSeconds=2h',
        needsServer: 'with kubectl, edit spec.sleep of the Environment',
        load: async () => (await import('./commands/env-settings.ts')).settings,
      },
      {
        usage: 'open [env]',
        summary: 'print the address, and open it if standard output is a terminal',
        options: [['--print', 'print only']],
        load: async () => (await env()).open,
      },
      {
        usage: 'wait [env]',
        summary: 'wait for a state; fail if it cannot be reached',
        options: [
          ['--for <state>', 'state; by default built', ['built', 'healthy', 'empty', 'deleted']],
          ...waiting.slice(1),
        ],
        load: async () => (await env()).wait,
      },
    ],
  },
  {
    name: 'repo',
    summary: 'repositories',
    verbs: [
      { usage: 'list', summary: 'list repositories', options: [group], load: async () => (await repos()).list },
      {
        usage: 'add [url]',
        summary: 'add a repository; by default the remote of the git checkout',
        options: [
          group,
          ['--name <name>', 'name; by default the last part of the address'],
          [
            '--type <type>',
            'type of the host; by default generic',
            ['generic', 'ownerhost', 'groupedhost', 'cloudorg', 'workspacehost'],
          ],
          ['--param <name=value...>', 'parameter of the type, such as owner=acme'],
          ['--secret-stdin', 'read the password or token from standard input'],
        ],
        needsServer: 'the server stores the credentials',
        load: async () => (await repos()).add,
      },
      {
        usage: 'delete [repo]',
        summary: 'delete a repository with its environments and their volumes',
        options: [yes],
        needsServer: 'with kubectl, delete the Repository',
        load: async () => (await repos()).remove,
      },
      { usage: 'sync [repo]', summary: 'read the refs now', load: async () => (await repos()).sync },
      {
        usage: 'settings [args...]',
        summary: 'show settings, or change them: [REPO] NAME=VALUE…, such as sync.newestTags=3',
        options: [
          [
            '--rules <file>',
            'replace the rules for automatic environments by those of a YAML file; - reads standard input',
          ],
          ['--show-secrets', 'print the secret of the webhook'],
        ],
        needsServer: 'with kubectl, edit the spec of the Repository',
        load: async () => (await repos()).settings,
      },
      {
        usage: 'rules [repo]',
        summary: 'show which refs the rules for automatic environments match, and why',
        options: [['--file <file>', 'try the rules of a YAML file, without saving them; - reads standard input']],
        needsServer: 'with kubectl, read status.sync of the Repository; spec.sync.dryRun tries rules',
        load: async () => (await import('./commands/rules.ts')).rules,
      },
    ],
  },
  {
    name: 'group',
    summary: 'groups',
    verbs: [
      { usage: 'list', summary: 'list groups', load: async () => (await groups()).list },
      {
        usage: 'create <name>',
        summary: 'create a group, and print its id',
        needsServer: 'the server makes you its owner',
        load: async () => (await groups()).create,
      },
      {
        usage: 'members <group>',
        summary: 'list the members of a group',
        needsServer: membersOfGroups,
        load: async () => (await groups()).members,
      },
      {
        usage: 'invite <group> <email>',
        summary: 'add a member, and print a link by which an account joins',
        options: [['--role <role>', 'what the member can do; by default member', ['member', 'owner']]],
        needsServer: membersOfGroups,
        load: async () => (await groups()).invite,
      },
      {
        usage: 'remove <group> <email>',
        summary: 'remove a member, or an invited address',
        needsServer: membersOfGroups,
        load: async () => (await groups()).removeMember,
      },
      {
        usage: 'delete <group>',
        summary: 'delete a group with its repositories and environments, and their volumes',
        options: [yes],
        needsServer: 'with kubectl, delete the Group',
        load: async () => (await groups()).remove,
      },
    ],
  },
  {
    name: 'vars',
    summary: 'variables',
    verbs: [
      {
        usage: 'list',
        summary: 'list variables',
        options: [
          repo,
          group,
          ['-e, --env [id]', 'those in effect in an environment; by default that of the checked-out branch'],
        ],
        load: async () => (await vars()).list,
      },
      {
        usage: 'set <names...>',
        summary: 'set variables: NAME=VALUE…, or NAME with its value on standard input',
        options: [
          repo,
          group,
          overridden,
          ['--secret', 'never show the value, and mask it in build logs'],
          ['--visibility <visibility>', 'when services get it', ['always', 'buildtime']],
        ],
        needsServer: 'the server stores the values in Secrets',
        load: async () => (await vars()).set,
      },
      {
        usage: 'unset <names...>',
        summary: 'delete variables',
        options: [repo, group, overridden],
        needsServer: 'the server stores the values in Secrets',
        load: async () => (await vars()).unset,
      },
    ],
  },
  {
    name: 'test',
    summary: 'tests of environments',
    verbs: [
      {
        usage: 'run [env]',
        summary: 'run the tests',
        options: [
          ['-w, --wait', 'wait until they have ended, and fail if one does not pass'],
          ['--timeout <duration>', 'how long to wait; then exit with 8 (default: 15m)'],
        ],
        needsServer: resultsOfTests,
        load: async () => (await tests()).run,
      },
      {
        usage: 'results [env]',
        summary: 'show the results',
        needsServer: resultsOfTests,
        load: async () => (await tests()).results,
      },
    ],
  },
  {
    name: 'token',
    summary: 'API tokens',
    verbs: [
      {
        usage: 'list',
        summary: 'list your API tokens',
        needsServer: tokensOfAccounts,
        load: async () => (await tokens()).list,
      },
      {
        usage: 'create <name>',
        summary: 'create an API token, and print it',
        options: [
          ['--expires <duration>', 'when it expires (default: 90d)'],
          ['--access <access>', 'what it can do', ['read', 'operate', 'administer']],
          ['--group <ids...>', 'restrict it to groups'],
          ['--repo <ids...>', 'restrict it to repositories'],
        ],
        needsServer: tokensOfAccounts,
        load: async () => (await tokens()).create,
      },
      {
        usage: 'delete <name>',
        summary: 'delete an API token',
        needsServer: tokensOfAccounts,
        load: async () => (await tokens()).remove,
      },
    ],
  },
];

export const COMMANDS: readonly Leaf[] = [
  {
    usage: 'logs [env]',
    summary: 'print the log of the last build, or of a service',
    options: [
      ['-f, --follow', 'follow it to its end; continues after a lost connection'],
      ['--build <number>', 'of this build'],
      ...serviceLog,
    ],
    inPlugin: { summary: 'print the log of a service', options: [['-f, --follow', 'follow it'], ...serviceLog] },
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  {
    usage: 'exec <env> <service> [command...]',
    summary: runCommand,
    options: [pod, noTerminal, ['-n, --no-stdin', 'without standard input']],
    // There -n is the namespace.
    inPlugin: { summary: runCommand, options: [pod, noTerminal, ['--no-stdin', 'without standard input']] },
    load: async () => (await import('./commands/exec.ts')).exec,
  },
  {
    usage: 'port-forward <env> <service> <ports...>',
    summary: 'forward local ports to a service, such as 15432:5432, until interrupted',
    options: [pod],
    load: async () => (await import('./commands/port-forward.ts')).portForward,
  },
  {
    usage: 'check <file>',
    summary: 'check a service file with the variables of the repository',
    options: [repo],
    needsServer: 'the server reads service files',
    load: async () => (await import('./commands/check.ts')).check,
  },
  {
    usage: 'login [url]',
    summary: 'sign in to a server',
    options: [
      ['--device', 'by a code that you enter in a browser anywhere; default without a desktop'],
      ['--email <email>', 'with a password; asks for it'],
      ['--password-stdin', 'read the password from standard input'],
      ['--with-token', 'read a token from standard input'],
    ],
    needsServer: 'with kubectl, your kubeconfig signs in',
    load: async () => (await import('./commands/login.ts')).login,
  },
  {
    usage: 'logout',
    summary: 'sign out: end the login, or forget the API token',
    needsServer: 'with kubectl, your kubeconfig signs in',
    load: async () => (await import('./commands/login.ts')).logout,
  },
  {
    usage: 'context [name]',
    summary: 'list the servers that you are signed in to, or choose one',
    needsServer: 'with kubectl, contexts are those of `kubectl config get-contexts`',
    load: async () => (await import('./commands/context.ts')).context,
  },
  {
    usage: 'api <method> <path>',
    summary: 'send a request to the REST API, such as GET groups',
    options: [
      ['-d, --data <json>', 'body; - reads standard input'],
      ['-F, --field <name=value...>', 'field of the body, such as gitRef.name=main'],
    ],
    needsServer: 'it sends requests to the REST API',
    load: async () => (await import('./commands/api.ts')).api,
  },
  {
    usage: 'mcp',
    summary: 'serve the Model Context Protocol on standard input and output, for assistants',
    options: [['--allow-writes', 'let it spawn and build environments']],
    needsServer: 'assistants use the REST API',
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
];
