// Schemathesis over the OpenAPI document against the API of the local cluster, as a user with a group of their own: no
// 5xx, no status and no answer that is not declared. Ends with 1 when it finds something.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localFolder } from '../cluster/paths.ts';
import { Problem } from '../cluster/problem.ts';
import { runMain } from '../cluster/progress.ts';
import { startHarness, type Harness } from '../end-to-end/harness.ts';
import { schemathesisProgram } from './schemathesis-program.ts';

const seed = 20_261_121;
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

/** What ends the user's token; the contract test has it. */
const logout = 'POST /api/user/logout';
/** What takes away what the other operations are asked about. */
const ending = ['POST /api/group/{groupID}/leave', 'DELETE /api/group/{groupID}', 'DELETE /api/repository/{repoID}'];
/** What makes something that costs the cluster, or waits for Git hosts. */
const few = ['POST /api/groups', 'POST /api/group/{groupID}', 'POST /api/repository/{repoID}/spawn'];

interface Pass {
  name: string;
  config: string[];
  select: string[];
  seconds: number;
}

await runMain(async () => {
  const program = await schemathesisProgram();
  const harness = await startHarness('fuzz');
  try {
    const repository = await harness.addRepository('shop', await harness.push('shop', 'main'));
    const environment = await harness.spawn(repository, 'main', { build: false });
    await harness.client.waitForEnvironment(environment, ({ status }) => status === 'created', 60);
    const config = [
      '[parameters]',
      `"path.groupID" = "${harness.group}"`,
      `"path.repoID" = "${repository}"`,
      `"path.environmentID" = "${environment}"`,
      ...few.flatMap((name) => operation(name, 'generation.max-examples = 5')),
      // Users that it registered nobody would take away.
      ...operation('POST /api/user/register', 'generation.mode = "negative"'),
    ];
    const kept = [logout, ...ending].flatMap((name) => ['--exclude-name', name]);
    const tags = (option: string) => ['repository', 'environment'].flatMap((tag) => [`--${option}-tag`, tag]);
    const passes: Pass[] = [
      { name: 'repositories and environments', config, select: [...tags('include'), ...kept], seconds: 70 },
      { name: 'everything else', config, select: [...tags('exclude'), ...kept], seconds: 70 },
      {
        name: "what is nobody's",
        config: [],
        select: ending.flatMap((name) => ['--include-name', name]),
        seconds: 30,
      },
    ];
    // Processes, each with one thread: Python's own parser is not safe in several.
    const found = await Promise.all(passes.map((pass) => runPass(program, harness, pass)));
    if (found.includes(true)) throw new Problem('Schemathesis found what is not as it should be; it is above.');
  } finally {
    await harness.remove();
  }
});

function operation(name: string, setting: string): string[] {
  return ['[[operations]]', `include-name = "${name}"`, setting];
}

/** Runs Schemathesis, and prints what it said when it ends. @returns whether it found something */
async function runPass(program: string, { connection, client }: Harness, pass: Pass): Promise<boolean> {
  const { name, config, select, seconds } = pass;
  const file = join(localFolder, `schemathesis-${name.replace(/\W+/g, '-')}.toml`);
  // Python asks the system's resolver, which may not know *.localhost. The token is in a file, not in the arguments.
  const headers = [
    '[headers]',
    `Host = "${new URL(connection.apiUrl).host}"`,
    `X-SERVICE-TOKEN = "${client.token ?? ''}"`,
  ];
  writeFileSync(file, `${[...headers, ...config].join('\n')}\n`, { mode: 0o600 });
  const { ingressUrl } = connection;
  const options = [
    ...['--url', ingressUrl, '--checks', checks.join(','), '--seed', String(seed), '--max-time', String(seconds)],
    ...['--phases', 'coverage,fuzzing', '--warnings', 'off', '--no-color', ...select],
  ];
  const args = ['--config-file', file, 'run', new URL('/api/openapi.json', ingressUrl).href, ...options];
  const child = spawn(program, args, {
    cwd: localFolder,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: (seconds + 60) * 1000,
  });
  const output: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
  const [code] = (await once(child, 'close')) as [number | null];
  const text = output.join('');
  console.log(`== ${name}\n${text}`);
  const count = (what: string) => new RegExp(`^  ${what}: (\\d+)`, 'm').exec(text)?.[1];
  // One that the time was too short for was not looked at.
  return code !== 0 || count('Tested') === undefined || count('Tested') !== count('Selected');
}
