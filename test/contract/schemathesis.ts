// Runs Schemathesis with the OpenAPI document against the local cluster's API, as a user with a separate group: there
// must be no 5xx, and no undeclared status or response. Exits with 1 if it finds something.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCAL_FOLDER } from '../support/paths.ts';
import { Problem } from '../support/problem.ts';
import { runMain } from '../support/progress.ts';
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

/** Ends the user's token; the contract test covers it. */
const logout = 'POST /api/user/logout';
/**
 * Operations that end what other operations need. Schemathesis puts IDs from responses into requests, so that it would
 * also end its own session.
 */
const ending = [
  'POST /api/group/{groupID}/leave',
  'DELETE /api/group/{groupID}',
  'DELETE /api/repository/{repoID}',
  'DELETE /api/user/sessions/{sessionID}',
];
/** Operations that create expensive objects, or wait for Git hosts. */
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
      // Nobody would delete users that it registered.
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
    // Separate processes with one thread each, because Python's parser is not thread-safe.
    const found = await Promise.all(passes.map((pass) => runPass(program, harness, pass)));
    if (found.includes(true)) throw new Problem('Schemathesis found what is not as it should be; it is above.');
  } finally {
    await harness.remove();
  }
});

function operation(name: string, setting: string): string[] {
  return ['[[operations]]', `include-name = "${name}"`, setting];
}

/** Runs Schemathesis, and prints its output when it ends. @returns whether it found something */
async function runPass(program: string, { connection, client }: Harness, pass: Pass): Promise<boolean> {
  const { name, config, select, seconds } = pass;
  const file = join(LOCAL_FOLDER, `schemathesis-${name.replace(/\W+/g, '-')}.toml`);
  // Python uses the system's resolver, which may not resolve *.localhost. The token is in a file, not in the arguments.
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
    cwd: LOCAL_FOLDER,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: (seconds + 60) * 1000,
  });
  const output: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.push(text));
  const [code] = (await once(child, 'close')) as [number | null];
  const text = output.join('');
  console.log(`== ${name}\n${text}`);
  const count = (what: string) => new RegExp(`^  ${what}: (\\d+)`, 'm').exec(text)?.[1];
  // An operation that was not tested in time counts as a failure.
  return code !== 0 || count('Tested') === undefined || count('Tested') !== count('Selected');
}
